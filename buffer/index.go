package buffer

// ReaderIndex returns the index of the next byte to read.
func (b *Buffer) ReaderIndex() int {
	if b.data != nil && b.ext == nil {
		return b.r
	}
	return b.readerIndexSlow()
}

//go:noinline
func (b *Buffer) readerIndexSlow() int {
	if b.data == nil {
		panic(b.closedError())
	}
	return b.ext.base + b.r
}

// WriterIndex returns the index of the next byte to write.
func (b *Buffer) WriterIndex() int {
	if b.data != nil && b.ext == nil {
		return len(b.data)
	}
	return b.writerIndexSlow()
}

//go:noinline
func (b *Buffer) writerIndexSlow() int {
	if b.data == nil {
		panic(b.closedError())
	}
	return b.ext.base + len(b.data) + b.rest
}

// SetReaderIndex moves the reader to index i, forwards or backwards. It panics with
// ErrOutOfRange when i is negative or beyond the writer index.
//
// Indexes count from the start of what the Buffer holds now: Split, Compact, Reset and any
// growth start them anew. Positions kept across those count from the reader (Len, Uint8At).
func (b *Buffer) SetReaderIndex(i int) {
	if w := b.WriterIndex(); uint(i) > uint(w) && !unchecked.Load() {
		b.refuse("SetReaderIndex", i, w)
	}
	if b.isComposite() {
		b.seek(i)
		return
	}
	b.r = i
}

// SetWriterIndex moves the writer to index i. Moving it forwards makes what lies in the
// room readable, whatever it is. It panics with ErrOutOfRange when i is less than the
// reader index or beyond the capacity. A composite gives up parts that lie wholly after i.
func (b *Buffer) SetWriterIndex(i int) {
	if (i < b.ReaderIndex() || i > b.Cap()) && !unchecked.Load() {
		b.refuse("SetWriterIndex", i, b.Cap())
	}
	if b.isComposite() {
		if w := b.WriterIndex(); i >= w {
			b.commit(i - w)
		} else {
			b.truncateParts(i)
		}
		return
	}
	b.cut(i)
}

// Skip moves the reader n bytes on. It panics with ErrOutOfRange when fewer are readable.
func (b *Buffer) Skip(n int) {
	// n-1 sends n == 0 to the slow path, which sees to closed Buffers.
	if uint(n-1) < uint(len(b.data)-b.r) {
		b.r += n
		return
	}
	b.skipSlow(n)
}

func (b *Buffer) skipSlow(n int) {
	if b.data == nil || uint(n) > uint(b.Len()) {
		b.refuse("Skip", n, b.have())
	}
	if n > 0 {
		b.seek(b.ext.base + b.r + n)
	}
}

// Advance commits n bytes that were stored in Writable: the writer moves n bytes on. It
// panics with ErrOutOfRange when there is less room.
func (b *Buffer) Advance(n int) {
	if uint(n-1) < uint(cap(b.data)-len(b.data)) {
		b.data = b.data[:len(b.data)+n]
		return
	}
	b.advanceSlow(n)
}

func (b *Buffer) advanceSlow(n int) {
	if b.data == nil || uint(n) > uint(b.Available()) {
		b.refuse("Advance", n, cap(b.data)-len(b.data))
	}
	if n > 0 {
		b.commit(n)
	}
}

// Truncate drops all but the first n readable bytes. It panics with ErrOutOfRange when
// fewer are readable.
func (b *Buffer) Truncate(n int) {
	if uint(n) > uint(b.Len()) && !unchecked.Load() {
		b.refuse("Truncate", n, b.Len())
	}
	if b.isComposite() {
		b.truncateParts(b.ReaderIndex() + n)
		return
	}
	b.cut(b.r + n)
}

// Reset empties the Buffer and keeps its memory: of a composite, the last part's. Memory
// that parts split off had in use is recovered if they have been closed.
func (b *Buffer) Reset() {
	if b.data == nil {
		panic(b.closedError())
	}
	if b.isComposite() {
		b.keepLast()
	}
	b.data = b.region()[:0]
	b.r = 0
}

// Compact makes room by giving up the bytes already read: it moves the readable bytes to
// the front and, when all parts split off have been closed, recovers their memory too. In
// a composite it closes the parts that have been read. Bytes that are shared stay where
// they are.
func (b *Buffer) Compact() {
	if b.data == nil {
		panic(b.closedError())
	}
	if b.isComposite() {
		b.dropRead()
		if b.isComposite() {
			return
		}
	}
	if b.shared() {
		b.data = b.data[b.r:]
		b.r = 0
		return
	}
	b.moveTo(b.region())
}

// Ensure makes room for at least n bytes more in one run, so that len(Writable()) ≥ n. A
// Buffer grows by moving to larger memory (at least double, so that many small writes cost
// one copy each) from the allocator it came from, and gives up the bytes already read; a
// composite gets another part and copies nothing. It panics with ErrOutOfRange when n is
// negative, or more than any memory has.
func (b *Buffer) Ensure(n int) {
	if b.data != nil && uint(n) <= uint(cap(b.data)-len(b.data)) {
		return
	}
	b.grow(n)
}

func (b *Buffer) grow(n int) {
	if b.data == nil || n < 0 || n > maxCapacity-b.Len() {
		b.refuse("Ensure", n, 0)
	}
	if b.isComposite() {
		b.growParts(n)
		return
	}
	live := len(b.data) - b.r
	mem := b.region()
	// Moving within the memory is only worth it while at most half of it is alive:
	// otherwise a full Buffer read byte by byte would move its content at every write.
	if live+n <= cap(mem) && live <= cap(mem)/2 {
		b.moveTo(mem)
		return
	}
	t := b.sibling(max(live+n, 2*cap(b.data)))
	t.data = append(t.data, b.data[b.r:]...)
	t.data, b.data = b.data, t.data
	t.blk, b.blk = b.blk, t.blk
	b.r = 0
	t.Close()
}

// moveTo moves the readable bytes of a contiguous Buffer to the front of mem, which is its
// own memory.
func (b *Buffer) moveTo(mem []byte) {
	n := copy(mem[:cap(mem)], b.data[b.r:])
	b.data = mem[:n]
	b.r = 0
}

// region returns the memory that only this contiguous Buffer may write to: the whole block
// when no other Buffer has a part of it; the room when the bytes are shared; else the part
// from its own index 0 to its capacity.
func (b *Buffer) region() []byte {
	switch {
	case b.blk != nil && b.blk.alone():
		return b.blk.mem
	case b.shared():
		return b.data[len(b.data):]
	}
	return b.data[:cap(b.data)]
}

// cut moves the writer index of a contiguous Buffer to i. What lies behind it is only room if
// nobody else can see it.
func (b *Buffer) cut(i int) {
	if i < len(b.data) && b.shared() {
		b.data = b.data[:i:i]
		return
	}
	b.data = b.data[:i]
}
