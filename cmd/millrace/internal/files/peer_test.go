package files

import (
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"millrace.dev/codec/http"
)

// TestAgainstServeContent holds the answers against those of net/http, but for what is
// decided otherwise here: net/http answers a Range with another unit or a broken one with
// 416, where RFC 9110 section 14.2 has it ignored, gives ranges to HEAD, and sends the last
// bytes of an empty file as "bytes 0--1/0".
func TestAgainstServeContent(t *testing.T) {
	t.Parallel()
	tr, dir := tree(t)
	tag := get(tr, "/files/sample.txt").field(http.FieldETag)
	for _, name := range []string{"sample.txt", "empty.txt"} {
		tag := tag
		if name == "empty.txt" {
			tag = get(tr, "/files/empty.txt").field(http.FieldETag)
		}
		for _, match := range []string{"", "*", tag, "W/" + tag, `"x"`, `"x", ` + tag} {
			for _, condition := range []string{"If-Match", "If-None-Match", "If-Range"} {
				for _, since := range []string{"", before, same, after} {
					for _, ranges := range []string{"", "bytes=0-0", "bytes=30-", "bytes=-4", "bytes=36-", "bytes=0-1,4-5"} {
						if ranges == "bytes=-4" && name == "empty.txt" {
							continue
						}
						fields := []string{}
						for _, f := range [][2]string{{condition, match}, {"If-Modified-Since", since}, {"Range", ranges}} {
							if f[1] != "" {
								fields = append(fields, f[0], f[1])
							}
						}
						compare(t, tr, dir, name, tag, fields)
					}
				}
			}
		}
	}
}

func compare(t *testing.T, tr *Tree, dir, name, tag string, fields []string) {
	t.Helper()
	a := get(tr, Prefix+name, fields...)
	body := content(t, a)

	f, err := os.Open(filepath.Join(dir, name))
	must(t, err)
	defer f.Close()
	r := httptest.NewRequest("GET", "/"+name, nil)
	for i := 0; i < len(fields); i += 2 {
		r.Header.Add(fields[i], fields[i+1])
	}
	w := httptest.NewRecorder()
	w.Header().Set("ETag", tag)
	nethttp.ServeContent(w, r, name, changed, f)
	if a.Status != w.Code {
		t.Errorf("%s %q: %d, net/http %d", name, fields, a.Status, w.Code)
		return
	}
	if got, want := a.field(http.FieldContentRange), w.Header().Get("Content-Range"); got != want {
		t.Errorf("%s %q: Content-Range %q, net/http %q", name, fields, got, want)
	}
	if a.Status != 200 && (a.Status != 206 || a.field(http.FieldContentRange) == "") {
		return // the words, and the boundary of a multipart, differ
	}
	if body != w.Body.String() {
		t.Errorf("%s %q: content %q, net/http %q", name, fields, body, w.Body.String())
	}
	if got, want := strconv.FormatInt(a.Length, 10), w.Header().Get("Content-Length"); got != want {
		t.Errorf("%s %q: Content-Length %s, net/http %s", name, fields, got, want)
	}
}
