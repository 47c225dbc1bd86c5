package buffer

// Close ends the ownership of b: its memory goes back to where it came from once no other
// Buffer shares it, a composite's parts are closed. Any goroutine may call it, once: a
// second Close panics with ErrClosed (below leak level Advanced only until the struct has
// been handed out again).
func (b *Buffer) Close() {
	if b.data == nil {
		panic(b.closedError())
	}
	if x := b.ext; x != nil {
		b.endTracker()
		if x.parts != nil {
			for _, p := range x.parts {
				p.Close()
			}
			b.dropExtra()
		}
	}
	b.release()
}

// release gives up the memory and the struct.
func (b *Buffer) release() {
	blk := b.blk
	b.retire()
	if blk == nil {
		return
	}
	if blk.refs.Load() != 1 && blk.refs.Add(-1) > 0 {
		return
	}
	blk.refs.Store(1)
	blk.pool.free(blk)
}

// retire marks the struct as closed, without its memory.
func (b *Buffer) retire() {
	b.data, b.blk = nil, nil
	b.r, b.rest = 0, 0
}

// detach moves what a contiguous b holds into a struct that its former owner can't reach.
func (b *Buffer) detach() *Buffer {
	return b
}

// newStruct returns a Buffer struct without memory.
func (b *Buffer) newStruct() *Buffer { return new(Buffer) }

// sibling returns an empty Buffer from the allocator that b's memory came from, not
// followed by the leak detector.
func (b *Buffer) sibling(n int) *Buffer {
	if b.blk == nil {
		return &Buffer{data: make([]byte, 0, n)}
	}
	return b.blk.pool.allocate(n)
}

func (b *Buffer) closedError() error { return ErrClosed }
