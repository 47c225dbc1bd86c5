package buffer

import (
	"runtime"
	"sync"
	"sync/atomic"
	"weak"
)

// Allocator hands out Buffers. Its methods may be called on any goroutine.
type Allocator interface {
	// Allocate returns an empty Buffer with room for at least capacity bytes. The memory
	// isn't zeroed. The caller closes the Buffer. It panics with ErrOutOfRange when
	// capacity is negative.
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
	// CacheBytes bounds the memory that a Cache keeps of each size class, in bytes. 0 means
	// 256 KiB; negative means that caches keep nothing.
	CacheBytes int
	// SharedBytes bounds the memory that the shared pool keeps in all, in bytes; what comes
	// back above it is left to the garbage collector. 0 means 64 MiB; negative means none.
	SharedBytes int
}

const (
	defaultCacheBytes  = 256 << 10
	defaultSharedBytes = 64 << 20
)

// Pooled is an allocator that keeps the memory of closed Buffers of up to 64 KiB for reuse,
// by size class; larger ones come from the Go heap and go back to it. It is the shared pool
// of the Caches made from it, and an Allocator itself. All methods may be called on any
// goroutine.
type Pooled struct {
	cacheBytes  int
	sharedBytes int64
	unpooled    bool
	held        atomic.Int64 // bytes that the shared lists keep
	lists       [numClasses]sharedList
	heap        heapCounts

	mu      sync.Mutex
	caches  map[*Cache]struct{}   // those bound now
	retired [numClasses]countPair // what caches counted that were unbound
}

// sharedList holds the free Buffers of one size class. They have no home.
type sharedList struct {
	mu            sync.Mutex
	head          *Buffer // linked by next
	n             int
	allocs, frees uint64 // by goroutines without a cache
	wanted        uint64 // Buffers taken, or looked for in vain
	trimmed       uint64 // wanted at the last Trim
	_             [8]byte
}

// NewPooled returns a pooled allocator.
func NewPooled(o PooledOptions) *Pooled {
	p := newPooled(o)
	trimAfterGC(weak.Make(p))
	return p
}

// newPooled is NewPooled without trimming by itself.
func newPooled(o PooledOptions) *Pooled {
	return &Pooled{
		cacheBytes:  orDefault(o.CacheBytes, defaultCacheBytes),
		sharedBytes: int64(orDefault(o.SharedBytes, defaultSharedBytes)),
		caches:      map[*Cache]struct{}{},
	}
}

func orDefault(n, def int) int {
	if n == 0 {
		return def
	}
	return max(n, 0)
}

var heapOnly = &Pooled{unpooled: true}

// Unpooled returns the allocator that takes all memory from the Go heap and leaves it to
// the garbage collector. It differs from New in that its Buffers are counted.
func Unpooled() Allocator { return heapOnly }

// Allocate implements Allocator.
func (p *Pooled) Allocate(capacity int) *Buffer { return sampled(p.allocate(capacity), 3) }

// allocate is Allocate without the leak detector.
func (p *Pooled) allocate(capacity int) *Buffer {
	if capacity < 0 {
		panic(&rangeError{"Allocate", capacity, 0})
	}
	if p.unpooled || capacity > maxClassSize {
		p.heap.allocated(capacity)
		return newBlock(p, nil, fromHeap, capacity).open()
	}
	k := classOf(capacity)
	l := &p.lists[k]
	l.mu.Lock()
	l.allocs++
	b := l.pop()
	l.mu.Unlock()
	if b == nil {
		return newBlock(p, nil, int32(k), classSizes[k]).open()
	}
	p.held.Add(-int64(classSizes[k]))
	return b.open()
}

// pop is called with mu held.
func (l *sharedList) pop() *Buffer {
	l.wanted++
	b := l.head
	if b != nil {
		l.head = b.next
		b.next = nil
		l.n--
	}
	return b
}

// put takes back a Buffer, closed but for its block, on any goroutine.
func (p *Pooled) put(b *Buffer) {
	k := int(b.blk.class)
	size := int64(classSizes[k])
	b.blk.home = nil
	l := &p.lists[k]
	keep := p.held.Add(size) <= p.sharedBytes
	l.mu.Lock()
	l.frees++
	if keep {
		b.next = l.head
		l.head = b
		l.n++
	}
	l.mu.Unlock()
	if !keep {
		p.held.Add(-size)
	}
}

// adopt takes over n Buffers of class k from a cache, linked by next from first on, which
// has counted them as given back.
func (p *Pooled) adopt(k int, first *Buffer, n int) {
	size := int64(classSizes[k])
	last := first
	for {
		last.blk.home = nil
		if last.next == nil {
			break
		}
		last = last.next
	}
	if p.held.Add(size*int64(n)) > p.sharedBytes {
		p.held.Add(-size * int64(n))
		return // to the garbage collector
	}
	l := &p.lists[k]
	l.mu.Lock()
	last.next = l.head
	l.head = first
	l.n += n
	l.mu.Unlock()
}

// take gives up to n Buffers of class k to cache c, linked by next.
func (p *Pooled) take(k int, c *Cache, n int32) (*Buffer, int32) {
	l := &p.lists[k]
	l.mu.Lock()
	var first *Buffer
	got := int32(0)
	for got < max(n, 1) {
		b := l.pop()
		if b == nil {
			l.wanted -= uint64(min(got, 1)) // one more would have been welcome, not needed
			break
		}
		b.blk.home = c
		b.next = first
		first = b
		got++
	}
	l.mu.Unlock()
	if got > 0 {
		p.held.Add(-int64(got) * int64(classSizes[k]))
	}
	return first, got
}

// Trim leaves what the shared pool hasn't needed since the last Trim to the garbage
// collector: of each size class it keeps at most as many Buffers as were asked for in
// between. It happens by itself after every garbage collection (an idle program has one
// every two minutes).
func (p *Pooled) Trim() {
	for k := range p.lists {
		l := &p.lists[k]
		l.mu.Lock()
		drop := l.n - int(min(l.wanted-l.trimmed, uint64(l.n)))
		for range drop {
			b := l.head
			l.head = b.next
			b.next = nil
		}
		l.n -= drop
		l.trimmed = l.wanted
		l.mu.Unlock()
		if drop > 0 {
			p.held.Add(-int64(drop) * int64(classSizes[k]))
		}
	}
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
	p.mu.Lock()
	p.caches[c] = struct{}{}
	p.mu.Unlock()
}

// leave ends that; what c counted is kept.
func (p *Pooled) leave(c *Cache) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.caches, c)
	for k := range c.lists {
		l := &c.lists[k]
		p.retired[k].allocs += l.allocs
		p.retired[k].frees += l.frees()
		l.allocs, l.moved = 0, 0
	}
	c.publish()
}
