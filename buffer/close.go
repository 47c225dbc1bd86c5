package buffer

import "millrace.dev/internal/goid"

// Close ends the ownership of b: its memory goes back to where it came from once no other
// Buffer shares it, a composite's parts are closed. Any goroutine may call it, once: a
// second Close panics with ErrClosed (below leak level Advanced only until the struct has
// been handed out again).
func (b *Buffer) Close() {
	// The common case: memory of the cache that belongs to this goroutine, shared with
	// nobody. A refs of 1 is this Buffer's own, so that no other goroutine can raise it.
	// One test to an if: joined by && the compiler builds a truth value of each.
	g := goid.Current()
	blk := b.blk
	if blk == nil || b.ext != nil || b.data == nil {
		b.closeSlow()
		return
	}
	if blk.refs.Load() != 1 {
		b.closeSlow()
		return
	}
	c := blk.home
	if c == nil {
		b.closeSlow()
		return
	}
	if c.owner.Load() != g {
		b.closeSlow()
		return
	}
	l := &c.lists[blk.class]
	if l.n >= l.max || keepClosed.Load() {
		b.closeSlow()
		return
	}
	l.n++
	b.r = 0
	b.data, b.next, l.head = nil, l.head, b
}

func (b *Buffer) closeSlow() {
	if b.data == nil {
		panic(b.closedError())
	}
	s := b.untrack()
	if b.isComposite() {
		for _, p := range b.ext.parts {
			p.Close()
		}
		b.dropParts()
	}
	if s != nil {
		if keepClosed.Load() {
			b.rememberClosed(s.alloc, "Close", 3)
		}
		s.drop()
	}
	b.release()
}

// release gives up the memory and the struct of a Buffer that isn't composite.
func (b *Buffer) release() {
	blk := b.blk
	b.data, b.r, b.rest = nil, 0, 0
	if blk == nil {
		recycle(b, nil)
		return
	}
	home := blk.home // not after the release: then the block is another's
	if !blk.release() {
		b.blk = nil
		recycle(b, home)
		return
	}
	if blk.class < 0 {
		blk.pool.freed(blk)
		b.blk = nil
		recycle(b, nil)
		return
	}
	if keepClosed.Load() || b.ext != nil {
		b.blk = nil
		b = &Buffer{blk: blk}
		poison(blk.mem)
	}
	switch {
	case home == nil:
		blk.pool.put(b)
	case home.onOwner():
		home.put(b)
	case !home.give(b):
		blk.pool.put(b)
	}
}

// vacate retires the struct of a Buffer whose content has moved to another.
func (b *Buffer) vacate() {
	var home *Cache
	if b.blk != nil {
		home = b.blk.home
	}
	b.data, b.blk = nil, nil
	b.r, b.rest = 0, 0
	recycle(b, home)
}

// handOver makes b unusable for its former owner, and returns the Buffer that the new owner
// goes on with: below leak level Advanced that is b itself. op is the call that b went to,
// skip how far up the stack its caller is, where 1 is handOver's caller.
func (b *Buffer) handOver(op string, skip int) *Buffer {
	if !keepClosed.Load() {
		return b
	}
	to := new(Buffer)
	to.data, to.r, to.rest, to.blk, to.ext = b.data, b.r, b.rest, b.blk, b.ext
	b.data, b.r, b.rest, b.blk, b.ext = nil, 0, 0, nil, nil
	if to.ext != nil && to.ext.leak != nil {
		b.rememberClosed(to.ext.leak.alloc, op, skip+1)
	}
	return to
}

// sibling returns an empty Buffer from the allocator that b's memory came from, not
// followed by the leak detector.
func (b *Buffer) sibling(n int) *Buffer {
	switch blk := b.blk; {
	case blk == nil || blk.class == plainHeap:
		t := takeStruct()
		t.data = make([]byte, 0, n)
		return t
	case blk.home != nil:
		return blk.home.allocate(n)
	default:
		return blk.pool.allocate(n)
	}
}
