package channel

import (
	"os"

	"millrace.dev/buffer"
)

// FileRegion is a message that sends part of a file, with sendfile(2) where the transport
// can. The channel owns it once written, and closes File when it has been sent or has
// failed.
type FileRegion struct {
	File   *os.File
	Offset int64 // the next byte to send, in bytes from the file's start
	Count  int64 // bytes still to send
	closed bool
}

// Close closes the file. A second call does nothing.
func (r *FileRegion) Close() {
	if !r.closed {
		r.closed = true
		_ = r.File.Close() // read only: nothing can be lost
	}
}

// IsClosed reports whether Close was called.
func (r *FileRegion) IsClosed() bool { return r.closed }

// Dispose ends the life of a message: it closes one that has a Close method, with or
// without an error result, and leaves any other to the collector.
func Dispose(msg any) {
	switch m := msg.(type) {
	case nil:
	case *buffer.Buffer:
		m.Close()
	case interface{ Close() }:
		m.Close()
	case *Channel:
		m.Close()
	case interface{ Close() error }:
		_ = m.Close()
	}
}

// disposeUnlessClosed disposes of a message that its handler may have closed already, or half
// taken apart.
func disposeUnlessClosed(msg any) {
	if m, ok := msg.(interface{ IsClosed() bool }); ok && m.IsClosed() {
		return
	}
	defer func() { _ = recover() }()
	Dispose(msg)
}
