package buffer

import "sync/atomic"

// Stats are an allocator's figures. Those of a Cache's owner may be up to a few hundred
// allocations old when another goroutine asks while the owner is at work; Trim brings them
// up to date. Figures of different classes are not read at one instant.
type Stats struct {
	Kind      Kind         `json:"kind"`
	Allocs    uint64       `json:"allocs"`    // Buffers handed out
	Frees     uint64       `json:"frees"`     // Buffers given back, the last of those sharing memory counting
	Used      int64        `json:"used"`      // bytes of memory handed out and not given back
	Cached    int64        `json:"cached"`    // bytes kept for reuse, ready to be handed out
	Reserved  int64        `json:"reserved"`  // bytes taken from the system or the Go heap, without Over
	Limit     int64        `json:"limit"`     // bound of Reserved in bytes; 0 is none
	Arenas    int          `json:"arenas"`    // shared pools behind the caches: 1, or 0 if nothing is pooled
	Caches    int          `json:"caches"`    // bound caches
	Chunks    int          `json:"chunks"`    // pieces of 1 MiB that pooled memory is cut from
	Empty     int          `json:"empty"`     // chunks of those with nothing in use
	Returned  uint64       `json:"returned"`  // chunks given back to the system or the garbage collector
	Recovered uint64       `json:"recovered"` // pooled Buffers that were leaked and came back to the pool
	Own       ClassStats   `json:"own"`       // memory that isn't pooled: larger than every class, or an unpooled allocator's
	Over      ClassStats   `json:"over"`      // memory from the Go heap because of the limit, or because the system refused
	Classes   []ClassStats `json:"classes"`   // every size class, in rising order
}

// ClassStats are the figures of one size class.
type ClassStats struct {
	Size   int    `json:"size"`   // bytes of one Buffer; 0 where each has its own
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

// ownCounts counts memory that isn't pooled.
type ownCounts struct {
	allocs, frees atomic.Uint64
	bytes         atomic.Int64
}

func (o *ownCounts) allocated(n int) {
	o.allocs.Add(1)
	o.bytes.Add(int64(n))
}

func (o *ownCounts) freed(n int) {
	o.frees.Add(1)
	o.bytes.Add(-int64(n))
}

func (o *ownCounts) stats() ClassStats {
	return ClassStats{Allocs: o.allocs.Load(), Frees: o.frees.Load(), Used: o.bytes.Load()}
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
	s := Stats{Kind: c.pool.kind(), Classes: newClassStats()}
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
	s := Stats{Kind: p.kind(), Classes: newClassStats(), Limit: p.limit}
	if !p.unpooled {
		s.Arenas = 1
	}
	p.cachesMu.Lock()
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
	p.cachesMu.Unlock()
	p.arena.addTo(&s)
	s.Own, s.Over = p.own.stats(), p.over.stats()
	s.sum()
	return s
}

func (a *arena) addTo(s *Stats) {
	s.Reserved = a.reserved.Load()
	a.mu.Lock()
	defer a.mu.Unlock()
	s.Chunks, s.Empty = a.chunks, len(a.empty)
	s.Returned, s.Recovered = a.returned, a.recovered
	for k := range s.Classes {
		h := &a.shelves[k]
		s.Classes[k].add(h.allocs, h.frees, int64(h.ready))
	}
}

func newClassStats() []ClassStats {
	classes := make([]ClassStats, numClasses)
	for k := range classes {
		classes[k].Size = classSizes[k]
	}
	return classes
}

func (c *Cache) addTo(classes []ClassStats) {
	for k := range c.published {
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
	s.Allocs, s.Frees, s.Used = s.Own.Allocs+s.Over.Allocs, s.Own.Frees+s.Over.Frees, s.Own.Used+s.Over.Used
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
