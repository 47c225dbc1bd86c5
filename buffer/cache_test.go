package buffer

import (
	"bytes"
	"runtime"
	"sync"
	"testing"
	"time"

	"millrace.dev/internal/allocs"
)

// boundCache returns a cache bound to the test's goroutine, at a level that recycles.
func boundCache(t testing.TB, o PooledOptions) *Cache {
	withLevel(t, Disabled)
	c := newPooled(o).NewCache()
	c.Bind()
	t.Cleanup(func() {
		if c.onOwner() {
			c.Unbind()
		}
	})
	return c
}

// elsewhere runs f on another goroutine and waits for it.
func elsewhere(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

func TestAllocateAndCloseAllocateNothing(t *testing.T) {
	allocs.Need(t)
	for _, level := range []LeakLevel{Disabled, Simple} {
		c := boundCache(t, PooledOptions{})
		SetLeakLevel(level)
		for _, size := range classSizes { // the large ones from the shared pool
			c.Allocate(size).Close()
			if n := testing.AllocsPerRun(1000, func() { c.Allocate(size).Close() }); n != 0 {
				t.Errorf("%v, %d bytes: %v allocations", level, size, n)
			}
		}
	}
}

func TestWorkOnBuffersAllocatesNothing(t *testing.T) {
	allocs.Need(t)
	c := boundCache(t, PooledOptions{})
	p := make([]byte, 100)
	for name, f := range map[string]func(){
		"split": func() {
			b := c.Allocate(1000)
			b.Write(p)
			l := b.Split(50)
			m := b.Split(20)
			b.Close()
			l.Close()
			m.Close()
		},
		"access": func() {
			b := c.Allocate(1000)
			b.WriteUint32(1)
			b.WriteUvarint(12345)
			b.WriteString("text")
			b.Touch("here")
			b.ReadUint32()
			b.ReadUvarint()
			b.ReadInto(p)
			b.Close()
		},
		"growth": func() {
			b := c.Allocate(100)
			for range 20 {
				b.Write(p)
			}
			b.Close()
		},
	} {
		f()
		if n := testing.AllocsPerRun(1000, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestComposeAllocatesNothing(t *testing.T) {
	allocs.Need(t)
	c := boundCache(t, PooledOptions{})
	if n := testing.AllocsPerRun(1000, func() {
		a, b, d := c.Allocate(1000), c.Allocate(1000), c.Allocate(1000)
		a.Advance(600)
		b.Advance(600)
		d.Advance(600)
		a.Append(b)
		a.Append(d)
		a.Split(700).Close()
		a.Close()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	view := []byte("static")
	if n := testing.AllocsPerRun(1000, func() { Wrap(view).Close() }); n != 0 {
		t.Errorf("Wrap: %v allocations", n)
	}
}

func TestMemoryIsReused(t *testing.T) {
	c := boundCache(t, PooledOptions{})
	b := c.Allocate(1000)
	blk := b.blk
	b.Close()
	if b = c.Allocate(900); b.blk != blk {
		t.Error("Close and Allocate on the owner: other memory")
	}
	elsewhere(b.Close)
	if b = c.Allocate(900); b.blk != blk {
		t.Error("Close elsewhere: other memory")
	}
	left := b.Split(0)
	b.Close()
	if other := c.Allocate(900); other.blk == blk {
		t.Error("memory handed out while a part split off is open")
	} else {
		other.Close()
	}
	elsewhere(left.Close)
	c.drain()
	if b = c.Allocate(900); b.blk != blk {
		t.Error("last part closed elsewhere: other memory")
	}
	b.Close()
	elsewhere(func() {
		b = c.Allocate(900)
		if b.blk == blk || b.blk.home != nil {
			t.Error("memory of the cache handed out elsewhere")
		}
	})
	shared := b.blk
	b.Close()
	if b = c.pool.Allocate(900); b.blk != shared {
		t.Error("shared pool: other memory")
	}
	b.Close()
}

func TestCachesShareThroughThePool(t *testing.T) {
	c := boundCache(t, PooledOptions{})
	var bs []*Buffer
	for range 40 {
		bs = append(bs, c.Allocate(4096))
	}
	for _, b := range bs {
		b.Close()
	}
	c.Trim()
	elsewhere(func() {
		other := c.pool.NewCache()
		other.Bind()
		defer other.Unbind()
		b := other.Allocate(4096)
		// It takes a batch, so that the next ones cost no lock.
		if l := &other.lists[classOf(4096)]; int(l.n) != refillBytes/4096-1 || c.pool.shelves[classOf(4096)].ready != 40-refillBytes/4096 {
			t.Errorf("%d taken besides, %d left", l.n, c.pool.shelves[classOf(4096)].ready)
		}
		if b.blk.home != other {
			t.Error("it has another home")
		}
		b.Close()
	})
	if s := c.pool.Stats(); s.Used != 0 || s.Allocs != 41 || s.Cached != 40*4096 {
		t.Errorf("%+v", s)
	}
}

func TestCacheIsBounded(t *testing.T) {
	c := boundCache(t, PooledOptions{CacheBytes: 16 << 10})
	for _, size := range classSizes[:cachedClasses] {
		keep := max(1, 16<<10/size)
		var bs []*Buffer
		for range keep*2 + 3 {
			bs = append(bs, c.Allocate(size))
		}
		for _, b := range bs {
			b.Close()
		}
		l := &c.lists[classOf(size)]
		if int(l.n) > keep || l.n == 0 {
			t.Errorf("%d bytes: %d kept, at most %d", size, l.n, keep)
		}
		if shared := c.pool.shelves[classOf(size)].ready; int(l.n)+shared != len(bs) {
			t.Errorf("%d bytes: %d kept and %d shared of %d", size, l.n, shared, len(bs))
		}
	}
}

func TestCacheThatKeepsNothing(t *testing.T) {
	c := boundCache(t, PooledOptions{CacheBytes: -1, SharedBytes: -1})
	for range 10 {
		b := c.Allocate(1000)
		elsewhere(c.Allocate(1000).Close)
		b.Close()
	}
	c.drain()
	s := c.pool.Stats()
	if s.Cached != 0 || s.Used != 0 || s.Allocs != 20 || s.Frees != 20 || c.pool.kept() != 0 {
		t.Errorf("%+v, held %d", s, c.pool.kept())
	}
}

func TestTrimGivesEverythingToTheSharedPool(t *testing.T) {
	c := boundCache(t, PooledOptions{})
	for _, size := range classSizes[:cachedClasses] {
		b := c.Allocate(size)
		c.Allocate(size).Close()
		b.Close()
	}
	cached := c.Stats().Cached
	c.Trim()
	if n := c.Stats().Cached; n != 0 || c.pool.kept() != cached {
		t.Errorf("%d bytes kept, %d shared of %d", n, c.pool.kept(), cached)
	}
}

func TestSharedPoolKeepsWhatIsInUse(t *testing.T) {
	withLevel(t, Disabled)
	p := newPooled(PooledOptions{})
	h := &p.shelves[classOf(4096)]
	churn := func(n int) {
		var bs []*Buffer
		for range n {
			bs = append(bs, p.Allocate(4096))
		}
		for _, b := range bs {
			b.Close()
		}
	}
	for _, n := range []int{20, 20, 3, 0, 5} {
		churn(n)
		// A slab has two of them.
		if p.Trim(); h.free != (n+1)/2*2 || p.kept() != int64(h.ready)*4096 {
			t.Errorf("%d kept, %d bytes, %d were in use", h.free, p.kept(), n)
		}
	}
}

func TestSharedPoolIsTrimmedByTheCollector(t *testing.T) {
	withLevel(t, Disabled)
	p := NewPooled(PooledOptions{})
	p.Allocate(4096).Close()
	deadline := time.Now().Add(time.Minute)
	for p.Stats().Cached != 0 {
		if time.Now().After(deadline) {
			t.Fatal("memory kept by an idle pool")
		}
		runtime.GC()
	}
}

func TestTrimTakesInWhatOthersReturned(t *testing.T) {
	c := boundCache(t, PooledOptions{})
	elsewhere(c.Allocate(4096).Close)
	if c.returned.Load() == nil {
		t.Fatal("nothing returned")
	}
	c.Trim()
	if c.returned.Load() != nil || c.returnedBytes.Load() != 0 {
		t.Error("still waiting after Trim")
	}
}

func TestReturnsToASleepingOwnerAreBounded(t *testing.T) {
	c := boundCache(t, PooledOptions{})
	const size = 64 << 10
	var bs []*Buffer
	for range 2*maxReturned/size + 1 {
		bs = append(bs, c.Allocate(size))
	}
	elsewhere(func() {
		for _, b := range bs {
			b.Close()
		}
	})
	if n := c.returnedBytes.Load(); n > maxReturned {
		t.Errorf("%d bytes wait for the owner", n)
	}
	if held := c.pool.kept(); held+c.returnedBytes.Load() != int64(len(bs)*size) {
		t.Errorf("%d shared and %d waiting of %d", held, c.returnedBytes.Load(), len(bs)*size)
	}
}

func TestSharedPoolIsBounded(t *testing.T) {
	withLevel(t, Disabled)
	p := newPooled(PooledOptions{SharedBytes: 10 << 10})
	var bs []*Buffer
	for range 30 {
		bs = append(bs, p.Allocate(1024))
	}
	for _, b := range bs {
		b.Close()
	}
	if s := p.Stats(); s.Cached != 8<<10 || s.Used != 0 { // one slab
		t.Errorf("cached %d, used %d", s.Cached, s.Used)
	}
}

func TestUnbindReturnsEverything(t *testing.T) {
	c := boundCache(t, PooledOptions{})
	p := c.pool
	var out []*Buffer
	for range 10 {
		out = append(out, c.Allocate(4096))
	}
	for range 5 {
		c.Allocate(512).Close()
	}
	elsewhere(c.Allocate(512).Close)
	c.Unbind()
	for k := range c.lists {
		if c.lists[k].head != nil || c.lists[k].n != 0 {
			t.Errorf("class %d isn't empty", k)
		}
	}
	if s := p.Stats(); s.Used != 10*4096 || s.Caches != 0 || s.Allocs != 16 || s.Frees != 6 {
		t.Errorf("after Unbind: %+v", s)
	}
	out[0].Close() // on the former owner
	elsewhere(func() {
		for _, b := range out[1:] {
			b.Close()
		}
	})
	s := p.Stats()
	if s.Used != 0 || s.Cached != p.kept() || s.Cached < 10*4096 {
		t.Errorf("after closing the rest: %+v, held %d", s, p.kept())
	}
	elsewhere(func() {
		c.Bind()
		defer c.Unbind()
		b := c.Allocate(4096)
		b.Close()
		if b.blk.home != c {
			t.Error("a cache that was bound anew doesn't use the shared pool")
		}
	})
}

func TestOwnerRules(t *testing.T) {
	c := boundCache(t, PooledOptions{})
	for op, call := range map[string]func(){
		"Bind of a bound cache": c.Bind,
		"Trim elsewhere":        func() { forward(elsewhere, c.Trim) },
		"Unbind elsewhere":      func() { forward(elsewhere, c.Unbind) },
		"Unbind of another":     newPooled(PooledOptions{}).NewCache().Unbind,
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", op)
				}
			}()
			call()
		}()
	}
}

// kept returns the bytes of the free slots that the shared pool has ready.
func (p *Pooled) kept() (n int64) {
	for k := range p.shelves {
		n += int64(p.shelves[k].ready * classSizes[k])
	}
	return n
}

// forward runs f by run and panics here with what f panicked with there.
func forward(run func(func()), f func()) {
	var v any
	run(func() {
		defer func() { v = recover() }()
		f()
	})
	if v != nil {
		panic(v)
	}
}

func TestDoubleCloseIsSeenBelowAdvanced(t *testing.T) {
	c := boundCache(t, PooledOptions{})
	b := c.Allocate(100)
	b.Close()
	wantPanic(t, "second Close", ErrClosed, b.Close)
	wantPanic(t, "write after Close", ErrClosed, func() { b.WriteUint8(1) })
	x, y := c.Allocate(100), c.Allocate(100)
	if x == y || x.blk == y.blk {
		t.Error("the pool hands out the same memory twice")
	}
	x.Close()
	y.Close()
}

func TestUnpooled(t *testing.T) {
	a := Unpooled()
	before := a.Stats().Own
	b := a.Allocate(1000)
	if b.Cap() != 1000 {
		t.Errorf("capacity %d", b.Cap())
	}
	s := a.Stats().Own
	if s.Allocs < before.Allocs+1 || s.Used < 1000 {
		t.Errorf("%+v", s)
	}
	b.Ensure(2000) // grows through the same allocator
	if b.blk == nil || b.blk.pool != &heapOnly.from {
		t.Error("grown elsewhere")
	}
	b.Close()
	if s := a.Stats(); s.Own.Frees < before.Frees+2 || s.Cached != 0 {
		t.Errorf("%+v", s)
	}
}

func TestGrowthStaysInTheAllocator(t *testing.T) {
	c := boundCache(t, PooledOptions{})
	b := c.Allocate(64)
	b.Write(bytes.Repeat([]byte("x"), 1000))
	if b.blk.home != c {
		t.Error("grown outside of the cache")
	}
	b.Append(CopyString(string(bytes.Repeat([]byte("y"), 5000))))
	b.Split(1100).Close()
	b.Compact()
	b.Close()
	if s := c.pool.Stats(); s.Used != 0 || s.Allocs != s.Frees {
		t.Errorf("%+v", s)
	}
}

func TestGrowthElsewhereUsesTheSharedPool(t *testing.T) {
	c := boundCache(t, PooledOptions{})
	b := c.Allocate(64)
	elsewhere(func() { b.Write(make([]byte, 1000)) })
	if b.blk.home != nil || b.blk.pool != c.pool {
		t.Error("grown in a cache that belongs to another goroutine")
	}
	b.Close()
	if s := c.pool.Stats(); s.Used != 0 || s.Allocs != 2 || s.Frees != 2 {
		t.Errorf("%+v", s)
	}
}

// TestClosesElsewhere has loops that allocate and goroutines that close, whole buffers and
// parts that share memory, while a loop comes and goes. Each Buffer carries a mark that
// would change if its memory were handed out twice.
func TestClosesElsewhere(t *testing.T) {
	withLevel(t, Disabled)
	for _, o := range []PooledOptions{
		{CacheBytes: 8 << 10, SharedBytes: 1 << 20},
		{CacheBytes: 8 << 10, SharedBytes: 1 << 20, OffHeap: true},
		{CacheBytes: 8 << 10, SharedBytes: -1, OffHeap: true}, // chunks come and go
		{CacheBytes: 8 << 10, Limit: chunkSize - 1},           // there are none
		{CacheBytes: -1, Limit: chunkSize},
	} {
		closeElsewhere(t, newPooled(o))
	}
}

func closeElsewhere(t *testing.T, p *Pooled) {
	work := make(chan *Buffer, 64)
	var closers, loops sync.WaitGroup
	for range 3 {
		closers.Go(func() {
			for b := range work {
				mark := b.ReadUint32()
				for b.Len() > 0 {
					if b.ReadUint32() != mark {
						t.Error("memory was written to by another")
						break
					}
				}
				b.Close()
			}
		})
	}
	for loop := range uint32(3) {
		loops.Go(func() {
			c := p.NewCache()
			for round := range uint32(20) {
				c.Bind()
				for i := range uint32(100) {
					size := 64 << (i % 7)
					b := c.Allocate(size)
					for b.Available() >= 4 {
						b.WriteUint32(loop<<24 | round<<16 | i)
					}
					switch i % 3 {
					case 0:
						work <- b
					case 1:
						work <- b.Split(8)
						work <- b
					default:
						l := b.Split(32)
						work <- b
						l.Close()
					}
				}
				if round%2 == 0 {
					c.Trim()
				}
				c.Unbind()
			}
		})
	}
	loops.Wait()
	close(work)
	closers.Wait()
	s := p.Stats()
	if s.Used != 0 || s.Allocs != 3*20*100 || s.Frees != s.Allocs {
		t.Errorf("used %d, %d allocations, %d frees", s.Used, s.Allocs, s.Frees)
	}
	if s.Cached != p.kept() || s.Cached > 1<<20 {
		t.Errorf("cached %d, held %d", s.Cached, p.kept())
	}
	checkArena(t, p)
}

func TestSplitPartsClosedAtOnce(t *testing.T) {
	withLevel(t, Disabled)
	p := newPooled(PooledOptions{})
	for range 200 {
		b := p.Allocate(1024)
		b.Advance(1024)
		parts := []*Buffer{b}
		for range 7 {
			parts = append(parts, b.Split(100))
		}
		var wg sync.WaitGroup
		for _, part := range parts {
			wg.Go(part.Close)
		}
		wg.Wait()
		if s := p.Stats(); s.Used != 0 || s.Cached != 1024 {
			t.Fatalf("used %d, cached %d", s.Used, s.Cached)
		}
	}
}
