package multipart

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"millrace.dev/buffer"
)

type encoded struct{ name, filename, contentType, content string }

// encode encodes parts, those without a content type as fields, and checks the sizes.
func encode(t *testing.T, e *Encoder, parts []encoded) []byte {
	t.Helper()
	b := buffer.New(0)
	defer b.Close()
	size := e.EndSize()
	for _, p := range parts {
		var err error
		if p.contentType == "" {
			size += e.FieldSize(p.name, p.content)
			err = e.Field(b, p.name, p.content)
		} else {
			size += e.FileSize(p.name, p.filename, p.contentType, int64(len(p.content)))
			err = e.BeginFile(b, p.name, p.filename, p.contentType)
			b.WriteString(p.content)
		}
		if err != nil {
			t.Fatal(p.name, err)
		}
	}
	if err := e.End(b); err != nil {
		t.Fatal(err)
	}
	if int64(b.Len()) != size {
		t.Errorf("%d bytes, foretold %d", b.Len(), size)
	}
	return bytes.Clone(b.Bytes())
}

var someParts = []encoded{
	{"a", "", "", "1"},
	{"", "", "", ""},
	{"f", "x.txt", "text/plain", "hello\r\n--"},
	{"f", "", "application/octet-stream", ""},
	{"näme €", `C:\x y.txt`, "text/plain; charset=utf-8", strings.Repeat("\r\n", 1000)},
	{"a", "", "", "\r\n"},
}

func TestEncoderRoundTrip(t *testing.T) {
	t.Parallel()
	odd, err := NewEncoderBoundary("a b(c)'")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []*Encoder{NewEncoder(), odd} {
		body := encode(t, e, someParts)
		form, err := ReadForm(bytes.NewReader(body), e.ContentType(), FormOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range someParts {
			got := form.Entries[i]
			content, filename := got.Value, ""
			if got.File != nil {
				b, _ := io.ReadAll(got.File.Open())
				content, filename = string(b), got.File.FileName
			}
			if (encoded{got.Name, filename, got.ContentType, content}) != p {
				t.Errorf("%+v, want %+v", got, p)
			}
		}
		form.Close()
		checkStd(t, e.ContentType(), body)
	}
}

// checkStd checks that the standard library reads the same.
func checkStd(t *testing.T, contentType string, body []byte) {
	t.Helper()
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		t.Fatal(err)
	}
	r := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for _, want := range someParts {
		p, err := r.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(p)
		if err != nil || string(content) != want.content || p.FormName() != want.name || p.Header.Get("Content-Type") != want.contentType ||
			p.FileName() != want.filename && want.filename != `C:\x y.txt` {
			t.Errorf("%q %q %v, want %+v", p.Header, content, err, want)
		}
	}
	if _, err := r.NextPart(); err != io.EOF {
		t.Error(err)
	}
}

// What the standard library writes is read.
func TestDecodesTheStandardLibrarysWriter(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range someParts {
		if p.contentType == "" {
			_ = w.WriteField(p.name, p.content)
			continue
		}
		f, err := w.CreateFormFile(p.name, p.filename)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(f, p.content)
	}
	w.Close()
	r, err := http.NewRequest("POST", "/", &b)
	if err != nil {
		t.Fatal(err)
	}
	form, err := ReadForm(r.Body, w.FormDataContentType(), FormOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer form.Close()
	for i, p := range someParts {
		if e := form.Entries[i]; e.Name != p.name || e.File != nil && e.File.FileName != p.filename {
			t.Errorf("%+v, want %+v", e, p)
		}
	}
}

func TestEncoderEscapes(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ name, filename, want string }{
		{`a"b`, `c"d%22`, `name="a%22b"; filename="c%22d%22"`},
		{"a\nb\rc\r\nd", "a\nb\rc\r\nd", `name="a%0D%0Ab%0D%0Ac%0D%0Ad"; filename="a%0Ab%0Dc%0D%0Ad"`},
		{`a\b`, `C:\d e;f`, `name="a\b"; filename="C:\d e;f"`},
		{"\t", "ä", "name=\"\t\"; filename=\"ä\""},
	} {
		body := encode(t, NewEncoder(), []encoded{{r.name, r.filename, "a/b", "x"}})
		if line := strings.Split(string(body), "\r\n")[1]; line != "Content-Disposition: form-data; "+r.want {
			t.Errorf("%q, want %q", line, r.want)
		}
	}
}

// What can't be sent is refused, before anything of it is written.
func TestEncoderRefuses(t *testing.T) {
	t.Parallel()
	e := NewEncoder()
	b := buffer.New(0)
	defer b.Close()
	for _, bad := range []string{"\x00", "a\x7f", "\x1b", `a\`, `a\\b`} {
		if err := e.Field(b, bad, ""); err != ErrName {
			t.Errorf("%q: %v", bad, err)
		}
		if err := e.BeginFile(b, "a", bad, ""); err != ErrName {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := e.BeginFile(b, "a", "b", "text/plain\r\nX: y"); err != ErrName {
		t.Error(err)
	}
	if b.Len() != 0 {
		t.Errorf("%q was written", b.Bytes())
	}
	if err := e.End(b); err != nil {
		t.Error(err)
	}
	if e.End(b) != ErrFinished || e.Field(b, "a", "b") != ErrFinished {
		t.Error("used after the end")
	}
	for _, boundary := range []string{"", "a\r\n", strings.Repeat("x", 71), "a "} {
		if _, err := NewEncoderBoundary(boundary); err != ErrBoundary {
			t.Errorf("%q: %v", boundary, err)
		}
	}
	if one, other := NewEncoder(), NewEncoder(); one.ContentType() == other.ContentType() {
		t.Error("a boundary came twice")
	}
}
