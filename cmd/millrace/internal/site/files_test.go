package site

import (
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"testing"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	large := strings.Repeat("0123456789abcdef", 1<<17) // 2 MiB
	r.write("large.bin", large)
	r.write("empty.txt", "")
	r.write("deep/index.html", "<p>index")
	a, body := r.do("GET", "/files/large.bin", nil)
	tag := a.Header.Get("ETag")
	if a.StatusCode != 200 || body != large || tag == "" || a.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Fatalf("%s, %d bytes, %v", a.Status, len(body), a.Header)
	}
	for _, c := range []struct {
		method, path string
		fields       []string
		status       int
		body         string
		length       int64
	}{
		{"HEAD", "/files/large.bin", nil, 200, "", int64(len(large))},
		{"HEAD", "/files/empty.txt", nil, 200, "", 0},
		{"GET", "/files/empty.txt", nil, 200, "", 0},
		{"GET", "/files/deep/", nil, 200, "<p>index", 8},
		{"GET", "/files/deep", nil, 301, "301 Moved Permanently\n", 22},
		{"GET", "/files/none", nil, 404, "404 Not Found\n", 14},
		{"GET", "/files/%2e%2e/x", nil, 404, "404 Not Found\n", 14},
		{"GET", "/files/large.bin", []string{"Range", "bytes=16-19"}, 206, "0123", 4},
		{"GET", "/files/large.bin", []string{"Range", "bytes=-3"}, 206, "def", 3},
		{"GET", "/files/large.bin", []string{"Range", "bytes=16-19", "If-Range", tag}, 206, "0123", 4},
		{"GET", "/files/empty.txt", []string{"Range", "bytes=0-1", "If-Range", `"x"`}, 200, "", 0},
		{"GET", "/files/large.bin", []string{"Range", "bytes=2097152-"}, 416, "416 Requested Range Not Satisfiable\n", 0},
		{"GET", "/files/large.bin", []string{"If-None-Match", tag}, 304, "", 0},
		{"GET", "/files/large.bin", []string{"If-Modified-Since", "Sun, 01 Mar 2026 12:00:00 GMT"}, 304, "", 0},
		{"GET", "/files/large.bin", []string{"If-Match", `"x"`}, 412, "412 Precondition Failed\n", 24},
		{"GET", "/files/large.bin", []string{"If-Unmodified-Since", "Sun, 01 Mar 2026 11:59:59 GMT"}, 412, "412 Precondition Failed\n", 24},
	} {
		a, body := r.do(c.method, c.path, nil, c.fields...)
		if a.StatusCode != c.status || body != c.body && c.status != 416 {
			t.Errorf("%s %s %q: %s, %.40q", c.method, c.path, c.fields, a.Status, body)
		}
		if c.status != 304 && c.status != 416 && a.ContentLength != c.length {
			t.Errorf("%s %s %q: length %d, want %d", c.method, c.path, c.fields, a.ContentLength, c.length)
		}
		if a.Close {
			t.Errorf("%s %s %q: the connection isn't kept", c.method, c.path, c.fields)
		}
	}
}

func TestFileParts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("f.txt", "0123456789")
	a, body := r.do("GET", "/files/f.txt", nil, "Range", "bytes=0-1,4-5,-1")
	_, params, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	r.must(err)
	if a.StatusCode != 206 || a.ContentLength != int64(len(body)) {
		t.Fatalf("%s, length %d", a.Status, a.ContentLength)
	}
	parts := multipart.NewReader(strings.NewReader(body), params["boundary"])
	for _, want := range []string{"01", "45", "9"} {
		p, err := parts.NextPart()
		r.must(err)
		got, err := io.ReadAll(p)
		r.must(err)
		if string(got) != want {
			t.Errorf("part %q, want %q", got, want)
		}
	}
}

// hold keeps all workers busy until the returned function is called.
func (r *rig) hold() (release func()) {
	gate := make(chan struct{})
	for range openingAtOnce {
		if !r.site.opening.Do(func() { <-gate }) {
			r.Fatal("a worker was refused")
		}
	}
	return func() { close(gate) }
}

// When the disk can't keep up, who asks for a file is told so, and everybody else is served.
func TestFilesWhenWorkersAreBusy(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("f.txt", "x")
	release := r.hold()
	for range openingQueued {
		if !r.site.opening.Do(func() {}) {
			t.Fatal("the queue is shorter than it should be")
		}
	}
	if a, _ := r.do("GET", "/files/f.txt", nil); a.StatusCode != 503 || a.Header.Get("Retry-After") == "" {
		t.Errorf("%s, %v", a.Status, a.Header)
	}
	if a, _ := r.do("GET", "/plaintext", nil); a.StatusCode != 200 {
		t.Errorf("/plaintext: %s", a.Status)
	}
	release()
	r.eventually("files are served again", func() bool {
		a, _ := r.do("GET", "/files/f.txt", nil)
		return a.StatusCode == 200
	})
}

// A client that goes while its file is being opened leaves nothing behind.
func TestFilesClientGone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("f.txt", "x")
	release := r.hold()
	c, _ := r.dial()
	_, err := io.WriteString(c, "GET /files/f.txt HTTP/1.1\r\nHost: h\r\nRange: bytes=0-0\r\n\r\n")
	r.must(err)
	r.eventually("the request has come", func() bool { return r.server.Stats().Requests == 1 })
	r.must(c.Close())
	r.eventually("the connection is gone or waits for its answer", func() bool { return r.server.Connections() <= 1 })
	release()
	r.eventually("nothing is open", func() bool { return r.server.Connections() == 0 })
}

// Answers leave in order although files take longer than the rest.
func TestFilesPipelined(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("f.txt", "from the disk")
	c, in := r.dial()
	_, err := io.WriteString(c, "GET /files/f.txt HTTP/1.1\r\nHost: h\r\n\r\n"+
		"GET /plaintext HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
	r.must(err)
	all, err := io.ReadAll(in)
	r.must(err)
	file, plain := strings.Index(string(all), "from the disk"), strings.Index(string(all), "Hello, World!")
	if file < 0 || plain < file {
		t.Errorf("%q", all)
	}
}
