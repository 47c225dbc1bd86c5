//go:build unix

package files

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe must not be opened: that would wait for somebody to write to it.
func TestOnlyRegularFilesAreServed(t *testing.T) {
	t.Parallel()
	tr, dir := tree(t)
	special := filepath.Join(dir, "s")
	must(t, os.Mkdir(special, 0o755))
	must(t, syscall.Mkfifo(filepath.Join(special, "pipe"), 0o644))
	if ln, err := net.Listen("unix", filepath.Join(special, "socket")); err == nil {
		defer ln.Close()
	}
	for _, name := range []string{"pipe", "socket"} {
		if a := get(tr, "/files/s/"+name); a.Status != 404 {
			t.Errorf("%s: %d", name, a.Status)
		}
	}
	if page := content(t, get(tr, "/files/s/")); strings.Contains(page, `href="./`) {
		t.Error("special files are listed")
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]int{
		&os.PathError{Err: syscall.EACCES}: 403,
		&os.PathError{Err: syscall.EMFILE}: 503,
		&os.PathError{Err: syscall.ENFILE}: 503,
		&os.PathError{Err: syscall.ENOENT}: 404,
		&os.PathError{Err: syscall.EIO}:    404,
		errors.New("path escapes"):         404,
	} {
		if a := failure(err, false); a.Status != want {
			t.Errorf("%v: %d, want %d", err, a.Status, want)
		}
	}
}
