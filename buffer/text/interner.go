package text

import (
	"hash/maphash"

	"millrace.dev/buffer"
)

// Interner turns bytes into strings without making one that it has made lately: the names,
// commands and topics that a connection repeats. It keeps a bounded number of short strings,
// each in the one place where its hash puts it, and forgets what was there before, so that no
// peer can make it grow or search. The zero Interner is not ready; it belongs to one
// goroutine.
type Interner struct {
	seed  maphash.Seed
	slots []string
	max   int
}

// NewInterner returns an Interner that keeps up to slots strings, rounded up to a power of
// two, of up to maxLen bytes each. Longer ones are made each time.
func NewInterner(slots, maxLen int) *Interner {
	n := 1
	for n < slots {
		n *= 2
	}
	return &Interner{maphash.MakeSeed(), make([]string, n), maxLen}
}

// String returns p as a string.
func (in *Interner) String(p []byte) string {
	if len(p) > in.max {
		return string(p)
	}
	slot := &in.slots[maphash.Bytes(in.seed, p)&uint64(len(in.slots)-1)]
	if *slot != string(p) { // compares without making a string
		*slot = string(p)
	}
	return *slot
}

// Read reads the next n bytes of b as a string, as buffer.Buffer.ReadString does. It panics
// with buffer.ErrOutOfRange when fewer are readable.
func (in *Interner) Read(b *buffer.Buffer, n int) string {
	run := b.Readable()
	if uint(n) > uint(len(run)) {
		return in.readParts(b, n)
	}
	s := in.String(run[:n])
	b.Skip(n)
	return s
}

// readParts is Read across parts, or of more than there is.
func (in *Interner) readParts(b *buffer.Buffer, n int) string {
	var short [64]byte
	if uint(n) > uint(min(len(short), b.Len())) {
		return b.ReadString(n) // or it panics
	}
	b.ReadInto(short[:n])
	return in.String(short[:n])
}
