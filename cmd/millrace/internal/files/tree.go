package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Tree is a directory whose files are served. It may be used by any number of goroutines;
// Close ends it.
type Tree struct {
	root *os.Root
	path string
	now  func() time.Time
}

// Open opens the directory. The error names it.
func Open(dir string) (*Tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err // the rest of it repeats the name
		}
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		path = dir // only shown to people
	}
	return &Tree{root: root, path: path, now: time.Now}, nil
}

// Path returns the directory's absolute path.
func (t *Tree) Path() string { return t.path }

// Close gives the directory back. Files that are being sent are not affected.
func (t *Tree) Close() error { return t.root.Close() }

// open opens a regular file or a directory of the tree. Anything else doesn't exist here: to
// open a device may have effects, and to open a pipe waits for somebody to write to it.
func (t *Tree) open(name string) (*os.File, fs.FileInfo, error) {
	local, err := filepath.Localize(name)
	if err != nil {
		return nil, nil, fs.ErrNotExist
	}
	info, err := t.root.Stat(local)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, nil, fs.ErrNotExist
	}
	// It may have become a pipe meanwhile, so the open itself must not wait either.
	f, err := t.root.OpenFile(local, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	now, err := f.Stat()
	if err == nil && now.Mode().Type() != info.Mode().Type() {
		err = fs.ErrNotExist
	}
	if err != nil {
		_ = f.Close() // nothing was written to it
		return nil, nil, err
	}
	return f, now, nil
}
