package buffer

import (
	"math/rand/v2"
	"sync/atomic"

	"millrace.dev/internal/goid"
)

// Cache is the allocator of one goroutine, typically an event loop: while it is bound,
// Allocate and Close there take no lock and no atomic read-modify-write. On any other
// goroutine, and while unbound, Allocate falls back to the shared pool. Buffers may be
// closed anywhere: their memory finds its way back to the cache that it came from.
type Cache struct {
	owner  atomic.Uintptr // goid of the bound goroutine, 0 when unbound
	dice   uint64         // drawn at every allocation: see roll
	spare  *Buffer        // structs that hold nothing, linked by next
	spares int
	pool   *Pooled
	lists  [cachedClasses]freeList

	_ [64]byte // what other goroutines write to lies on cache lines of its own

	// returned is a stack of Buffers that other goroutines closed, linked by next; the
	// owner takes all of it at once, so there is no ABA. unboundMark closes it.
	returned      atomic.Pointer[Buffer]
	returnedBytes atomic.Int64

	_ [64]byte

	published [cachedClasses]publishedCounts
}

// freeList holds the free Buffers of one size class of a Cache. Only the owner uses it.
type freeList struct {
	head   *Buffer // linked by next
	n, max int32
	allocs uint64 // Buffers handed out here
	moved  uint64 // Buffers that came from the shared pool less those that went there
}

// frees returns how many Buffers were given back here. It follows from the rest, so that
// Close has one counter less to keep.
func (l *freeList) frees() uint64 { return uint64(l.n) + l.allocs - l.moved }

// unboundMark as the head of Cache.returned says that nobody will look there.
var unboundMark = new(Buffer)

// maxReturned bounds the bytes that wait in Cache.returned for an owner that may sleep; what
// is above goes to the shared pool.
const maxReturned = 1 << 20

// NewCache returns an unbound cache over the shared pool p.
func (p *Pooled) NewCache() *Cache {
	c := &Cache{pool: p, dice: rand.Uint64()}
	for k := range c.lists {
		c.lists[k].max = int32(p.cacheBytes / classSizes[k])
		if p.cacheBytes > 0 && c.lists[k].max == 0 {
			c.lists[k].max = 1
		}
	}
	c.returned.Store(unboundMark)
	return c
}

// Bind makes the calling goroutine the owner of the cache. The goroutine must call Unbind
// before it ends. It panics when the cache has an owner.
func (c *Cache) Bind() {
	if !c.owner.CompareAndSwap(0, goid.Current()) {
		panic("buffer: Cache.Bind: the cache is bound already")
	}
	c.returned.Store(nil)
	c.pool.enter(c)
}

// Unbind ends the ownership and returns everything that the cache holds to the shared pool.
// Buffers that are still out return there too. Only the owner may call it, else it panics.
func (c *Cache) Unbind() {
	c.mustOwn("Unbind")
	c.takeIn(c.returned.Swap(unboundMark))
	for k := range c.lists {
		c.spill(&c.lists[k], 0)
	}
	c.spare, c.spares = nil, 0
	c.pool.leave(c)
	c.owner.Store(0)
}

// Trim gives everything that the cache keeps to the shared pool, where other caches find it,
// and brings the published figures up to date. A loop that has nothing to do calls it before
// it sleeps for long. Only the owner may call it, else it panics.
func (c *Cache) Trim() {
	c.mustOwn("Trim")
	c.drain()
	for k := range c.lists {
		c.spill(&c.lists[k], 0)
	}
	c.publish()
}

// Allocate implements Allocator.
func (c *Cache) Allocate(capacity int) *Buffer {
	if g := goid.Current(); c.owner.Load() != g {
		return c.allocateSlow(capacity)
	}
	if uint(capacity) > maxCachedSize {
		return c.allocateSlow(capacity)
	}
	l := &c.lists[cachedClassOf(capacity)]
	b := l.head
	if b == nil {
		return c.allocateSlow(capacity)
	}
	l.n--
	l.allocs++
	dice := roll(c.dice)
	c.dice = dice
	// A next left in place would keep a leaked Buffer reachable.
	l.head, b.next, b.data = b.next, nil, b.blk.mem
	if dice&pollMask.Load() == 0 {
		return c.poll(b, 3)
	}
	return b
}

func (c *Cache) allocateSlow(capacity int) *Buffer {
	if !c.onOwner() || uint(capacity) > maxCachedSize {
		return sampled(c.pool.allocate(capacity), 4)
	}
	b := c.allocate(capacity)
	if c.dice = roll(c.dice); c.dice&pollMask.Load() == 0 {
		return c.poll(b, 4)
	}
	return b
}

// poll is what the owner does once in a while: publish the figures, pick a Buffer for the
// leak detector.
func (c *Cache) poll(b *Buffer, skip int) *Buffer {
	if c.dice&publishMask == 0 {
		c.publish()
	}
	if picked(c.dice) {
		b.track(skip)
	}
	return b
}

// allocate is Allocate without the leak detector.
func (c *Cache) allocate(capacity int) *Buffer {
	if !c.onOwner() || uint(capacity) > maxCachedSize {
		return c.pool.allocate(capacity)
	}
	k := cachedClassOf(capacity)
	l := &c.lists[k]
	if l.head == nil {
		c.drain()
	}
	if l.head == nil {
		l.head, l.n = c.pool.take(k, c, min(l.max, maxRefill, int32(refillBytes/classSizes[k])))
		l.moved += uint64(l.n)
	}
	b := l.head
	if b == nil {
		return c.pool.allocateOver(capacity)
	}
	l.allocs++
	l.head = b.next
	l.n--
	b.next = nil
	return b.open()
}

// What a cache takes from the shared pool at a time, so that many Buffers share the cost of
// its lock: up to refillBytes bytes and maxRefill Buffers, and at least one.
const (
	refillBytes = 64 << 10
	maxRefill   = 64
)

// maxSpill bounds the Buffers that a full cache moves to the shared pool at a time, and with
// them how long it holds its lock.
const maxSpill = 256

// put takes back a Buffer that is closed but for its block. Owner only.
func (c *Cache) put(b *Buffer) {
	k := int(b.blk.class)
	l := &c.lists[k]
	if l.n >= l.max {
		if l.max == 0 {
			b.next = nil
			l.moved--
			c.pool.adopt(b)
			return
		}
		c.spill(l, max(l.max/2, l.max-maxSpill))
	}
	b.next = l.head
	l.head = b
	l.n++
}

// spill moves all but keep of the Buffers in l to the shared pool.
func (c *Cache) spill(l *freeList, keep int32) {
	if l.n <= keep {
		return
	}
	n := l.n - keep
	first := l.head
	last := first
	for range n - 1 {
		last = last.next
	}
	l.head, l.n = last.next, keep
	l.moved -= uint64(n)
	last.next = nil
	c.pool.adopt(first)
}

// give returns a Buffer, closed but for its block, from a goroutine other than the owner.
// It reports false when the cache won't have it.
func (c *Cache) give(b *Buffer) bool {
	size := int64(cap(b.blk.mem))
	if c.returnedBytes.Add(size) > maxReturned {
		c.returnedBytes.Add(-size)
		return false
	}
	for {
		head := c.returned.Load()
		if head == unboundMark {
			c.returnedBytes.Add(-size)
			return false
		}
		b.next = head
		if c.returned.CompareAndSwap(head, b) {
			return true
		}
	}
}

// drain takes in what other goroutines returned. Owner only.
func (c *Cache) drain() {
	if c.returned.Load() != nil {
		c.takeIn(c.returned.Swap(nil))
	}
}

func (c *Cache) takeIn(b *Buffer) {
	var bytes int64
	for b != nil {
		next := b.next
		bytes += int64(cap(b.blk.mem))
		c.put(b)
		b = next
	}
	if bytes > 0 {
		c.returnedBytes.Add(-bytes)
	}
}

func (c *Cache) onOwner() bool { return c.owner.Load() == goid.Current() }

func (c *Cache) mustOwn(op string) {
	if !c.onOwner() {
		panic("buffer: Cache." + op + " on a goroutine that the cache isn't bound to")
	}
}
