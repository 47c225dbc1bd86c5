package files

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func writeFile(t *testing.T, dir, name string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, nil, 0o644))
}

// link makes a symbolic link, or skips the test where that is not allowed.
func link(t *testing.T, to, from string) {
	t.Helper()
	if err := os.Symlink(to, from); err != nil {
		if runtime.GOOS == "windows" {
			t.Skip(err)
		}
		t.Fatal(err)
	}
}

func TestLinksStayInside(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	writeFile(t, outside, "secret")
	tr, dir := tree(t)
	links := filepath.Join(dir, "links")
	must(t, os.Mkdir(links, 0o755))
	link(t, filepath.Join(outside, "secret"), filepath.Join(links, "absolute"))
	link(t, filepath.Join("..", "..", filepath.Base(outside), "secret"), filepath.Join(links, "relative"))
	link(t, outside, filepath.Join(links, "directory"))
	link(t, filepath.Join("..", "sample.txt"), filepath.Join(links, "inside"))
	link(t, "nowhere", filepath.Join(links, "dangling"))
	link(t, "loop", filepath.Join(links, "loop"))
	for path, want := range map[string]int{
		"/files/links/absolute":         404,
		"/files/links/relative":         404,
		"/files/links/directory":        404,
		"/files/links/directory/":       404,
		"/files/links/directory/secret": 404,
		"/files/links/dangling":         404,
		"/files/links/loop":             404,
		"/files/links/inside":           200,
	} {
		a := get(tr, path)
		if a.Status != want {
			t.Errorf("%s: %d, want %d", path, a.Status, want)
		}
		a.Close()
	}
	page := content(t, get(tr, "/files/links/"))
	if n := strings.Count(page, `href="./`); n != 1 || !strings.Contains(page, `href="./inside"`) {
		t.Errorf("the listing shows %d links", n)
	}
}

func TestOpenNamesTheDirectory(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	_, err := Open(missing)
	if err == nil || strings.Count(err.Error(), missing) != 1 {
		t.Errorf("error %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o644))
	if _, err := Open(file); err == nil {
		t.Error("a file was taken for a directory")
	}
}
