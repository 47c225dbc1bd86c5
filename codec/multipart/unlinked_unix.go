//go:build unix

package multipart

import "os"

// unlinkedFile is an open file without a name, which is gone when it is closed.
type unlinkedFile struct{ *os.File }

func createUnlinked(dir string) (TempFile, error) {
	f, err := os.CreateTemp(dir, "millrace-form-*") // mode 0600
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, err
	}
	return unlinkedFile{f}, nil
}

// SaveAs implements TempFile.
func (f unlinkedFile) SaveAs(path string, size int64) error { return saveCopy(f.File, path, size) }
