package buffer

import (
	"math/rand/v2"
	"testing"
)

// checkArena compares all counters of p with what they count.
func checkArena(t testing.TB, p *Pooled) {
	t.Helper()
	emptySlabs, slabs := 0, map[*slab]bool{}
	for k := range p.shelves {
		h := &p.shelves[k]
		free, ready, empty := 0, 0, 0
		for i, s := range h.slabs {
			slabs[s] = true
			n := 0
			for b := s.free; b != nil; b = b.next {
				n++
				if b.blk.slab != s || b.data != nil || int(b.blk.class) != k {
					t.Fatalf("class %d: a header of another slab", k)
				}
			}
			if s.at != i || s.class != k || s.razed || s.used == s.slots || n != s.cut-s.used {
				t.Fatalf("class %d: slab %+v at %d with %d headers", k, *s, i, n)
			}
			if (s.used == 0) != (i < h.empty) {
				t.Fatalf("class %d: slab %d of %d with %d in use, %d empty", k, i, len(h.slabs), s.used, h.empty)
			}
			if s.used == 0 {
				empty++
				emptySlabs += slabPages[k] * pageSize
			}
			free += s.slots - s.used
			ready += n
		}
		if free != h.free || ready != h.ready || empty != h.empty || h.least > free {
			t.Fatalf("class %d: %d free, %d ready, %d empty; counted %d, %d, %d; least %d", k, free, ready, empty, h.free, h.ready, h.empty, h.least)
		}
	}
	if emptySlabs != p.emptySlabBytes {
		t.Fatalf("%d bytes in empty slabs, counted %d", emptySlabs, p.emptySlabBytes)
	}
	chunks := len(p.empty)
	for band, list := range p.lists {
		for at, c := range list {
			chunks++
			checkChunk(t, c, band, at)
		}
	}
	for _, c := range p.empty {
		if c.free != chunkSize || c.pages != (bitmap{}) {
			t.Fatalf("an empty chunk has %d bytes free", c.free)
		}
	}
	if chunks != p.chunks || p.leastEmpty > len(p.empty) || p.reserved.Load() < int64(chunks)*chunkSize {
		t.Fatalf("%d chunks, counted %d, %d bytes reserved", chunks, p.chunks, p.reserved.Load())
	}
}

func checkChunk(t testing.TB, c *chunk, band, at int) {
	t.Helper()
	free := chunkSize
	var used bitmap
	for page, s := range c.slabs {
		if s != nil {
			if s.page != page || s.chunk != c || s.razed {
				t.Fatalf("slab %+v at page %d", *s, page)
			}
			free -= slabPages[s.class] * pageSize
			used.flip(page, slabPages[s.class])
		}
	}
	if free != c.free || used != c.pages || c.band != band || c.at != at || c.mem == nil {
		t.Fatalf("chunk with %d free, counted %d, in list %d at %d, thinks %d at %d", free, c.free, band, at, c.band, c.at)
	}
	if c.free < bands[band].least || c.free > bands[band].most {
		t.Fatalf("chunk with %d bytes free in the list for %+v", c.free, bands[band])
	}
}

func TestSlabsHaveNoRest(t *testing.T) {
	t.Parallel()
	for k, size := range classSizes {
		n := slabPages[k] * pageSize
		s := newSlab(newChunk(false), 0, k)
		if n%size != 0 || s.slots != n/size || slabPages[k] > max(8, size/pageSize) {
			t.Errorf("class %d: %d slots of %d in %d", k, s.slots, size, n)
		}
		last := s.header(newPooled(PooledOptions{}), s.slots-1).blk.mem
		if cap(last) != size || &last[:1][0] != &s.chunk.mem[n-size] {
			t.Errorf("class %d: the last slot has %d bytes", k, cap(last))
		}
	}
}

func TestPagesOfAChunk(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var m bitmap
		var model [chunkPages]bool
		for range 100 {
			n := 1 + r.IntN(chunkPages)
			if r.IntN(4) > 0 {
				n = 1 + r.IntN(8)
			}
			want, length := smallestHole(model[:], n)
			got, k := m.bestHole(n)
			if k != length || length <= chunkPages && got != want {
				t.Fatalf("%d free pages found at %d, %d long, they are at %d, %d long, of %v", n, got, k, want, length, model)
			}
			if length > chunkPages { // give some back
				want, n = r.IntN(chunkPages), 1
				if !model[want] {
					continue
				}
			}
			m.flip(want, n)
			for i := range n {
				model[want+i] = !model[want+i]
			}
		}
	}
}

func smallestHole(used []bool, n int) (page, length int) {
	length = len(used) + 1
	run := 0
	for i, u := range append(used, true) {
		if !u {
			run++
			continue
		}
		if run >= n && run < length {
			page, length = i-run, run
		}
		run = 0
	}
	return page, length
}

func TestBoundsOfChunkListsOverlap(t *testing.T) {
	t.Parallel()
	for i := fullBand + 1; i < len(bands); i++ {
		b := bands[i]
		if b.least >= b.most {
			t.Errorf("list %d: %+v", i, b)
		}
		// What it takes to come back is more than a slab.
		if i > fullBand+1 && bands[i-1].most-b.least < 8*pageSize {
			t.Errorf("lists %d and %d: %+v, %+v", i-1, i, bands[i-1], b)
		}
	}
	if bands[fullBand+1].least != pageSize || bands[lowestBand].most != chunkSize {
		t.Errorf("%+v", bands)
	}
}

// mix is a recorded random load: sizes up to 64 KiB, most of them small, and a number of
// live bytes that grows and shrinks.
type mix struct {
	r    *rand.Rand
	live []*Buffer
	held int64 // bytes asked for
	peak int64
	step int
}

func newMix() *mix { return &mix{r: rand.New(rand.NewPCG(20, 26))} }

const (
	mixLow, mixHigh = 8 << 20, 48 << 20 // live bytes between which the load swings
	mixPeriod       = 200_000           // steps that a swing takes
)

func (m *mix) size() int {
	switch n := m.r.IntN(100); {
	case n < 60:
		return 1 + m.r.IntN(512)
	case n < 90:
		return 513 + m.r.IntN(8<<10-512)
	}
	return 8<<10 + m.r.IntN(56<<10+1)
}

// next allocates or closes one.
func (m *mix) next(a Allocator) {
	m.step++
	at := int64(m.step % mixPeriod)
	if at > mixPeriod/2 {
		at = mixPeriod - at
	}
	if target := mixLow + (mixHigh-mixLow)*at*2/mixPeriod; m.held < target {
		n := m.size()
		b := a.Allocate(n)
		b.Advance(n)
		m.live = append(m.live, b)
		m.held += int64(n)
		m.peak = max(m.peak, m.held)
		return
	}
	i := m.r.IntN(len(m.live))
	b := m.live[i]
	m.live[i] = m.live[len(m.live)-1]
	m.live = m.live[:len(m.live)-1]
	m.held -= int64(b.Len())
	b.Close()
}

func (m *mix) end() {
	for _, b := range m.live {
		b.Close()
	}
}

func TestFragmentation(t *testing.T) {
	withLevel(t, Disabled)
	for _, offHeap := range []bool{false, true} {
		c := boundCache(t, PooledOptions{OffHeap: offHeap})
		m := newMix()
		most := int64(0)
		for i := range 400_000 {
			m.next(c)
			if i%1000 == 0 {
				most = max(most, c.pool.reserved.Load())
			}
			if i%50_000 == 0 {
				checkArena(t, c.pool)
			}
		}
		t.Logf("peak of live bytes %d, reserved %.3f times as many, at most %.3f", m.peak,
			float64(c.pool.reserved.Load())/float64(m.peak), float64(most)/float64(m.peak))
		if most*100 > m.peak*125 {
			t.Errorf("%d bytes reserved for %d live ones", most, m.peak)
		}
		m.end()
		c.Trim()
		for range 2 {
			c.pool.Trim()
		}
		c.pool.Trim()
		checkArena(t, c.pool)
		if s := c.pool.Stats(); s.Reserved != 0 || s.Chunks != 0 || s.Used != 0 || s.Cached != 0 || s.Returned == 0 {
			t.Errorf("after all is closed: %+v", s)
		}
		c.Unbind()
	}
}

func BenchmarkMix(b *testing.B) {
	for _, offHeap := range []bool{false, true} {
		b.Run(newPooled(PooledOptions{OffHeap: offHeap}).kind().String(), func(b *testing.B) {
			withLevel(b, Simple)
			c := NewPooled(PooledOptions{OffHeap: offHeap}).NewCache()
			c.Bind()
			b.Cleanup(c.Unbind)
			m := newMix()
			b.ReportAllocs()
			for b.Loop() {
				m.next(c)
			}
			b.ReportMetric(float64(c.pool.reserved.Load())/float64(m.peak), "reserved/peak")
			m.end()
		})
	}
}
