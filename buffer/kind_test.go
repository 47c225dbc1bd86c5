package buffer

import (
	"bytes"
	"flag"
	"runtime"
	"testing"
	"time"
)

func TestKindsHaveNames(t *testing.T) {
	t.Parallel()
	for _, k := range Kinds() {
		got, err := ParseKind(k.String())
		if err != nil || got != k {
			t.Errorf("%v: %v, %v", k, got, err)
		}
		f := flag.NewFlagSet("", flag.ContinueOnError)
		f.TextVar(&got, "allocator", PooledHeap, "")
		if err := f.Parse([]string{"-allocator", k.String()}); err != nil || got != k {
			t.Errorf("flag: %v, %v", got, err)
		}
	}
	if k, err := ParseKind("Pooled"); err == nil || k != PooledHeap {
		t.Errorf("%v, %v", k, err)
	}
	if s := Kind(9).String(); s != "Kind(?)" {
		t.Error(s)
	}
	var l LeakLevel
	for one := Disabled; one <= Paranoid; one++ {
		text, _ := one.MarshalText()
		if err := l.UnmarshalText(text); err != nil || l != one {
			t.Errorf("%s: %v, %v", text, l, err)
		}
	}
	if l.UnmarshalText([]byte("all")) == nil {
		t.Error("there is no level all")
	}
}

// sizesOfAllSorts has the borders of classes, and what is beyond all classes.
var sizesOfAllSorts = []int{0, 1, 64, 65, 1000, 4096, 64 << 10, 64<<10 + 1, 300_000, 512 << 10, 512<<10 + 1, 3 << 20}

func TestEveryKindWorks(t *testing.T) {
	withLevel(t, Disabled)
	for _, kind := range Kinds() {
		a := NewAllocator(kind)
		before := a.Stats()
		if before.Kind != kind {
			t.Errorf("%v says that it is %v", kind, before.Kind)
		}
		for _, size := range sizesOfAllSorts {
			content := bytes.Repeat([]byte{0xa5}, size)
			b := a.Allocate(size)
			if b.Cap() < size || b.Len() != 0 {
				t.Errorf("%v: %d bytes of %d", kind, b.Cap(), size)
			}
			b.Write(content)
			b.Write(content) // grows
			left := b.Split(size / 2)
			elsewhere(b.Close)
			if !left.Equal(content[:size/2]) {
				t.Errorf("%v, %d: other bytes", kind, size)
			}
			left.Close()
		}
		if s := a.Stats(); s.Used != before.Used || s.Allocs-before.Allocs != s.Frees-before.Frees || s.Allocs == before.Allocs {
			t.Errorf("%v: %+v", kind, s)
		}
	}
}

func TestOffHeapIsOffTheHeap(t *testing.T) {
	if os := runtime.GOOS; os != "linux" && os != "darwin" && os != "windows" {
		t.Skip("what isn't mapped on this system comes from the heap")
	}
	withLevel(t, Disabled)
	for _, a := range []Allocator{NewAllocator(PooledOffHeap), NewAllocator(UnpooledOffHeap)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var bs []*Buffer
		for range 16 {
			bs = append(bs, a.Allocate(60<<10), a.Allocate(1<<20))
		}
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
			t.Errorf("%d bytes on the heap for %d buffers", grown, len(bs))
		}
		if s := a.Stats(); s.Reserved < 16<<20 || s.Over.Allocs != 0 {
			t.Errorf("%+v", s)
		}
		for _, b := range bs {
			b.Close()
		}
	}
}

func TestLimit(t *testing.T) {
	withLevel(t, Disabled)
	for _, offHeap := range []bool{false, true} {
		const limit = 3<<20 + 500<<10
		p := newPooled(PooledOptions{OffHeap: offHeap, Limit: limit})
		c := p.NewCache()
		c.Bind()
		var bs []*Buffer
		for _, a := range []Allocator{c, p} {
			for range 100 {
				bs = append(bs, a.Allocate(64<<10), a.Allocate(1<<20), a.Allocate(100))
				if s := p.Stats(); s.Reserved > limit || s.Limit != limit {
					t.Fatalf("%+v", s)
				}
			}
		}
		for _, b := range bs {
			b.WriteString("usable")
		}
		s := p.Stats()
		if s.Over.Used < 200<<20 || s.Over.Allocs < 300 || s.Allocs != uint64(len(bs)) {
			t.Errorf("%+v", s)
		}
		for _, b := range bs {
			b.Close()
		}
		c.Unbind()
		if s = p.Stats(); s.Used != 0 || s.Over.Used != 0 || s.Over.Frees != s.Over.Allocs || s.Allocs != s.Frees {
			t.Errorf("all closed: %+v", s)
		}
		if b := p.Allocate(64 << 10); b.blk.class < 0 {
			t.Error("what has been given back isn't used again")
		} else {
			b.Close()
		}
		p.Trim()
		p.Trim()
		checkArena(t, p)
	}
	small := newPooled(PooledOptions{Limit: 1000})
	b := small.Allocate(10)
	b.WriteString("also")
	b.Close()
	if s := small.Stats(); s.Over.Frees != 1 || s.Reserved != 0 {
		t.Errorf("%+v", s)
	}
}

// The mistake that is most easily made with pooled memory must not crash a program.
func TestViewAfterCloseIsMapped(t *testing.T) {
	withLevel(t, Disabled)
	p := newPooled(PooledOptions{OffHeap: true, SharedBytes: -1})
	b := p.Allocate(5000)
	b.WriteString("text")
	view := b.Readable()
	b.Close()
	if s := p.Stats(); s.Chunks != 0 || s.Reserved != 0 || s.Returned != 1 {
		t.Fatalf("the chunk is still there: %+v", s)
	}
	sink += uint64(view[0]) + uint64(view[3])
	view[1] = 'x'
	b = p.Allocate(5000)
	defer b.Close()
	if s := p.Stats(); s.Chunks != 1 {
		t.Errorf("%+v", s)
	}
}

func TestLeakedMemoryComesBack(t *testing.T) {
	withLevel(t, Disabled)
	for _, offHeap := range []bool{false, true} {
		p := newPooled(PooledOptions{OffHeap: offHeap})
		for _, size := range []int{100, 64 << 10} {
			func() {
				for range 5 {
					p.Allocate(size)
				}
				left := p.Allocate(size).Split(0) // both parts are lost
				left.Close()
			}()
			kept := p.Allocate(size)
			want := p.Stats().Recovered + 6
			collectUntil(t, func() bool { return p.Stats().Recovered == want })
			s := p.Stats()
			if s.Classes[classOf(size)].Used != int64(kept.Cap()) {
				t.Errorf("%d: %+v", size, s.Classes[classOf(size)])
			}
			p.mu.Lock()
			checkArena(t, p)
			p.mu.Unlock()
			kept.Close()
		}
		if s := p.Stats(); s.Used != 0 {
			t.Errorf("%+v", s)
		}
	}
}

func TestLeakedMappingsAreUnmapped(t *testing.T) {
	withLevel(t, Disabled)
	u, p := NewAllocator(UnpooledOffHeap), newPooled(PooledOptions{OffHeap: true})
	before := u.Stats().Reserved
	func() {
		u.Allocate(10)
		p.Allocate(1 << 20)
	}()
	collectUntil(t, func() bool { return u.Stats().Reserved == before && p.Stats().Reserved == 0 })
	if s := p.Stats(); s.Own.Used != 0 || s.Own.Frees != 1 {
		t.Errorf("%+v", s)
	}
}

func TestMemoryOfAPoolThatIsGarbageComesBack(t *testing.T) {
	withLevel(t, Disabled)
	free := func() int {
		regions.Lock()
		defer regions.Unlock()
		return len(regions.free)
	}
	before := free()
	func() {
		p := NewPooled(PooledOptions{OffHeap: true})
		var bs []*Buffer
		for range 20 * chunkSize / (64 << 10) {
			bs = append(bs, p.Allocate(64<<10))
		}
		for _, b := range bs[1:] { // and one is leaked with it
			b.Close()
		}
	}()
	collectUntil(t, func() bool { return free() >= before && free() >= 20 })
}

// collectUntil collects garbage until done.
func collectUntil(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); runtime.GC() {
		if time.Now().After(deadline) {
			t.Fatal("nothing came of collecting garbage")
		}
		runtime.Gosched()
	}
}

func TestEmptyChunksAreReturnedWithHysteresis(t *testing.T) {
	withLevel(t, Disabled)
	p := newPooled(PooledOptions{OffHeap: true, SharedBytes: 2 * chunkSize})
	fill := func(chunks int) (bs []*Buffer) {
		for range chunks * chunkSize / (64 << 10) {
			bs = append(bs, p.Allocate(64<<10))
		}
		return bs
	}
	for range 10 { // to and fro within what is kept
		for _, b := range fill(3) {
			b.Close()
		}
	}
	if s := p.Stats(); s.Returned != 0 {
		t.Errorf("chunks went to and fro: %+v", s)
	}
	bs := fill(10)
	if s := p.Stats(); s.Chunks != 10 {
		t.Errorf("%+v", s)
	}
	for _, b := range bs {
		b.Close()
	}
	checkArena(t, p)
	if s := p.Stats(); s.Chunks > 5 || s.Empty > 2 || s.Returned < 5 || s.Reserved != int64(s.Chunks)*chunkSize {
		t.Errorf("%+v", s)
	}
	for range 3 {
		p.Trim()
	}
	if s := p.Stats(); s.Chunks != 0 || s.Returned != 10 {
		t.Errorf("after Trim: %+v", s)
	}
}

// What is too large for the caches of the loops is kept by the shared pool.
func TestLargeMemoryIsReused(t *testing.T) {
	for _, offHeap := range []bool{false, true} {
		c := boundCache(t, PooledOptions{OffHeap: offHeap})
		for _, size := range classSizes[cachedClasses:] {
			b := c.Allocate(size - 1000)
			blk := b.blk
			if b.Cap() != size || blk.home != nil {
				t.Errorf("%d bytes of %d, home %v", b.Cap(), size, blk.home)
			}
			b.Close()
			if b = c.Allocate(size); b.blk != blk {
				t.Errorf("%d: other memory", size)
			}
			b.Close()
		}
		if s := c.pool.Stats(); s.Own.Allocs != 0 || s.Used != 0 || s.Allocs != 2*(numClasses-cachedClasses) {
			t.Errorf("%+v", s)
		}
		checkArena(t, c.pool)
		c.Unbind()
	}
}
