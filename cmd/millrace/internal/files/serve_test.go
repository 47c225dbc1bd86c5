package files

import (
	"html/template"
	"io"
	"mime"
	"mime/multipart"
	"strconv"
	"strings"
	"testing"
	"time"

	"millrace.dev/codec/http"
)

func TestAnswerStatus(t *testing.T) {
	t.Parallel()
	tr, _ := tree(t)
	for _, c := range []struct {
		path   string
		status int
	}{
		{"/files/sample.txt", 200},
		{"/files/empty.txt", 200},
		{"/files/", 200},
		{"/files/list/", 200},
		{"/files/page/", 200},
		{"/files/.well-known/info", 200},
		{"/files/list/" + oddLink, 200},
		{"/files/list", 301},
		{"/files/nothing", 404},
		{"/files/sample.txt/", 404},
		{"/files/sample.txt/x", 404},
		{"/files/list/.secret", 404},
		{"/files/.hidden/x", 404},
		{"/files/.hidden/", 404},
		{"/files/../files/sample.txt", 404},
		{"/files", 404},
		{"/other/sample.txt", 404},
	} {
		a := get(tr, c.path)
		if a.Status != c.status {
			t.Errorf("%s: %d, want %d", c.path, a.Status, c.status)
		}
		if got := content(t, a); int64(len(got)) != a.Length {
			t.Errorf("%s: %d bytes of content, %d announced", c.path, len(got), a.Length)
		}
	}
}

func TestAnswerWholeFile(t *testing.T) {
	t.Parallel()
	tr, _ := tree(t)
	a := get(tr, "/files/sample.txt")
	for f, want := range map[http.Field]string{
		http.FieldContentType:  "text/plain; charset=utf-8",
		http.FieldLastModified: same,
		http.FieldAcceptRanges: "bytes",
		http.FieldContentRange: "",
	} {
		if got := a.field(f); got != want {
			t.Errorf("%v: %q, want %q", f, got, want)
		}
	}
	if got := content(t, a); got != sample {
		t.Errorf("content %q", got)
	}
	if a.field(http.FieldETag) != get(tr, "/files/sample.txt").field(http.FieldETag) {
		t.Error("the entity tag of an unchanged file changes")
	}
}

func TestAnswerHead(t *testing.T) {
	t.Parallel()
	tr, _ := tree(t)
	for _, path := range []string{"/files/sample.txt", "/files/list/", "/files/nothing", "/files/list"} {
		a := tr.Answer(http.MethodHead, []byte(path), header("Range", "bytes=0-1"))
		b := get(tr, path)
		if a.Status != b.Status || a.Length != b.Length || len(a.Pieces) != 0 {
			t.Errorf("%s: HEAD says %d with %d bytes in %d pieces, GET %d with %d",
				path, a.Status, a.Length, len(a.Pieces), b.Status, b.Length)
		}
		b.Close()
	}
}

func TestAnswerOtherMethods(t *testing.T) {
	t.Parallel()
	tr, _ := tree(t)
	for method, status := range map[http.Method]int{
		http.MethodPost: 405, http.MethodPut: 405, http.MethodDelete: 405, "BREW": 405, http.MethodOptions: 204,
	} {
		a := tr.Answer(method, []byte("/files/sample.txt"), header())
		if a.Status != status || a.field(http.FieldAllow) != "GET, HEAD, OPTIONS" {
			t.Errorf("%s: %d, Allow %q", method, a.Status, a.field(http.FieldAllow))
		}
	}
}

func TestAnswerConditions(t *testing.T) {
	t.Parallel()
	tr, _ := tree(t)
	tag := get(tr, "/files/sample.txt").field(http.FieldETag)
	for _, c := range []struct {
		fields []string
		status int
	}{
		{[]string{"If-None-Match", tag}, 304},
		{[]string{"If-Modified-Since", same}, 304},
		{[]string{"If-Match", `"other"`}, 412},
		{[]string{"If-Unmodified-Since", before}, 412},
		{[]string{"Range", "bytes=1-2"}, 206},
		{[]string{"Range", "bytes=1-2", "If-Range", tag}, 206},
		{[]string{"Range", "bytes=1-2", "If-Range", same}, 206},
		{[]string{"Range", "bytes=1-2", "If-Range", `"other"`}, 200},
		{[]string{"Range", "bytes=99-"}, 416},
		{[]string{"Range", "bytes=99-", "If-Range", `"other"`}, 200},
		{[]string{"Range", "bytes=99-", "If-None-Match", tag}, 304},
		{[]string{"Range", "bytes=0-1", "Range", "bytes=0-1"}, 200},
		{[]string{"Range", "bytes=nonsense"}, 200},
	} {
		a := get(tr, "/files/sample.txt", c.fields...)
		if a.Status != c.status {
			t.Errorf("%q: %d, want %d", c.fields, a.Status, c.status)
		}
		if a.field(http.FieldETag) != tag {
			t.Errorf("%q: entity tag %q", c.fields, a.field(http.FieldETag))
		}
		if got := content(t, a); int64(len(got)) != a.Length {
			t.Errorf("%q: %d bytes of content, %d announced", c.fields, len(got), a.Length)
		}
	}
	if a := get(tr, "/files/sample.txt", "Range", "bytes=99-"); a.field(http.FieldContentRange) != "bytes */36" {
		t.Errorf("416 with Content-Range %q", a.field(http.FieldContentRange))
	}
}

// A file that has just been written may be written again unseen, so its tag is weak, and
// later turns strong.
func TestFreshFileHasWeakTag(t *testing.T) {
	t.Parallel()
	tr, _ := tree(t)
	strong := get(tr, "/files/sample.txt").field(http.FieldETag)
	tr.now = func() time.Time { return changed.Add(settled - 1) }
	weak := get(tr, "/files/sample.txt").field(http.FieldETag)
	if weak != "W/"+strong {
		t.Fatalf("tags %s and %s", weak, strong)
	}
	if a := get(tr, "/files/sample.txt", "Range", "bytes=0-1", "If-Range", weak); a.Status != 200 {
		t.Errorf("a weak tag in If-Range: %d", a.Status)
	}
	tr.now = func() time.Time { return changed.Add(settled) }
	if a := get(tr, "/files/sample.txt", "If-None-Match", weak); a.Status != 304 {
		t.Errorf("the weak tag once the file has settled: %d", a.Status)
	}
}

func TestLastModifiedIsNotInTheFuture(t *testing.T) {
	t.Parallel()
	tr, _ := tree(t)
	tr.now = func() time.Time { return changed.Add(-time.Second) }
	if got := get(tr, "/files/sample.txt").field(http.FieldLastModified); got != before {
		t.Errorf("Last-Modified: %s", got)
	}
}

func TestAnswerRanges(t *testing.T) {
	t.Parallel()
	tr, _ := tree(t)
	a := get(tr, "/files/sample.txt", "Range", "bytes=-6")
	if got := content(t, a); got != "uvwxyz" || a.field(http.FieldContentRange) != "bytes 30-35/36" {
		t.Errorf("suffix range: %q, %s", got, a.field(http.FieldContentRange))
	}
	a = get(tr, "/files/sample.txt", "Range", "bytes=0-0,10-13,-1")
	kind, params, err := mime.ParseMediaType(a.field(http.FieldContentType))
	must(t, err)
	if a.Status != 206 || kind != "multipart/byteranges" {
		t.Fatalf("several ranges: %d, %s", a.Status, kind)
	}
	all := content(t, a)
	if int64(len(all)) != a.Length {
		t.Errorf("%d bytes of content, %d announced", len(all), a.Length)
	}
	r := multipart.NewReader(strings.NewReader(all), params["boundary"])
	for _, want := range []struct{ content, position string }{
		{"0", "bytes 0-0/36"}, {"abcd", "bytes 10-13/36"}, {"z", "bytes 35-35/36"},
	} {
		part, err := r.NextPart()
		must(t, err)
		got, err := io.ReadAll(part)
		must(t, err)
		if string(got) != want.content || part.Header.Get("Content-Range") != want.position ||
			part.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("part %q with %v", got, part.Header)
		}
	}
	if _, err := r.NextPart(); err != io.EOF {
		t.Errorf("after the last part: %v", err)
	}
}

func TestListing(t *testing.T) {
	t.Parallel()
	tr, _ := tree(t)
	page := content(t, get(tr, "/files/list/"))
	for _, want := range []string{
		`href="./a.bin">a.bin</a></td><td class="number">3</td><td class="number">2026-03-01 12:00:00</td>`,
		`href="./` + oddLink + `">` + template.HTMLEscapeString(odd) + `</a>`,
		`href="./deep/">deep/</a>`,
		`href="/files/">the directory above</a>`,
		"3 entries",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the listing lacks %s", want)
		}
	}
	if strings.Index(page, "./deep/") > strings.Index(page, "./a.bin") {
		t.Error("directories don't come first")
	}
	if strings.Contains(page, "secret") {
		t.Error("the listing shows a hidden file")
	}
	if root := content(t, get(tr, "/files/")); strings.Contains(root, "directory above") {
		t.Error("the root's listing leads upwards")
	}
}

func TestIndexPage(t *testing.T) {
	t.Parallel()
	tr, _ := tree(t)
	a := get(tr, "/files/page/")
	if got := content(t, a); !strings.Contains(got, "<title>index</title>") || a.field(http.FieldETag) == "" {
		t.Errorf("%d %q", a.Status, got)
	}
	if got := content(t, get(tr, "/files/index-dir/")); !strings.Contains(got, "./index.txt") {
		t.Error("a directory without an index page is not listed")
	}
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	tr, _ := tree(t)
	for path, want := range map[string]string{
		"/files/list/deep/x":  "text/plain; charset=utf-8",
		"/files/list/a.bin":   "application/octet-stream",
		"/files/page/":        "text/html; charset=utf-8",
		"/files/empty.txt":    "text/plain; charset=utf-8",
		"/files/sample.txt":   "text/plain; charset=utf-8",
		"/files/list/missing": "text/plain; charset=utf-8",
	} {
		a := get(tr, path)
		if got := a.field(http.FieldContentType); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
		a.Close()
	}
}

func TestLongListingIsCut(t *testing.T) {
	t.Parallel()
	tr, dir := tree(t)
	for i := range maxEntries + 1 {
		writeFile(t, dir, "many/"+strconv.Itoa(i))
	}
	page := content(t, get(tr, "/files/many/"))
	if n := strings.Count(page, `href="./`); n != maxEntries {
		t.Errorf("%d entries", n)
	}
	if !strings.Contains(page, "only 2000 of many entries") {
		t.Error("the listing doesn't say that it is cut")
	}
}
