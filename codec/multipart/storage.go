package multipart

import (
	"io"
	"os"

	"millrace.dev/buffer"
)

// StorageKind says where the contents of files go.
type StorageKind uint8

const (
	// Mixed keeps the beginning of each file in memory, and moves the file to disk when it
	// grows beyond Storage.Threshold, or all files beyond Storage.MaxMemory. The default.
	Mixed StorageKind = iota
	// Memory keeps files in memory alone.
	Memory
	// Disk writes every file to disk.
	Disk
)

// String returns the kind's name.
func (k StorageKind) String() string {
	switch k {
	case Mixed:
		return "mixed"
	case Memory:
		return "memory"
	}
	return "disk"
}

// The defaults of Storage.
const (
	DefaultThreshold      = 64 << 10
	DefaultMaxMemory      = 32 << 20 // Memory
	DefaultMaxMemoryMixed = 4 << 20
)

// Storage says where the contents of a form's files are kept until they are wanted. The zero
// value is a good default.
type Storage struct {
	Kind StorageKind
	// Dir is the directory for temporary files. Default os.TempDir().
	Dir string
	// Threshold is how many bytes of a file Mixed keeps in memory. Default 64 KiB.
	Threshold int64
	// MaxMemory is how many bytes the contents of all files of a form have in memory, at
	// most. Above it, Memory fails with ErrMemoryFull and Mixed uses the disk. Default 32
	// MiB with Memory, 4 MiB with Mixed.
	MaxMemory int64
	// Allocator is where memory comes from. Default buffer.Unpooled().
	Allocator buffer.Allocator
	// FileSystem makes the temporary files. Default: the system's.
	FileSystem FileSystem
}

func (s Storage) effective() Storage {
	if s.Dir == "" {
		s.Dir = os.TempDir()
	}
	if s.Threshold <= 0 {
		s.Threshold = DefaultThreshold
	}
	if s.MaxMemory <= 0 {
		s.MaxMemory = DefaultMaxMemory
		if s.Kind == Mixed {
			s.MaxMemory = DefaultMaxMemoryMixed
		}
	}
	if s.Allocator == nil {
		s.Allocator = buffer.Unpooled()
	}
	if s.FileSystem == nil {
		s.FileSystem = systemFiles{}
	}
	return s
}

// FileSystem makes temporary files.
type FileSystem interface {
	// CreateTemp returns a new file in dir that only this process's user can read (mode
	// 0600) and that is gone when it is closed, if possible also when the process ends
	// without closing it.
	CreateTemp(dir string) (TempFile, error)
}

// TempFile is what a FileSystem makes. Close removes it.
type TempFile interface {
	io.Writer // at the end
	io.ReaderAt
	io.Closer
	// SaveAs gives the content, size bytes, a new name of its own, mode 0600. It must not
	// replace a file.
	SaveAs(path string, size int64) error
}

// content is the content of one file on its way in, and then what a File reads.
type content struct {
	memory memory
	disk   *disk // nil: it is in memory
}

// write takes the next bytes of a file, of which size have come before.
func (c *content) write(s *Storage, used *int64, size int64, p []byte) error {
	if c.disk == nil && s.Kind != Disk {
		n := int64(len(p))
		switch {
		case *used+n <= s.MaxMemory && (s.Kind == Memory || size+n <= s.Threshold):
			*used += n
			c.memory.write(s.Allocator, p)
			return nil
		case s.Kind == Memory:
			return ErrMemoryFull
		}
	}
	if c.disk == nil {
		if err := c.spill(s, used); err != nil {
			return err
		}
	}
	return c.disk.write(p)
}

// spill moves what is in memory to disk, and what follows with it.
func (c *content) spill(s *Storage, used *int64) error {
	f, err := s.FileSystem.CreateTemp(s.Dir)
	if err != nil {
		return &StorageError{"create", err}
	}
	c.disk = &disk{file: f, allocator: s.Allocator}
	for _, b := range c.memory.chunks {
		*used -= int64(b.buf.Len())
		if err := c.disk.write(b.buf.Readable()); err != nil {
			return err
		}
	}
	c.memory.close()
	return nil
}

// finish makes the content complete.
func (c *content) finish(s *Storage, used *int64) error {
	if c.disk == nil && s.Kind == Disk { // an empty file
		if err := c.spill(s, used); err != nil {
			return err
		}
	}
	if c.disk == nil {
		return nil
	}
	return c.disk.finish()
}

// ReadAt implements io.ReaderAt.
func (c *content) ReadAt(p []byte, off int64) (int, error) {
	if c.disk == nil {
		return c.memory.ReadAt(p, off)
	}
	return c.disk.file.ReadAt(p, off)
}

// close removes the content.
func (c *content) close() error {
	c.memory.close()
	if c.disk == nil {
		return nil
	}
	return c.disk.close()
}
