package buffer

import "testing"

func TestStatsByClass(t *testing.T) {
	c := boundCache(t, PooledOptions{})
	p := c.pool
	var bs []*Buffer
	for range 3 {
		bs = append(bs, c.Allocate(1000)) // class 1,024
	}
	bs = append(bs, p.Allocate(1000), p.Allocate(600_000), p.Allocate(5))
	bs[0].Close()
	check := func(name string, s Stats, used, cached int64, allocs, frees uint64) {
		t.Helper()
		if s.Used != used || s.Cached != cached || s.Allocs != allocs || s.Frees != frees {
			t.Errorf("%s: %+v", name, s)
		}
	}
	check("cache", c.Stats(), 2048, 1024, 3, 1)
	check("pool", p.Stats(), 3*1024+600_000+64, 1024, 6, 1)
	k := p.Stats().Classes[classOf(1000)]
	if k != (ClassStats{Size: 1024, Allocs: 4, Frees: 1, Used: 3 * 1024, Cached: 1024}) {
		t.Errorf("class: %+v", k)
	}
	if o := p.Stats().Own; o != (ClassStats{Allocs: 1, Used: 600_000}) {
		t.Errorf("own: %+v", o)
	}
	bs[1].Close()
	elsewhere(func() {
		if s := c.Stats(); s.Caches != 1 || s.Frees > 2 {
			t.Errorf("elsewhere: %+v", s)
		}
	})
	c.Trim()
	elsewhere(func() { check("cache after Trim, elsewhere", c.Stats(), 1024, 0, 3, 2) })
	for _, b := range bs[2:] {
		b.Close()
	}
	check("all closed", p.Stats(), 0, 3*1024+1024+64, 6, 6)
}

func TestBusyCachePublishesItsFigures(t *testing.T) {
	c := boundCache(t, PooledOptions{})
	for range 100_000 {
		c.Allocate(64).Close()
	}
	elsewhere(func() {
		if s := c.Stats(); s.Allocs < 90_000 || s.Allocs > 100_000 {
			t.Errorf("%d allocations seen of 100,000", s.Allocs)
		}
	})
}
