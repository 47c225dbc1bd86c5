package http

import (
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

// AddTrailer appends a field to the Content's trailer, making one if there is none.
func (c *Content) AddTrailer(name, value string) {
	if c.Trailer == nil {
		c.Trailer = AcquireHeader()
	}
	c.Trailer.Add(name, value)
}

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
	if c.Trailer != nil {
		ReleaseHeader(c.Trailer)
		c.Trailer = nil
	}
	c.ID, c.End = 0, false
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
