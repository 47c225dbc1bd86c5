package buffer

import (
	"sync"
	"sync/atomic"
)

// arena is the memory of a pool: chunks, cut into slabs, cut into slots. It grows by a chunk
// when nothing else is left, and gives back what is not needed: a slab to its chunk once all
// of its slots are free, a chunk to the system (or the garbage collector) once all of its
// pages are. To go to and fro costs more than to wait, so what is free stays until
//
//   - it wasn't needed between one Trim and the next,
//   - there is more of it than PooledOptions.SharedBytes,
//   - or, for slabs, the arena would have to grow and they are a good part of it.
//
// One lock guards all: what passes it comes in batches, from the caches, and with two loops and
// a random mix of sizes an arena for each was no faster. Slots that the Go heap allocates one by
// one, the other way for memory on the heap, were no faster either, and in the end took half of
// the peak more instead of a quarter.
type arena struct {
	offHeap  bool
	limit    int64        // of reserved; 0 is none
	reserved atomic.Int64 // bytes taken from the system: chunks, and memory of its own

	mu             sync.Mutex
	spareBytes     int // of empty slabs, and of empty chunks, that are kept
	shelves        [numClasses]shelf
	lists          chunkLists // the chunks in use
	empty          []*chunk   // those that are all free
	leastEmpty     int        // the fewest since the last Trim
	chunks         int        // all of them
	emptySlabBytes int        // bytes of slabs that are all free
	returned       uint64     // chunks given back
	recovered      uint64     // slots that came back because their Buffer was leaked
	dropped        []*chunk   // what unlock gives to the system
}

// unlock releases mu, and only then gives chunks to the system, which takes a while.
func (a *arena) unlock() {
	dropped := a.dropped
	if len(dropped) > 0 {
		a.dropped = nil
	}
	a.mu.Unlock()
	for _, c := range dropped {
		c.drop()
	}
}

// reserve counts n bytes more, unless that would be above the limit.
func (a *arena) reserve(n int64) bool {
	if all := a.reserved.Add(n); a.limit > 0 && all > a.limit {
		a.reserved.Add(-n)
		return false
	}
	return true
}

// takeSlot returns the header of a free slot of class k; or nil, when there is none and the
// arena can't grow. It is called with mu held, as all that follows.
func (p *Pooled) takeSlot(k int) *Buffer {
	h := &p.shelves[k]
	if len(h.slabs) == 0 && !p.restock(k) {
		return nil
	}
	s := h.slabs[len(h.slabs)-1]
	if s.used == 0 {
		h.empty--
		p.emptySlabBytes -= slabBytes(k)
	}
	s.used++
	if s.used == s.slots {
		h.pop()
	}
	h.free--
	h.least = min(h.least, h.free)
	b := s.free
	if b == nil {
		s.cut++
		return s.header(p, s.cut-1)
	}
	s.free, b.next = b.next, nil
	h.ready--
	return b
}

// putSlot takes a slot's header back.
func (p *Pooled) putSlot(b *Buffer) {
	s := b.blk.slab
	h := &p.shelves[s.class]
	b.blk.home = nil
	b.next, s.free = s.free, b
	h.ready++
	h.free++
	if s.used == s.slots {
		h.add(s)
	}
	s.used--
	if s.used > 0 {
		return
	}
	h.nowEmpty(s)
	p.emptySlabBytes += slabBytes(s.class)
	if p.emptySlabBytes > p.spareBytes {
		p.raze(s.class, p.spareBytes)
	}
}

// restock gives the shelf of class k a new slab.
func (p *Pooled) restock(k int) bool {
	n := slabPages[k]
	c, page := p.lists.find(n)
	if c == nil && p.emptySlabBytes > max(chunkSize/2, int(p.reserved.Load()>>reclaimShift)) {
		for i := range p.shelves {
			for p.shelves[i].empty > 0 {
				p.raze(i, p.spareBytes)
			}
		}
		c, page = p.lists.find(n)
	}
	if c == nil {
		if c = p.freeChunk(); c == nil {
			return false
		}
		p.lists.add(c, lowestBand)
		page = 0
		c.take(page, n)
		p.lists.settle(c)
	}
	s := newSlab(c, page, k)
	h := &p.shelves[k]
	h.add(s)
	h.nowEmpty(s)
	h.free += s.slots
	p.emptySlabBytes += n * pageSize
	return true
}

// reclaimShift says which part of an arena must lie in empty slabs for them to be given up
// before it grows: 1 in 128, and half a chunk at least.
const reclaimShift = 7

// freeChunk returns a chunk that is all free: a spare one, or a new one; or nil.
func (p *Pooled) freeChunk() *chunk {
	if n := len(p.empty); n > 0 {
		c := p.empty[n-1]
		p.empty[n-1] = nil
		p.empty = p.empty[:n-1]
		p.leastEmpty = min(p.leastEmpty, n-1)
		return c
	}
	if !p.reserve(chunkSize) {
		return nil
	}
	c := newChunk(p.offHeap)
	if c == nil {
		p.reserved.Add(-chunkSize)
		return nil
	}
	p.chunks++
	return c
}

// raze gives the pages of an empty slab of class k back to its chunk. If that was the last of
// it, the chunk is kept as long as there are no more than spare bytes of such.
func (p *Pooled) raze(k, spare int) {
	h := &p.shelves[k]
	s := h.popEmpty()
	s.razed = true
	s.free = nil
	h.free -= s.slots
	h.ready -= s.cut
	h.least = min(h.least, h.free)
	n := slabPages[k]
	p.emptySlabBytes -= n * pageSize
	c := s.chunk
	c.slabs[s.page] = nil
	c.give(s.page, n)
	if c.free < chunkSize {
		p.lists.settle(c)
		return
	}
	p.lists.remove(c)
	if (len(p.empty)+1)*chunkSize > spare {
		p.giveUp(c)
		return
	}
	p.empty = append(p.empty, c)
}

func (p *Pooled) giveUp(c *chunk) {
	p.dropped = append(p.dropped, c)
	p.chunks--
	p.returned++
	p.reserved.Add(-chunkSize)
}

// Trim gives back what the shared pool hasn't needed since the last Trim: slabs to their
// chunks, chunks to the system or the garbage collector. It happens by itself after every
// garbage collection (an idle program has one every two minutes). Any goroutine may call it.
func (p *Pooled) Trim() {
	p.mu.Lock()
	defer p.unlock()
	for k := range p.shelves {
		h := &p.shelves[k]
		slots := slabSlots(k)
		for surplus := h.least; h.empty > 0 && surplus >= slots; surplus -= slots {
			p.raze(k, 0)
		}
		h.least = h.free
	}
	for surplus := min(p.leastEmpty, len(p.empty)); surplus > 0; surplus-- {
		last := len(p.empty) - 1
		p.giveUp(p.empty[last])
		p.empty[last] = nil
		p.empty = p.empty[:last]
	}
	p.leastEmpty = len(p.empty)
}
