package multipart

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// namelessFile is an open file that never had a name (O_TMPFILE), and may still get one.
type namelessFile struct {
	*os.File
	named bool
}

// CreateTemp implements FileSystem. Not every file system knows O_TMPFILE: where it fails, a
// file is made that loses its name at once.
func (systemFiles) CreateTemp(dir string) (TempFile, error) {
	if f, err := os.OpenFile(dir, os.O_RDWR|unix.O_TMPFILE, 0o600); err == nil {
		return &namelessFile{File: f}, nil
	}
	return createUnlinked(dir)
}

// SaveAs implements TempFile. On the same file system it copies nothing the first time. The
// next files are copies, so that who changes one of them doesn't change all.
func (f *namelessFile) SaveAs(path string, size int64) error {
	if f.named {
		return saveCopy(f.File, path, size)
	}
	proc := "/proc/self/fd/" + strconv.Itoa(int(f.Fd()))
	err := unix.Linkat(unix.AT_FDCWD, proc, unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	switch err {
	case nil:
		f.named = true
		return nil
	case unix.EEXIST:
		return &os.PathError{Op: "link", Path: path, Err: err}
	}
	return saveCopy(f.File, path, size)
}
