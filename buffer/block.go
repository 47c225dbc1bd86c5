package buffer

import (
	"runtime"
	"sync/atomic"
)

// block is the header of a piece of memory that an allocator accounts for: who shares it,
// and where it goes when nobody does any more.
//
// A free block travels together with a Buffer struct that is closed but for its blk field,
// so that allocating is one pop and no assembling.
type block struct {
	mem    []byte           // all of it, empty: mem[:0:size]
	home   *Cache           // the cache that it goes back to; nil: the shared pool
	pool   *Pooled          // whose figures count it
	slab   *slab            // the slab that it is cut from, if its class is a size class
	mapped *runtime.Cleanup // of memory that is mapped for this block alone
	refs   atomic.Int32     // Buffers that have a part of mem, and sharedBit; 1 while the block is free
	class  int32            // size class, or one of those below
}

const (
	// ownMemory is the class of blocks that aren't kept for reuse.
	ownMemory = -1 - iota
	// overLimit is that of blocks that came from the Go heap because the allocator has
	// reached its limit, or the system refused memory.
	overLimit
	// plainHeap is that of heapShared.
	plainHeap
)

// sharedBit in block.refs says that Buffers may have the same bytes, not just different parts
// of the memory (Share): none of them may write to what it has. It goes when only one is left.
const sharedBit = 1 << 30

// heapShared stands for the block of all Buffers that share plain heap memory, which needs no
// header of its own: the garbage collector sees to it.
var heapShared = func() *block {
	blk := &block{class: plainHeap}
	blk.refs.Store(2 | sharedBit)
	return blk
}()

// retain counts one Buffer more.
func (blk *block) retain() {
	if blk.class != plainHeap {
		blk.refs.Add(1)
	}
}

// retainShared counts one Buffer more, which has the same bytes.
func (blk *block) retainShared() {
	if blk.class == plainHeap {
		return
	}
	if blk.refs.Add(1)&sharedBit == 0 {
		blk.refs.Or(sharedBit)
	}
}

// release counts one less, and reports whether that was the last. No other goroutine can
// raise a count of one, which is the caller's own.
func (blk *block) release() (last bool) {
	switch {
	case blk.refs.Load() == 1:
		return true
	case blk.class == plainHeap, blk.refs.Add(-1)&^sharedBit > 0:
		return false
	}
	blk.refs.Store(1)
	return true
}

// alone reports whether one Buffer has all of the block.
func (blk *block) alone() bool { return blk.refs.Load()&^sharedBit == 1 }

// newBlock returns a Buffer with that memory, closed but for its blk field.
func newBlock(p *Pooled, class int32, mem []byte) *Buffer {
	blk := &block{mem: mem[:0], pool: p, class: class}
	blk.refs.Store(1)
	b := takeStruct()
	b.blk = blk
	return b
}

// open makes a Buffer from a free list usable.
func (b *Buffer) open() *Buffer {
	b.data = b.blk.mem
	return b
}

// allocateOwn returns a Buffer with n bytes that are not kept for reuse.
func (p *Pooled) allocateOwn(n int) *Buffer {
	if mem := p.ownBytes(n); mem != nil {
		p.own.allocated(cap(mem))
		b := newBlock(p, ownMemory, mem)
		if p.offHeap {
			// Only Close ends a mapping, unless the Buffer is leaked.
			c := runtime.AddCleanup(b.blk, p.unmap, mem)
			b.blk.mapped = &c
		}
		return b.open()
	}
	return p.allocateOver(n)
}

// ownBytes returns nil when the limit is reached or the system refuses.
func (p *Pooled) ownBytes(n int) []byte {
	if !p.offHeap {
		if !p.reserve(int64(n)) {
			return nil
		}
		return make([]byte, n)
	}
	mem := mapPages(n)
	if mem != nil && !p.reserve(int64(len(mem))) {
		unmapMemory(mem)
		return nil
	}
	return mem
}

// allocateOver returns a Buffer with n bytes of the Go heap, where memory of the allocator's
// own kind can't be had.
func (p *Pooled) allocateOver(n int) *Buffer {
	p.over.allocated(n)
	return newBlock(p, overLimit, make([]byte, n)).open()
}

// unmap ends a mapping that a closed or a leaked Buffer had.
func (p *Pooled) unmap(mem []byte) {
	p.reserved.Add(-int64(len(mem)))
	p.own.freed(len(mem))
	unmapMemory(mem)
}

// freed ends a block of its own, which nobody shares any more.
func (p *Pooled) freed(blk *block) {
	n := cap(blk.mem)
	switch {
	case blk.class == overLimit:
		p.over.freed(n)
	case blk.mapped != nil:
		blk.mapped.Stop()
		runtime.KeepAlive(blk) // as long as blk is reachable, Stop comes in time
		p.unmap(blk.mem[:n])
	default:
		p.reserved.Add(-int64(n))
		p.own.freed(n)
	}
}
