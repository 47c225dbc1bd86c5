package buffer

import (
	"runtime"
	"sync"
	"weak"

	"millrace.dev/internal/limit"
)

// Allocator hands out Buffers. Its methods may be called on any goroutine.
type Allocator interface {
	// Allocate returns an empty Buffer with room for at least capacity bytes. The memory
	// isn't zeroed. The caller closes the Buffer. It panics with ErrOutOfRange when
	// capacity is negative, or more than any memory has.
	Allocate(capacity int) *Buffer
	// Stats returns the allocator's figures.
	Stats() Stats
}

var (
	_ Allocator = (*Pooled)(nil)
	_ Allocator = (*Cache)(nil)
)

// PooledOptions configure NewPooled. The zero value is a good default.
type PooledOptions struct {
	// OffHeap takes memory from the system instead of from the Go heap: the garbage collector
	// doesn't count it, so that it neither runs more often nor lets more garbage gather.
	OffHeap bool
	// CacheBytes bounds the memory that a Cache keeps of each size class, in bytes. 0 means
	// 256 KiB; negative means that caches keep nothing.
	CacheBytes int
	// SharedBytes bounds the memory that the shared pool keeps although it could give it
	// back, in bytes: of slabs that have no slot in use, and likewise of chunks that have no
	// slab. 0 means 64 MiB; negative means none.
	SharedBytes int
	// Limit bounds what the allocator takes from the system or the Go heap, in bytes: all
	// chunks, and memory of Buffers that are larger than every size class. What is asked for
	// beyond it comes from the Go heap, is not kept, and is counted as Stats.Over: load makes a
	// limited allocator slower, but it never fails. 0 means no limit. Less than a chunk, 1 MiB,
	// leaves nothing to pool.
	Limit int64
}

const (
	defaultCacheBytes  = 256 << 10
	defaultSharedBytes = 64 << 20
)

// Pooled is an allocator that keeps the memory of closed Buffers of up to 512 KiB for reuse,
// by size class; larger ones have memory of their own, which goes back at Close (where that
// unmaps it, a view that is used after Close crashes the program). It is the shared pool of the
// Caches made from it, which keep up to 64 KiB, and an Allocator itself. All methods may be
// called on any goroutine.
//
// A Buffer that is leaked costs its memory until the garbage collector has found it
// unreachable; a view of it (Readable) must not be used any longer than the Buffer. A view
// that is used after Close shows what others write, but is never outside of mapped memory
// while the Buffer was of a size class.
type Pooled struct {
	arena
	cacheBytes int
	unpooled   bool
	self       weak.Pointer[Pooled]
	own        ownCounts // memory that isn't kept for reuse
	over       ownCounts // memory beyond the limit

	cachesMu sync.Mutex
	caches   map[*Cache]struct{}   // those bound now
	retired  [numClasses]countPair // what caches counted that were unbound
}

// NewPooled returns a pooled allocator.
func NewPooled(o PooledOptions) *Pooled {
	p := newPooled(o)
	trimAfterGC(p.self)
	return p
}

// newPooled is NewPooled without trimming by itself.
func newPooled(o PooledOptions) *Pooled {
	p := &Pooled{
		cacheBytes: limit.Effective(o.CacheBytes, defaultCacheBytes, 0),
		caches:     map[*Cache]struct{}{},
	}
	p.offHeap, p.limit = o.OffHeap, max(o.Limit, 0)
	p.spareBytes = limit.Effective(o.SharedBytes, defaultSharedBytes, 0)
	p.self = weak.Make(p)
	return p
}

func (p *Pooled) kind() Kind {
	switch {
	case p.unpooled && p.offHeap:
		return UnpooledOffHeap
	case p.unpooled:
		return UnpooledHeap
	case p.offHeap:
		return PooledOffHeap
	}
	return PooledHeap
}

// Allocate implements Allocator.
func (p *Pooled) Allocate(capacity int) *Buffer { return sampled(p.allocate(capacity), 3) }

// allocate is Allocate without the leak detector.
func (p *Pooled) allocate(capacity int) *Buffer {
	if uint(capacity) > maxCapacity {
		panic(&rangeError{"Allocate", capacity, maxCapacity})
	}
	if p.unpooled || capacity > maxClassSize {
		return p.allocateOwn(capacity)
	}
	k := classOf(capacity)
	p.mu.Lock()
	b := p.takeSlot(k)
	if b != nil {
		p.shelves[k].allocs++
	}
	p.unlock()
	if b == nil {
		return p.allocateOver(capacity)
	}
	return b.open()
}

// put takes back a Buffer, closed but for its block, on any goroutine.
func (p *Pooled) put(b *Buffer) {
	p.mu.Lock()
	p.shelves[b.blk.class].frees++
	p.putSlot(b)
	p.unlock()
}

// adopt takes over Buffers from a cache, linked by next from first on, which has counted them
// as given back.
func (p *Pooled) adopt(first *Buffer) {
	p.mu.Lock()
	for b := first; b != nil; {
		next := b.next
		p.putSlot(b)
		b = next
	}
	p.unlock()
}

// take gives up to n Buffers of class k, at least one, to cache c, linked by next; none if
// the pool has come to its limit.
func (p *Pooled) take(k int, c *Cache, n int32) (first *Buffer, got int32) {
	p.mu.Lock()
	for got < max(n, 1) {
		if got > 0 && p.shelves[k].ready == 0 {
			break // the first is needed, more are only welcome
		}
		b := p.takeSlot(k)
		if b == nil {
			break
		}
		b.blk.home = c
		b.next = first
		first = b
		got++
	}
	p.unlock()
	return first, got
}

// trimAfterGC makes Trim run after every garbage collection, as long as the pool is in use:
// what it attaches the cleanup to is garbage at once.
func trimAfterGC(p weak.Pointer[Pooled]) {
	runtime.AddCleanup(new([4]*Pooled), func(p weak.Pointer[Pooled]) {
		if pool := p.Value(); pool != nil {
			pool.Trim()
			trimAfterGC(p)
		}
	}, p)
}

// enter makes c count among the bound caches.
func (p *Pooled) enter(c *Cache) {
	p.cachesMu.Lock()
	p.caches[c] = struct{}{}
	p.cachesMu.Unlock()
}

// leave ends that; what c counted is kept.
func (p *Pooled) leave(c *Cache) {
	p.cachesMu.Lock()
	defer p.cachesMu.Unlock()
	delete(p.caches, c)
	for k := range c.lists {
		l := &c.lists[k]
		p.retired[k].allocs += l.allocs
		p.retired[k].frees += l.frees()
		l.allocs, l.moved = 0, 0
	}
	c.publish()
}
