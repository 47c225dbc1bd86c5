package buffer

// Split gives the left part of b away: the bytes already read and the next n readable
// ones. The result is an owned Buffer with n readable bytes, which shares the memory and,
// unless b is composite, has no room; the caller closes it, or hands it on. b keeps the rest
// with its indexes started anew. The memory goes back when the last Buffer that shares it is closed, each
// on whatever goroutine: who keeps a few bytes for long copies them instead. It panics with ErrOutOfRange when fewer than n bytes are readable.
func (b *Buffer) Split(n int) *Buffer {
	if uint(n) > uint(b.Len()) {
		b.refuse("Split", n, b.Len())
	}
	left := newStruct(b.memory())
	if b.isComposite() {
		b.splitParts(left, n)
	} else {
		b.splitMemory(left, n)
	}
	if b.ext != nil && b.ext.leak != nil {
		left.inheritTracker(b, "Split")
	}
	return left
}

// splitMemory splits a contiguous b.
func (b *Buffer) splitMemory(left *Buffer, n int) {
	end := b.r + n
	left.data = b.data[:end:end]
	left.r = b.r
	if b.blk != nil {
		left.blk = b.blk
		b.blk.retain()
	}
	b.data = b.data[end:]
	b.r = 0
}

// splitParts splits a composite: whole parts move, and the one that the cut goes through
// is split itself. Its right side may be empty; then b keeps it for its room.
func (b *Buffer) splitParts(left *Buffer, n int) {
	x := b.ext
	at, remain := b.ReaderIndex(), b.Len()-n
	cut := at + n
	i := 0
	for ; i < len(x.parts)-1 && cut >= x.parts[i].Len(); i++ {
		cut -= x.parts[i].Len()
	}
	left.ext = extras.Get().(*extra)
	lx := left.ext
	lx.parts = append(lx.inline[:0], x.parts[:i]...)
	if cut > 0 || i == 0 {
		p := x.parts[i]
		lp := newStruct(p.blk)
		p.splitMemory(lp, cut)
		lx.parts = append(lx.parts, lp)
	}
	x.drop(i)
	left.restart(at + n)
	left.seek(at)
	left.collapse()
	b.restart(remain)
	b.collapse()
}

// memory returns the block of the Buffer, or of a composite's last part; or nil.
func (b *Buffer) memory() *block {
	if b.isComposite() {
		return b.last().blk
	}
	return b.blk
}
