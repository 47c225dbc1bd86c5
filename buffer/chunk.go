package buffer

import (
	"math/bits"
	"runtime"
)

const (
	pageSize   = 8 << 10
	chunkPages = 128
	chunkSize  = chunkPages * pageSize // 1 MiB
)

// chunk is a large piece of memory, which an arena cuts into runs of pages.
type chunk struct {
	mem     []byte
	free    int     // bytes in pages that no run has
	pages   bitmap  // of the pages that a run has
	band    int     // the chunk list that it is in
	at      int     // where in that list
	slabs   []*slab // those that lie in it: keeps full ones, which no other list has, in memory
	offHeap bool
	cleanup runtime.Cleanup // of memory outside of the heap
}

// newChunk returns a chunk, all of it free, or nil when the system refuses.
func newChunk(offHeap bool) *chunk {
	c := &chunk{offHeap: offHeap, free: chunkSize, slabs: make([]*slab, chunkPages)}
	if !offHeap {
		c.mem = make([]byte, chunkSize)
		return c
	}
	if c.mem = takeRegion(); c.mem == nil {
		return nil
	}
	// For pools that become garbage: a chunk does only when none of its Buffers is open.
	c.cleanup = runtime.AddCleanup(c, giveRegion, c.mem)
	return c
}

// drop gives the memory of a chunk back that is all free.
func (c *chunk) drop() {
	if c.offHeap {
		c.cleanup.Stop()
		giveRegion(c.mem)
		runtime.KeepAlive(c)
	}
	c.mem = nil
}

// take takes n pages from page on, which are free.
func (c *chunk) take(page, n int) {
	c.pages.flip(page, n)
	c.free -= n * pageSize
}

// give takes n pages back.
func (c *chunk) give(page, n int) {
	c.pages.flip(page, n)
	c.free += n * pageSize
}

// bitmap has a bit for each page of a chunk.
type bitmap struct{ low, high uint64 }

// bestHole returns where the smallest hole of at least n zeros begins and how long it is;
// without one, a length of more than all.
func (m bitmap) bestHole(n int) (page, length int) {
	length = chunkPages + 1
	for at := 0; at < chunkPages; {
		at += m.from(at).ones()
		k := bitmap{^m.low, ^m.high}.from(at).ones()
		if k >= n && k < length {
			page, length = at, k
			if k == n {
				break
			}
		}
		at += k
	}
	return page, length
}

// from returns the bits from i on, followed by zeros.
func (m bitmap) from(i int) bitmap {
	if i >= 64 {
		return bitmap{low: m.high >> (i - 64)}
	}
	return bitmap{m.low>>i | m.high<<(64-i), m.high >> i}
}

// ones returns how many ones there are before the first zero.
func (m bitmap) ones() int {
	if m.low == ^uint64(0) {
		return 64 + bits.TrailingZeros64(^m.high)
	}
	return bits.TrailingZeros64(^m.low)
}

// flip changes n bits from page on.
func (m *bitmap) flip(page, n int) {
	ones := func(n int) uint64 { return ^uint64(0) >> (64 - n) } // none for 0: Go shifts it all out
	if page < 64 {
		k := min(n, 64-page)
		m.low ^= ones(k) << page
		page, n = 64, n-k
	}
	m.high ^= ones(n) << (page - 64)
}
