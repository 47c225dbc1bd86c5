package site

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"os"
	"strings"
	"testing"

	"millrace.dev/buffer"
	own "millrace.dev/codec/multipart"
)

// newForms returns a rig that keeps small files in memory and others in a directory of its
// own.
func newForms(t *testing.T, l own.Limits, files own.FileSystem) (r *rig, dir string) {
	t.Helper()
	dir = t.TempDir()
	return newRig(t, func(o *Options) {
		o.Forms = own.FormOptions{Limits: l, Storage: own.Storage{Dir: dir, Threshold: 1000, FileSystem: files}}
	}), dir
}

// stdForm is a form with files, as the standard library writes it.
func stdForm(files ...string) (body []byte, contentType string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	_ = w.WriteField("text", "To the mill")
	for i, content := range files {
		f, _ := w.CreateFormFile("file", fmt.Sprintf("dir/%d.txt", i))
		_, _ = io.WriteString(f, content)
	}
	_ = w.Close()
	return b.Bytes(), w.FormDataContentType()
}

func TestUpload(t *testing.T) {
	t.Parallel()
	r, _ := newForms(t, own.Limits{}, nil)
	body, contentType := stdForm("", "small", strings.Repeat("x", 1<<20))
	for _, chunked := range []bool{false, true} {
		var in io.Reader = bytes.NewReader(body)
		if chunked {
			in = io.MultiReader(in) // of which nobody knows the length
		}
		a, said := r.do("POST", "/upload", in, "Content-Type", contentType)
		var got []uploaded
		if err := json.Unmarshal([]byte(said), &got); err != nil || a.StatusCode != 200 || a.Header.Get("Content-Type") != "application/json" {
			t.Fatalf("%s: %q %v", a.Status, said, err)
		}
		const octets = "application/octet-stream"
		want := []uploaded{{"text", "", "", 11}, {"file", "0.txt", octets, 0}, {"file", "1.txt", octets, 5}, {"file", "2.txt", octets, 1 << 20}}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if _, said := r.do("POST", "/upload", strings.NewReader("--b--"), "Content-Type", "multipart/form-data; boundary=b"); said != "[]\n" {
		t.Errorf("an empty form: %q", said)
	}
}

func TestForm(t *testing.T) {
	t.Parallel()
	r, _ := newForms(t, own.Limits{}, nil)
	for in, want := range map[string]string{
		"":                  "[]",
		"a=1&b=x+y&a=%26":   `[["a","1"],["b","x y"],["a","\u0026"]]`,
		"a&=b&&%zz=%":       `[["a",""],["","b"],["%zz","%"]]`,
		"a;b=1":             `[["a;b","1"]]`,
		"%00=%ff&a=\r\n":    `[["\u0000","` + "\ufffd" + `"],["a","\r\n"]]`,
		"a=%E2%82%AC%E2%82": `[["a","€` + "\ufffd" + `"]]`,
	} {
		a, said := r.do("POST", "/form", strings.NewReader(in), "Content-Type", "application/x-www-form-urlencoded")
		if a.StatusCode != 200 || said != want+"\n" {
			t.Errorf("%q: %s %s, want %s", in, a.Status, said, want)
		}
	}
}

func TestFormsAreRefused(t *testing.T) {
	t.Parallel()
	r, _ := newForms(t, own.Limits{MaxParts: 3, MaxFile: 2000, MaxTotal: 10_000}, nil)
	type refused struct {
		path, contentType, body string
		status                  int
	}
	const multi = "multipart/form-data; boundary=b"
	rows := []refused{
		{"/upload", "text/plain", "x", 415},
		{"/upload", "application/x-www-form-urlencoded", "a=b", 415},
		{"/upload", "", "x", 415},
		{"/upload", "multipart/form-data", "x", 400},
		{"/upload", multi, "", 400},
		{"/upload", multi, "--b\r\n", 400},
		{"/upload", multi, "--b\n", 400},
		{"/form", "text/plain", "a=b", 415},
		{"/form", multi, "--b--", 415},
		{"/form", "application/x-www-form-urlencoded", "a&b&c&d", 413},
		{"/form", "application/x-www-form-urlencoded", strings.Repeat("x", 10_001), 413},
	}
	for _, files := range [][]string{{"1", "2", "3"}, {strings.Repeat("x", 2001)}, {strings.Repeat("x", 1_000_000)}} {
		body, contentType := stdForm(files...)
		rows = append(rows, refused{"/upload", contentType, string(body), 413})
	}
	for _, c := range rows {
		a, said := r.do("POST", c.path, strings.NewReader(c.body), "Content-Type", c.contentType)
		if a.StatusCode != c.status || !strings.Contains(said, ": ") {
			t.Errorf("%s %q %.30q: %s %q, want %d", c.path, c.contentType, c.body, a.Status, said, c.status)
		}
	}
	for _, path := range []string{"/upload", "/form"} {
		a, page := r.do("GET", path, nil)
		if a.StatusCode != 200 || !strings.Contains(page, `action="/upload"`) || !strings.Contains(a.Header.Get("Content-Security-Policy"), "form-action 'self'") {
			t.Errorf("%s: %s", path, a.Status)
		}
		for method, status := range map[string]int{"DELETE": 405, "PUT": 405, "OPTIONS": 204} {
			if a, _ := r.do(method, path, nil); a.StatusCode != status || !strings.Contains(a.Header.Get("Allow"), "POST") {
				t.Errorf("%s %s: %s", method, path, a.Status)
			}
		}
	}
}

// A client that goes in the middle of a file leaves nothing behind.
func TestUploadAborted(t *testing.T) {
	t.Parallel()
	files := &countedFiles{}
	r, dir := newForms(t, own.Limits{}, files)
	body, contentType := stdForm(strings.Repeat("x", 1<<20))
	c, _ := r.dial()
	fmt.Fprintf(c, "POST /upload HTTP/1.1\r\nHost: h\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", contentType, len(body))
	_, err := c.Write(body[:500_000])
	r.must(err)
	r.eventually("the file has begun", func() bool { return files.made.Load() == 1 })
	r.must(c.Close())
	r.eventually("the file is gone", func() bool { return files.open.Load() == 0 })
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

// A full disk is the server's trouble, and said as such.
func TestUploadToAFullDisk(t *testing.T) {
	t.Parallel()
	files := &countedFiles{full: true}
	r, _ := newForms(t, own.Limits{}, files)
	body, contentType := stdForm(strings.Repeat("x", 1<<20))
	a, said := r.do("POST", "/upload", bytes.NewReader(body), "Content-Type", contentType)
	if a.StatusCode != 507 || said != "Insufficient Storage: the form could not be stored\n" {
		t.Errorf("%s %q", a.Status, said)
	}
	r.eventually("the file is gone", func() bool { return files.open.Load() == 0 })
}

// What can't be put into words any more is not answered.
func TestUploadTooSlow(t *testing.T) {
	t.Parallel()
	r, ch := onChannel(t)
	r.must(ch.WriteInbound(buffer.CopyString("POST /upload HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 100\r\n\r\n--b")))
	ch.Advance(2 * patience)
	if got := sent(ch); !strings.HasPrefix(got, "HTTP/1.1 408 ") {
		t.Errorf("%q", got)
	}
	ch.Finish()
}
