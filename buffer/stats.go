package buffer

import "sync/atomic"

// Stats are an allocator's figures. Those of a Cache's owner may be up to a few hundred
// allocations old when another goroutine asks while the owner is at work; Trim brings them
// up to date. Figures of different classes are not read at one instant.
type Stats struct {
	Allocs  uint64       `json:"allocs"`  // Buffers handed out
	Frees   uint64       `json:"frees"`   // Buffers given back, the last of those sharing memory counting
	Used    int64        `json:"used"`    // bytes of memory handed out and not given back
	Cached  int64        `json:"cached"`  // bytes kept for reuse
	Caches  int          `json:"caches"`  // bound caches
	Heap    ClassStats   `json:"heap"`    // memory that isn't pooled: larger than every class, or an unpooled allocator's
	Classes []ClassStats `json:"classes"` // every size class, in rising order
}

// ClassStats are the figures of one size class.
type ClassStats struct {
	Size   int    `json:"size"`   // bytes of one Buffer; 0 for the heap
	Allocs uint64 `json:"allocs"` // Buffers handed out
	Frees  uint64 `json:"frees"`  // Buffers given back
	Used   int64  `json:"used"`   // bytes handed out and not given back
	Cached int64  `json:"cached"` // bytes kept for reuse
}

type countPair struct{ allocs, frees uint64 }

// publishedCounts is what other goroutines see of a freeList.
type publishedCounts struct {
	allocs, frees atomic.Uint64
	n             atomic.Int64
}

// heapCounts counts memory that isn't pooled.
type heapCounts struct {
	allocs, frees atomic.Uint64
	bytes         atomic.Int64
}

func (h *heapCounts) allocated(n int) {
	h.allocs.Add(1)
	h.bytes.Add(int64(n))
}

func (p *Pooled) heapFreed(blk *block) {
	p.heap.frees.Add(1)
	p.heap.bytes.Add(-int64(cap(blk.mem)))
}

// publish shows the owner's counters to other goroutines. Stores cost more than loads, and
// most classes haven't changed.
func (c *Cache) publish() {
	for k := range c.lists {
		l, p := &c.lists[k], &c.published[k]
		if p.allocs.Load() != l.allocs {
			p.allocs.Store(l.allocs)
		}
		if f := l.frees(); p.frees.Load() != f {
			p.frees.Store(f)
		}
		if p.n.Load() != int64(l.n) {
			p.n.Store(int64(l.n))
		}
	}
}

// Stats implements Allocator. The figures are those of this cache alone, and without what
// it had allocated on other goroutines.
func (c *Cache) Stats() Stats {
	s := Stats{Classes: newClassStats()}
	if c.onOwner() {
		c.drain()
		c.publish()
		s.Caches = 1
	} else if c.owner.Load() != 0 {
		s.Caches = 1
	}
	c.addTo(s.Classes)
	s.sum()
	return s
}

// Stats implements Allocator. The figures cover the shared pool and all of its caches.
func (p *Pooled) Stats() Stats {
	s := Stats{Classes: newClassStats()}
	p.mu.Lock()
	s.Caches = len(p.caches)
	for c := range p.caches {
		if c.onOwner() {
			c.drain()
			c.publish()
		}
		c.addTo(s.Classes)
	}
	for k := range s.Classes {
		s.Classes[k].add(p.retired[k].allocs, p.retired[k].frees, 0)
	}
	p.mu.Unlock()
	for k := range s.Classes {
		l := &p.lists[k]
		l.mu.Lock()
		s.Classes[k].add(l.allocs, l.frees, int64(l.n))
		l.mu.Unlock()
	}
	s.Heap.Allocs, s.Heap.Frees = p.heap.allocs.Load(), p.heap.frees.Load()
	s.Heap.Used = p.heap.bytes.Load()
	s.sum()
	return s
}

func newClassStats() []ClassStats {
	classes := make([]ClassStats, numClasses)
	for k := range classes {
		classes[k].Size = classSizes[k]
	}
	return classes
}

func (c *Cache) addTo(classes []ClassStats) {
	for k := range classes {
		p := &c.published[k]
		classes[k].add(p.allocs.Load(), p.frees.Load(), p.n.Load())
	}
}

func (s *ClassStats) add(allocs, frees uint64, cached int64) {
	s.Allocs += allocs
	s.Frees += frees
	s.Cached += cached * int64(s.Size)
}

// sum fills in what follows from the counts.
func (s *Stats) sum() {
	s.Allocs, s.Frees, s.Used = s.Heap.Allocs, s.Heap.Frees, s.Heap.Used
	for k := range s.Classes {
		c := &s.Classes[k]
		// Allocated in a cache that hasn't published yet and given back elsewhere, it
		// would be less than nothing.
		c.Used = max(0, int64(c.Allocs-c.Frees)) * int64(c.Size)
		s.Allocs += c.Allocs
		s.Frees += c.Frees
		s.Used += c.Used
		s.Cached += c.Cached
	}
}
