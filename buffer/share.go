package buffer

// Share returns another owner of b's readable bytes: an owned Buffer with the same bytes and
// the same memory, which nobody copies. It is how one body becomes part of many messages:
//
//	message := buffer.Compose(header, body.Share())
//
// Each of the Buffers is read, split, handed on and closed on its own, in any order and on any
// goroutine; the memory goes back when the last is closed. Each may be written to as well,
// without the others seeing it: b keeps its room, and a Buffer without room moves to memory
// of its own, which copies what it has. What is shared must not be changed in place by
// anybody: not by SetUint8At and its like, not through a view.
//
// The first Share of a Buffer changes it, so only its owner may call it. After that several
// goroutines may call Share at the same time, as long as none does anything else with b.
func (b *Buffer) Share() *Buffer {
	if b.data == nil {
		panic(b.closedError())
	}
	s := newStruct(b.memory())
	if b.rest > 0 {
		b.shareParts(s)
	} else {
		b.window().shareMemory(s)
		s.data = s.data[len(s.data)-(len(b.data)-b.r):]
	}
	if b.ext != nil && b.ext.leak != nil {
		s.inheritTracker(b, "Share")
	}
	return s
}

// window returns the contiguous Buffer that the reader stands in: b, or a part of it.
func (b *Buffer) window() *Buffer {
	if b.isComposite() {
		return b.ext.parts[b.ext.cur]
	}
	return b
}

// shareMemory makes s an owner of the readable bytes of a contiguous b.
func (b *Buffer) shareMemory(s *Buffer) {
	if b.blk == nil {
		b.blk = heapShared
	}
	b.blk.retainShared()
	s.blk = b.blk
	s.data = b.data[b.r:len(b.data):len(b.data)]
}

// shareParts makes s an owner of the readable bytes of a composite b, which lie in more than
// one part.
func (b *Buffer) shareParts(s *Buffer) {
	s.ext = extras.Get().(*extra)
	s.ext.parts = s.ext.inline[:0]
	for i, p := range b.ext.parts[b.ext.cur:] {
		read := 0
		if i == 0 {
			read = b.r
		}
		if p.Len() == read {
			continue // it is read, or the room at the end
		}
		sp := newStruct(p.blk)
		p.shareMemory(sp)
		sp.data = sp.data[read:]
		s.ext.parts = append(s.ext.parts, sp)
	}
	s.restart(b.Len())
	s.collapse()
}

// shared reports whether others may have the bytes of a contiguous b.
func (b *Buffer) shared() bool {
	blk := b.blk
	if blk == nil {
		return false
	}
	refs := blk.refs.Load()
	return refs&sharedBit != 0 && refs != 1|sharedBit
}
