package buffer

import (
	"runtime"
	"weak"
)

// slab is a run of pages that is cut into slots of one size class.
type slab struct {
	chunk *chunk
	page  int // the first in chunk
	class int
	slots int
	used  int     // slots that are in use or in a cache
	cut   int     // slots that have a header; those after it were never used
	free  *Buffer // headers of free slots, linked by next
	at    int     // where in the shelf
	razed bool    // its pages have been given back
	self  weak.Pointer[slab]
}

// slabPages is the length of each class's slabs: as many pages as it takes to have no rest.
var slabPages = func() (pages [numClasses]int) {
	for k, size := range classSizes {
		n := 1
		for n*pageSize%size != 0 {
			n++
		}
		pages[k] = n
	}
	return pages
}()

// slabBytes and slabSlots say what a slab of class k has.
func slabBytes(k int) int { return slabPages[k] * pageSize }
func slabSlots(k int) int { return slabBytes(k) / classSizes[k] }

func newSlab(c *chunk, page, class int) *slab {
	s := &slab{chunk: c, page: page, class: class, slots: slabSlots(class)}
	s.self = weak.Make(s)
	c.slabs[page] = s
	return s
}

// header returns a Buffer, closed but for its block, for slot i.
//
// The block lives as long as the slot goes from owner to owner. Once it has become
// unreachable, somebody has lost their Buffer, and the slot comes back with a new header. So a
// leak costs memory only until the next garbage collection; but whoever lost the Buffer must
// not use a view of it any more either.
func (s *slab) header(p *Pooled, i int) *Buffer {
	size := classSizes[s.class]
	at := s.page*pageSize + i*size
	b := newBlock(p, int32(s.class), s.chunk.mem[at:at+size:at+size])
	b.blk.slab = s
	runtime.AddCleanup(b.blk, slot.recover, slot{s.self, p.self, i})
	return b
}

// slot names a slot without keeping anything in memory.
type slot struct {
	slab weak.Pointer[slab]
	pool weak.Pointer[Pooled]
	i    int
}

// recover runs on a goroutine of the runtime's.
func (o slot) recover() {
	s, p := o.slab.Value(), o.pool.Value()
	if s == nil || p == nil {
		return
	}
	p.mu.Lock()
	defer p.unlock()
	if !s.razed { // else it was the header of a free slot
		p.recovered++
		p.shelves[s.class].frees++
		p.putSlot(s.header(p, o.i))
	}
}

// shelf has the slabs of one size class that have a free slot. The first `empty` of them have
// nothing else.
type shelf struct {
	slabs         []*slab
	empty         int
	free          int    // free slots
	least         int    // the fewest free slots since the last Trim
	ready         int    // free slots with a header
	allocs, frees uint64 // by goroutines without a cache
}

// add takes in a slab that has a used slot and a free one.
func (h *shelf) add(s *slab) {
	s.at = len(h.slabs)
	h.slabs = append(h.slabs, s)
}

func (h *shelf) swap(i, j int) {
	h.slabs[i], h.slabs[j] = h.slabs[j], h.slabs[i]
	h.slabs[i].at, h.slabs[j].at = i, j
}

// nowEmpty moves s to the empty ones.
func (h *shelf) nowEmpty(s *slab) {
	h.swap(s.at, h.empty)
	h.empty++
}

// pop removes the last slab.
func (h *shelf) pop() {
	last := len(h.slabs) - 1
	h.slabs[last] = nil
	h.slabs = h.slabs[:last]
}

// popEmpty removes an empty slab.
func (h *shelf) popEmpty() *slab {
	h.empty--
	s := h.slabs[h.empty]
	h.swap(h.empty, len(h.slabs)-1)
	h.pop()
	return s
}
