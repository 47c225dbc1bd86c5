package multipart

import (
	"bytes"
	"io"
	"mime/multipart"
	"strings"
	"testing"

	"millrace.dev/buffer"
)

// FuzzDecoder feeds anything, in pieces of two sizes, which must give the same, and compares
// what is accepted with mime/multipart.
func FuzzDecoder(f *testing.F) {
	for _, s := range []string{
		"--b--", body("hello"), lines("x", "--b \t", field("a"), "\r\n--", "--b", "--b--", "y"),
		lines("--b", "Content-Disposition: form-data; name=\"a\\\"\"; filename*=utf-8''%41", "X: y", " z", "", "1", "--b--"),
		lines("--b", field("f")+"Content-Type: multipart/mixed; boundary=c", "", "--c", "Content-Disposition: file; filename=x", "", "1", "--c--", "--b--"),
		"--b\n" + field("a") + "\n1\n--b--",
		lines("--b", field("f")+"Content-Type: multipart/mixed; boundary=c", "", "\n", "--b"),
	} {
		f.Add(s, uint8(3))
	}
	f.Fuzz(func(t *testing.T, in string, size uint8) {
		said, err := decode("b", Limits{}, in)
		again, errAgain := decode("b", Limits{}, pieces(in, int(size)+1)...)
		if said != again || err != errAgain {
			t.Fatalf("pieces make a difference: %s %v, %s %v", said, err, again, errAgain)
		}
		if err == nil {
			compareStd(t, in)
		}
	})
}

// compareStd compares what a body is decoded to with what mime/multipart makes of it, where
// that knows all that is in it.
func compareStd(t *testing.T, in string) {
	got := &collected{}
	d, err := NewDecoder("b", got, Limits{MaxDepth: -1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Write([]byte(in)); err != nil {
		return // nested with an error that only shows without nesting: none of ours to compare
	}
	std := multipart.NewReader(strings.NewReader(in), "b")
	for i := 0; ; {
		p, err := std.NextRawPart()
		if err == io.EOF {
			if i != len(got.parts) {
				t.Fatalf("%d parts of %q, the standard library has %d", len(got.parts), in, i)
			}
			return
		}
		if err != nil {
			return // it is stricter: with names of header fields, empty parts, and many of them
		}
		content, err := io.ReadAll(p)
		if err != nil {
			return
		}
		v := p.Header.Get("Content-Disposition")
		var s disposition
		if s.parse([]byte(v)) != nil || !strings.EqualFold(string(s.kind), "form-data") || s.name == nil {
			continue
		}
		if i == len(got.parts) || got.parts[i].content != string(content) || got.parts[i].name != string(s.name) {
			t.Fatalf("part %d of %q: %+v, the standard library has %q", i, in, got.parts, content)
		}
		i++
	}
}

// collected keeps parts.
type collected struct {
	parts   []struct{ name, content string }
	content []byte
}

func (c *collected) BeginPart(p *Part) error {
	c.parts = append(c.parts, struct{ name, content string }{name: string(p.Name)})
	c.content = c.content[:0]
	return nil
}

func (c *collected) PartData(data []byte) error {
	c.content = append(c.content, data...)
	return nil
}

func (c *collected) EndPart() error {
	c.parts[len(c.parts)-1].content = string(c.content)
	return nil
}

// FuzzEncoder encodes anything that may be sent, which has to come back.
func FuzzEncoder(f *testing.F) {
	f.Add("a", "b.txt", "text/plain", "hello")
	f.Add(`"`, "C:\\x", "a/b", "\r\n--millrace-")
	f.Fuzz(func(t *testing.T, name, filename, contentType, content string) {
		e := NewEncoder()
		b := buffer.New(0)
		defer b.Close()
		if e.BeginFile(b, name, filename, contentType) != nil {
			return
		}
		b.WriteString(content)
		if err := e.End(b); err != nil {
			t.Fatal(err)
		}
		body := bytes.Clone(b.Bytes())
		form, err := ReadForm(bytes.NewReader(body), e.ContentType(), FormOptions{Limits: Limits{MaxDepth: -1}})
		if err == ErrHeaderTooLarge || err == ErrNameTooLong {
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		defer form.Close()
		entry := form.Entries[0]
		got, _ := io.ReadAll(entry.File.Open())
		if entry.Name != escapeName(name, true) || entry.File.FileName != escapeName(filename, false) || string(got) != content {
			t.Fatalf("%+v of %q", entry, body)
		}
	})
}
