//go:build !unix

package multipart

import "os"

// namedFile is a file that its Close removes: the system can't do without the name.
type namedFile struct{ *os.File }

// CreateTemp implements FileSystem.
func (systemFiles) CreateTemp(dir string) (TempFile, error) {
	f, err := os.CreateTemp(dir, "millrace-form-*")
	if err != nil {
		return nil, err
	}
	return namedFile{f}, nil
}

// SaveAs implements TempFile.
func (f namedFile) SaveAs(path string, size int64) error { return saveCopy(f.File, path, size) }

// Close implements TempFile.
func (f namedFile) Close() error {
	err := f.File.Close()
	if e := os.Remove(f.Name()); err == nil {
		err = e
	}
	return err
}
