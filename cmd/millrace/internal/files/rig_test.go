package files

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"millrace.dev/codec/http"
)

// sample is the content of the file that most tests ask for.
const sample = "0123456789abcdefghijklmnopqrstuvwxyz"

// odd is a file name that has to be escaped in links and in HTML, and oddLink its link.
// Windows has no such names.
var odd, oddLink = "b:c <&>.txt", "b%3Ac%20%3C%26%3E.txt"

func init() {
	if runtime.GOOS == "windows" {
		odd, oddLink = "b'c &.txt", "b%27c%20%26.txt"
	}
}

// tree returns a tree with a few files, all of them changed long ago.
func tree(t *testing.T) (*Tree, string) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"sample.txt":          sample,
		"empty.txt":           "",
		"page/index.html":     "<!doctype html><title>index</title>",
		"list/" + odd:         "odd",
		"list/a.bin":          "\x00\x01\x02",
		"list/deep/x":         "plain text without a suffix",
		"list/.secret":        "hidden",
		".hidden/x":           "hidden",
		".well-known/info":    "known",
		"index-dir/index.txt": "no index",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(content), 0o644))
		must(t, os.Chtimes(path, changed, changed))
	}
	tr, err := Open(dir)
	must(t, err)
	t.Cleanup(func() { must(t, tr.Close()) })
	tr.now = func() time.Time { return changed.Add(time.Hour) }
	return tr, dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// content reads and closes an answer's pieces.
func content(t *testing.T, a *Answer) string {
	t.Helper()
	defer a.Close()
	var all []byte
	for _, p := range a.Pieces {
		all = append(all, p.Text...)
		if p.File != nil {
			b := make([]byte, p.Count)
			if _, err := p.File.ReadAt(b, p.Offset); err != nil && err != io.EOF {
				t.Fatal(err)
			}
			all = append(all, b...)
		}
	}
	return string(all)
}

func (a *Answer) field(f http.Field) string {
	for _, x := range a.Fields {
		if x.Name == f {
			return x.Value
		}
	}
	return ""
}

func get(tr *Tree, path string, fields ...string) *Answer {
	return tr.Answer(http.MethodGet, []byte(path), header(fields...))
}
