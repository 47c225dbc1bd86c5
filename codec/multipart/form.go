package multipart

import (
	"errors"
	"io"

	"millrace.dev/codec/http"
)

// Form is an entry list, as HTML calls it: the fields and files of a form in the order in
// which they were sent. Whoever has it closes it, which removes all files.
//
// A Form belongs to one goroutine at a time; its Files may be read by several.
type Form struct {
	Entries []Entry
}

// Entry is a field or a file.
type Entry struct {
	// Name is as it was sent, possibly empty, and may occur several times.
	Name string
	// Value is the content of a field, byte for byte. Empty if the entry is a file.
	Value string
	// ContentType is what a part says of its content, empty if it says nothing.
	ContentType string
	// File is nil if the entry is a field.
	File *File
}

// Value returns the value of the first field of that name, "" if there is none.
func (f *Form) Value(name string) string {
	for i := range f.Entries {
		if e := &f.Entries[i]; e.File == nil && e.Name == name {
			return e.Value
		}
	}
	return ""
}

// Values returns the values of all fields of that name.
func (f *Form) Values(name string) (all []string) {
	for i := range f.Entries {
		if e := &f.Entries[i]; e.File == nil && e.Name == name {
			all = append(all, e.Value)
		}
	}
	return all
}

// File returns the first file of that name, nil if there is none.
func (f *Form) File(name string) *File {
	for i := range f.Entries {
		if e := &f.Entries[i]; e.File != nil && e.Name == name {
			return e.File
		}
	}
	return nil
}

// Close removes the files from memory and disk; entries and their names stay. Readers of
// files have to be done. A second Close does nothing.
func (f *Form) Close() error {
	var errs []error
	for i := range f.Entries {
		if e := &f.Entries[i]; e.File != nil {
			errs = append(errs, e.File.Close())
		}
	}
	return errors.Join(errs...)
}

// File is the content of a file that was sent, in memory or on disk. It is part of a Form,
// which closes it.
type File struct {
	// FileName is what the client says, as in Part: possibly empty, possibly a path, never to
	// be used as one. BaseName makes something of it.
	FileName string
	// Header has the fields of the part.
	Header http.Header

	content content
	size    int64
	closed  bool
}

// Size returns the bytes of the content.
func (f *File) Size() int64 { return f.size }

// OnDisk reports whether the content is in a temporary file.
func (f *File) OnDisk() bool { return f.content.disk != nil }

// Open returns a reader that starts at the beginning. There may be several, on any
// goroutines, until the File is closed.
func (f *File) Open() *FileReader {
	return &FileReader{io.NewSectionReader(f, 0, f.size)}
}

// FileReader reads a File: an io.Reader, io.ReaderAt, io.Seeker and io.Closer, as a
// mime/multipart.File is one. Its Close leaves the File as it is, and need not be called.
type FileReader struct{ *io.SectionReader }

// Close implements io.Closer.
func (r *FileReader) Close() error { return nil }

// ErrFileClosed is returned by reads of a closed File.
var ErrFileClosed = errors.New("multipart: the file was closed")

// ReadAt implements io.ReaderAt. Any goroutine may call it.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if f.closed {
		return 0, ErrFileClosed
	}
	n, err := f.content.ReadAt(p, off)
	if err != nil && err != io.EOF {
		err = &StorageError{"read", err}
	}
	return n, err
}

// SaveAs gives the content a file of its own, mode 0600, that stays when the Form is closed.
// It fails with fs.ErrExist if path exists. Nothing is copied where the system can name a
// temporary file on the same file system. It may block, so it is not for event loops.
func (f *File) SaveAs(path string) error {
	if f.closed {
		return ErrFileClosed
	}
	var err error
	if f.content.disk != nil {
		err = f.content.disk.file.SaveAs(path, f.size)
	} else {
		err = saveCopy(&f.content.memory, path, f.size)
	}
	if err != nil {
		return &StorageError{"save", err}
	}
	return nil
}

// Close removes the content before the Form is closed. Readers have to be done. A second
// Close does nothing.
func (f *File) Close() error {
	if f.closed {
		return nil
	}
	f.closed = true
	if err := f.content.close(); err != nil {
		return &StorageError{"remove", err}
	}
	return nil
}
