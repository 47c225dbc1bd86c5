package http

import (
	"os"
	"sync"

	"millrace.dev/buffer"
)

// Content is a piece of a message's content. Contents follow the Request or Response
// that they belong to, in order, and the last one has End set.
//
// Contents are recycled: whoever has one last calls Close, which closes Data. To keep the
// bytes alone, take Data and set it to nil first.
type Content struct {
	// ID says which request of the connection it belongs to, as in Request and
	// Response; 0 in a Content that is written means the answer being written.
	ID uint64
	// Data is the bytes, possibly nil or empty. Chunk framing is not part of it.
	Data *buffer.Buffer
	// Trailer has the fields behind chunked content, only ever in the last Content; nil
	// if there are none. It belongs to the Content. RFC 9110 section 6.5.1: do not merge
	// trailers into the header unless the field's definition allows it.
	Trailer *Header
	// File, in a Content that is written, is a piece of a file that is sent in place of
	// Data, with sendfile(2) where the transport can.
	File *File
	// Err says that the message was cut short: the peer closed the connection, reset the
	// stream or broke a rule inside of it. Such a Content is the last of its message, but
	// End is false, because the message never came to its end.
	Err error
	// End says that this is the last piece.
	End bool

	closed bool
}

var contents = sync.Pool{New: func() any { return &Content{closed: true} }}

// NewContent returns a recycled or new Content that takes data over; data may be nil.
func NewContent(data *buffer.Buffer, end bool) *Content {
	c := contents.Get().(*Content)
	c.closed = false
	c.Data, c.End = data, end
	return c
}

// File is a range of an open file as content. It belongs to the Content that it is in,
// whose Close closes it; a codec that sends it takes it over.
type File struct {
	File   *os.File
	Offset int64 // of the first byte to send, from the file's start
	Count  int64 // bytes to send
}

// NewFileContent returns a Content of count bytes of f from offset on; it takes f over.
func NewFileContent(f *os.File, offset, count int64, end bool) *Content {
	c := NewContent(nil, end)
	c.File = &File{f, offset, count}
	return c
}

// Len returns the bytes of content: of Data, or of File.
func (c *Content) Len() int64 {
	switch {
	case c.Data != nil:
		return int64(c.Data.Len())
	case c.File != nil:
		return c.File.Count
	}
	return 0
}

// AddTrailer appends a field to the Content's trailer, making one if there is none.
func (c *Content) AddTrailer(name, value string) {
	if c.Trailer == nil {
		c.Trailer = AcquireHeader()
	}
	c.Trailer.Add(name, value)
}

// IsClosed reports whether Close was called, until the Content is handed out again.
func (c *Content) IsClosed() bool { return c.closed }

// Close recycles the Content and closes its Data. Closing it twice panics.
func (c *Content) Close() {
	if c.closed {
		panic("http: Content closed twice")
	}
	c.closed = true
	if c.Data != nil {
		c.Data.Close()
		c.Data = nil
	}
	if c.File != nil {
		_ = c.File.File.Close() // it was only read
		c.File = nil
	}
	if c.Trailer != nil {
		ReleaseHeader(c.Trailer)
		c.Trailer = nil
	}
	c.ID, c.Err, c.End = 0, nil, false
	contents.Put(c)
}

// Recycled messages keep the memory of their Header unless it grew beyond this: one
// large head must not be carried around for ever.
const (
	keptArena  = 4 << 10
	keptFields = 64
)

func (h *Header) recycle() {
	if cap(h.arena) > keptArena {
		h.arena = nil
	}
	if cap(h.fields) > keptFields {
		h.fields = nil
	}
	h.Reset()
}

var headers = sync.Pool{New: func() any { return new(Header) }}

// AcquireHeader returns a recycled or new empty Header for a Trailer field, whose message
// recycles it again.
func AcquireHeader() *Header { return headers.Get().(*Header) }

// ReleaseHeader gives back a Header from AcquireHeader that no message has taken over.
func ReleaseHeader(h *Header) {
	h.recycle()
	headers.Put(h)
}
