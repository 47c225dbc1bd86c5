package buffer

import "math"

// Buffer is a sequence of bytes with one owner, a reader index and a writer index:
//
//	0 ≤ reader index ≤ writer index ≤ capacity
//
// The bytes between the two indexes are readable, those after the writer index are room.
// Close ends the ownership; handing a Buffer to another function, handler or goroutine
// hands the ownership over with it. A Buffer is used by one goroutine at a time, and may
// be closed on any.
//
// A Buffer is contiguous or composite (Compose, Append); the methods are the same.
// All multi-byte numbers are big-endian unless the name ends in LE.
//
// Every method but IsClosed and Touch panics with ErrClosed after Close. Below leak level Advanced
// the struct is recycled, so this holds until the Buffer is handed out again; from
// Advanced up it holds for ever.
type Buffer struct {
	// data holds the bytes from index 0 to the writer index; its spare capacity is the
	// room. It is nil exactly when the Buffer is closed, so that every fast path fails on
	// a closed Buffer with no test of its own. In a composite it is the window: the bytes
	// of the part that the reader stands in, clipped to have no spare capacity, so that
	// reads are as fast as in a contiguous Buffer and writes take the slow path.
	data []byte
	r    int     // reader index, within data
	rest int     // composite: readable bytes in the parts after the window; else 0
	blk  *block  // pooled or counted memory that data lies in; nil for plain heap memory
	ext  *extra  // what few Buffers have: parts, a leak tracker; else nil
	next *Buffer // link of the free list or return stack that the struct is in
}

// extra holds what only some Buffers need, so that the others stay at 64 bytes.
type extra struct {
	parts    []*Buffer // composite: contiguous Buffers without extra, at least one
	cur      int       // index of the part that the window shows
	base     int       // bytes in the parts before cur
	near     int       // index of a part looked at lately
	nearBase int       // bytes in the parts before near
	leak     *sentinel // nil when the leak detector doesn't follow this Buffer
	closed   *closing  // where a closed Buffer was closed; nil when that isn't known
	inline   [4]*Buffer
}

// none is the memory of Buffers without any: empty, but not nil.
var none = []byte{}

// maxCapacity is more than an address space has on 64-bit systems: what asks for more is a
// mistake in arithmetic, and is told so before anything is counted.
const maxCapacity = min(math.MaxInt, 1<<47)

// New returns an empty Buffer with the given capacity in bytes on the Go heap. The memory
// is not pooled; Close leaves it to the garbage collector. The caller closes.
func New(capacity int) *Buffer {
	if uint(capacity) > maxCapacity {
		panic(&rangeError{"New", capacity, maxCapacity})
	}
	b := takeStruct()
	b.data = make([]byte, 0, capacity)
	return sampled(b, 3)
}

// Wrap returns a Buffer over p, all of it readable and none of it room. It takes p over:
// the caller must not use p any more. The caller closes the Buffer.
func Wrap(p []byte) *Buffer {
	if p == nil {
		p = none
	}
	b := takeStruct()
	b.data = p[:len(p):len(p)]
	return sampled(b, 3)
}

// Copy returns a Buffer with a copy of p on the Go heap. The caller closes it.
func Copy(p []byte) *Buffer {
	b := takeStruct()
	b.data = append(make([]byte, 0, len(p)), p...)
	return sampled(b, 3)
}

// CopyString returns a Buffer with a copy of s on the Go heap. The caller closes it.
func CopyString(s string) *Buffer {
	b := takeStruct()
	b.data = append(make([]byte, 0, len(s)), s...)
	return sampled(b, 3)
}

// Len returns the number of readable bytes.
func (b *Buffer) Len() int {
	if b.data == nil {
		panic(b.closedError())
	}
	return len(b.data) - b.r + b.rest
}

// IsEmpty reports whether no byte is readable.
func (b *Buffer) IsEmpty() bool {
	if b.data == nil {
		panic(b.closedError())
	}
	return len(b.data)-b.r+b.rest == 0
}

// IsClosed reports whether the Buffer has been closed. Below leak level Advanced the
// answer is only good until the struct is handed out again.
func (b *Buffer) IsClosed() bool { return b.data == nil }

// Cap returns the number of bytes between index 0 and the end of the room. A composite's
// capacity changes as parts come and go.
func (b *Buffer) Cap() int {
	if b.isComposite() {
		return b.WriterIndex() + b.last().Available()
	}
	return b.WriterIndex() + cap(b.data) - len(b.data)
}

// Available returns the number of bytes that can be written before the Buffer has to grow.
func (b *Buffer) Available() int { return len(b.Writable()) }

// Readable returns the first contiguous run of readable bytes: all of them unless the
// Buffer is composite, and never an empty run while bytes are readable. The view is valid
// until the next call that changes the Buffer; it may be written to.
func (b *Buffer) Readable() []byte {
	if b.r < len(b.data) {
		return b.data[b.r:]
	}
	return b.readableSlow()
}

// readableSlow is Readable at the end of the window.
func (b *Buffer) readableSlow() []byte {
	if b.data == nil {
		panic(b.closedError())
	}
	if b.rest > 0 {
		b.step()
	}
	return b.data[b.r:]
}

// Writable returns the room after the writer index, which may be empty: call Ensure first
// for a minimum. Advance commits what was stored there. The view is valid until the next
// call that changes the Buffer.
func (b *Buffer) Writable() []byte {
	if b.data != nil && b.ext == nil {
		return b.data[len(b.data):cap(b.data)]
	}
	return b.writableSlow()
}

func (b *Buffer) writableSlow() []byte {
	if b.data == nil {
		panic(b.closedError())
	}
	if b.isComposite() {
		return b.last().Writable()
	}
	return b.data[len(b.data):cap(b.data)]
}

// Runs appends every contiguous run of readable bytes to dst, in order and none of them
// empty, as a gathered write wants them. The views are valid until the next call that
// changes the Buffer.
func (b *Buffer) Runs(dst [][]byte) [][]byte {
	if run := b.Readable(); len(run) > 0 {
		dst = append(dst, run)
	}
	if b.rest > 0 {
		for _, p := range b.ext.parts[b.ext.cur+1:] {
			if run := p.data[p.r:]; len(run) > 0 {
				dst = append(dst, run)
			}
		}
	}
	return dst
}

// Bytes returns all readable bytes as one run. A composite whose readable bytes lie in
// more than one part is flattened for it: copied into one piece of new memory, which
// replaces the parts. The view is valid until the next call that changes the Buffer.
func (b *Buffer) Bytes() []byte {
	run := b.Readable()
	if b.rest > 0 {
		b.flatten()
		run = b.data[b.r:]
	}
	return run
}
