package site

import (
	"os"
	"sync/atomic"
	"syscall"

	"millrace.dev/codec/multipart"
)

// countedFiles makes temporary files and counts them.
type countedFiles struct {
	made, open atomic.Int64
	full       bool // nothing can be written
}

type countedFile struct {
	*os.File
	fs *countedFiles
}

func (f *countedFiles) CreateTemp(dir string) (multipart.TempFile, error) {
	file, err := os.CreateTemp(dir, "")
	if err != nil {
		return nil, err
	}
	f.made.Add(1)
	f.open.Add(1)
	return &countedFile{file, f}, nil
}

func (f *countedFile) Write(p []byte) (int, error) {
	if f.fs.full {
		return 0, syscall.ENOSPC
	}
	return f.File.Write(p)
}

func (f *countedFile) Close() error {
	defer f.fs.open.Add(-1)
	_ = os.Remove(f.Name())
	return f.File.Close()
}

func (f *countedFile) SaveAs(string, int64) error { return syscall.ENOSYS }
