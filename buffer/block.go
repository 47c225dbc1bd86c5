package buffer

import "sync/atomic"

// block is the header of a piece of memory that an allocator accounts for: who shares it,
// and where it goes when nobody does any more.
//
// A free block travels together with a Buffer struct that is closed but for its blk field,
// so that allocating is one pop and no assembling.
type block struct {
	mem   []byte       // all of it, empty: mem[:0:size]
	home  *Cache       // the cache that it goes back to; nil: the shared pool
	pool  *Pooled      // whose figures count it
	refs  atomic.Int32 // Buffers that share mem; 1 while the block is free
	class int32        // size class, or fromHeap
}

// fromHeap is the class of blocks that are not kept for reuse.
const fromHeap = -1

// newBlock returns a Buffer with n bytes of new memory, closed but for its blk field. A
// source of memory other than the Go heap would come in here.
func newBlock(p *Pooled, home *Cache, class int32, n int) *Buffer {
	blk := &block{mem: make([]byte, 0, n), home: home, pool: p, class: class}
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
