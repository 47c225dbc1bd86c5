package multipart

import (
	"io"
	"os"
)

// systemFiles is the FileSystem of the system.
type systemFiles struct{}

// saveCopy makes the new file path with size bytes of r.
func saveCopy(r io.ReaderAt, path string, size int64) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			_ = os.Remove(path) // half a file is worse than none
		}
	}()
	_, err = io.Copy(f, io.NewSectionReader(r, 0, size))
	return err
}
