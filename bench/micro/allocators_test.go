package micro

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/loop"
)

var allocatorsSink []byte

// startLoops starts n loops over allocator a that end with the benchmark.
func startLoops(b *testing.B, n int, a buffer.Allocator) []*loop.Loop {
	b.Helper()
	g, err := loop.NewGroup(loop.Options{Loops: n, WatchdogThreshold: -1, Allocator: a})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _, _ = g.Shutdown(0, 10*time.Second).Wait(context.Background()) })
	return g.Loops()
}

// allocatorsPools are what a Go program has otherwise: one sync.Pool for each size.
var allocatorsPools sync.Map // int → *sync.Pool

func allocatorsPool(size int) *sync.Pool {
	p, _ := allocatorsPools.LoadOrStore(size, &sync.Pool{New: func() any { return new(make([]byte, size)) }})
	return p.(*sync.Pool)
}

// allocatorsAlternatives run n rounds of allocating and giving back size bytes.
var allocatorsAlternatives = []struct {
	name string
	kind buffer.Kind
	run  func(a buffer.Allocator, n, size int)
}{
	{"make", buffer.UnpooledHeap, func(_ buffer.Allocator, n, size int) {
		for range n {
			allocatorsSink = make([]byte, size)
		}
	}},
	{"syncpool", buffer.UnpooledHeap, func(_ buffer.Allocator, n, size int) {
		p := allocatorsPool(size)
		for range n {
			x := p.Get().(*[]byte)
			allocatorsSink = *x
			p.Put(x)
		}
	}},
	{"unpooled", buffer.UnpooledHeap, allocatorsRound},
	{"unpooled-offheap", buffer.UnpooledOffHeap, allocatorsRound},
	{"millrace-pooled", buffer.PooledHeap, allocatorsRound},
	{"millrace-pooled-offheap", buffer.PooledOffHeap, allocatorsRound},
}

func allocatorsRound(a buffer.Allocator, n, size int) {
	for range n {
		a.Allocate(size).Close()
	}
}

// Allocate and close, on one loop.
func BenchmarkAllocators(b *testing.B) {
	for _, size := range []int{0, 64, 1 << 10, 4 << 10, 16 << 10, 64 << 10} {
		for _, alt := range allocatorsAlternatives {
			b.Run("size="+strconv.Itoa(size)+"/alt="+alt.name, func(b *testing.B) {
				l := startLoops(b, 1, buffer.NewAllocator(alt.kind))[0]
				b.ReportAllocs()
				onLoop(b, l, func() {
					alt.run(l.Allocator(), 100, size)
					b.ResetTimer()
					alt.run(l.Allocator(), b.N, size)
				})
			})
		}
	}
}

// The same on as many loops as there are processors, at the same time; and without a cache for
// each loop, which leaves the lock of the shared pool.
func BenchmarkAllocatorsManyLoops(b *testing.B) {
	const size = 4 << 10
	each := func(b *testing.B, a buffer.Allocator, run func(l *loop.Loop, n int)) {
		loops := startLoops(b, runtime.GOMAXPROCS(0), a)
		b.ReportAllocs()
		b.ResetTimer()
		var all sync.WaitGroup
		for _, l := range loops {
			all.Add(1)
			if err := l.Execute(func() { defer all.Done(); run(l, b.N/len(loops)+1) }); err != nil {
				b.Fatal(err)
			}
		}
		all.Wait()
	}
	for _, alt := range allocatorsAlternatives {
		b.Run("alt="+alt.name, func(b *testing.B) {
			each(b, buffer.NewAllocator(alt.kind), func(l *loop.Loop, n int) {
				if alt.name == "make" { // not through the sink, which the loops would share
					for range n {
						runtime.KeepAlive(make([]byte, size+n&1))
					}
					return
				}
				if alt.name == "syncpool" {
					p := allocatorsPool(size)
					for range n {
						p.Put(p.Get())
					}
					return
				}
				alt.run(l.Allocator(), n, size)
			})
		})
	}
	b.Run("alt=shared", func(b *testing.B) {
		p := buffer.NewPooled(buffer.PooledOptions{})
		each(b, p, func(_ *loop.Loop, n int) { allocatorsRound(p, n, size) })
	})
}

// Allocated on one loop and closed on another, which is what an offloaded handler or a proxy
// does. The loops hand over 256 at a time, so that what is measured is not the handing over.
func BenchmarkAllocatorsElsewhere(b *testing.B) {
	const size, batch = 4 << 10, 256
	for _, alt := range []struct {
		name string
		kind buffer.Kind
	}{
		{"unpooled", buffer.UnpooledHeap},
		{"millrace-pooled", buffer.PooledHeap},
		{"millrace-pooled-offheap", buffer.PooledOffHeap},
	} {
		b.Run("alt="+alt.name, func(b *testing.B) {
			loops := startLoops(b, 2, buffer.NewAllocator(alt.kind))
			here, there := loops[0], loops[1]
			var open [batch]*buffer.Buffer
			var closing time.Duration
			b.ReportAllocs()
			for i := -batch; i < b.N; i += batch {
				if i == 0 {
					closing = 0
					b.ResetTimer()
				}
				onLoop(b, here, func() {
					for k := range open {
						open[k] = here.Allocator().Allocate(size)
					}
				})
				onLoop(b, there, func() {
					start := time.Now()
					for _, x := range open {
						x.Close()
					}
					closing += time.Since(start)
				})
			}
			b.ReportMetric(float64(closing.Nanoseconds())/float64((b.N+batch-1)/batch*batch), "ns/close")
		})
	}
}

// Begins with 64 bytes, and grows to 16 KiB by pieces of 64.
func BenchmarkAllocatorsGrow(b *testing.B) {
	var piece [64]byte
	const size = 16 << 10
	for _, alt := range []struct {
		name string
		kind buffer.Kind
	}{
		{"append", buffer.UnpooledHeap},
		{"unpooled", buffer.UnpooledHeap},
		{"unpooled-offheap", buffer.UnpooledOffHeap},
		{"millrace-pooled", buffer.PooledHeap},
		{"millrace-pooled-offheap", buffer.PooledOffHeap},
	} {
		b.Run("alt="+alt.name, func(b *testing.B) {
			l := startLoops(b, 1, buffer.NewAllocator(alt.kind))[0]
			b.ReportAllocs()
			b.SetBytes(size)
			onLoop(b, l, func() {
				b.ResetTimer()
				for range b.N {
					if alt.name == "append" {
						p := make([]byte, 0, len(piece))
						for len(p) < size {
							p = append(p, piece[:]...)
						}
						allocatorsSink = p
						continue
					}
					x := l.Allocator().Allocate(len(piece))
					for x.Len() < size {
						x.Write(piece[:])
					}
					x.Close()
				}
			})
		})
	}
}

// allocatorsMix is a random load that is the same in every run: most sizes are small, some go
// up to 64 KiB, and what is alive swings between 8 and 48 MiB.
type allocatorsMix struct {
	r          *rand.Rand
	step       int64
	held, peak int64
}

const (
	mixLow, mixSwing = 8 << 20, 40 << 20
	mixPeriod        = 100_000
)

// grows reports whether the next step allocates, and how much.
func (m *allocatorsMix) grows() (size int, yes bool) {
	m.step++
	at := m.step % mixPeriod
	if at > mixPeriod/2 {
		at = mixPeriod - at
	}
	if m.held >= mixLow+mixSwing*at*2/mixPeriod {
		return 0, false
	}
	switch n := m.r.IntN(100); {
	case n < 60:
		size = 1 + m.r.IntN(512)
	case n < 90:
		size = 513 + m.r.IntN(8<<10-512)
	default:
		size = 8<<10 + m.r.IntN(56<<10+1)
	}
	m.held += int64(size)
	m.peak = max(m.peak, m.held)
	return size, true
}

// A recorded random mix. For the pools it is ended once with ten million steps: reserved/peak
// is what they have taken from the system then, for each byte that was asked for and alive at
// the peak.
func BenchmarkAllocatorsMix(b *testing.B) {
	b.Run("alt=make", func(b *testing.B) {
		l := startLoops(b, 1, buffer.Unpooled())[0]
		b.ReportAllocs()
		onLoop(b, l, func() {
			m := allocatorsMix{r: seeded()}
			var open [][]byte
			for i := range b.N + mixPeriod {
				if i == mixPeriod {
					b.ResetTimer()
				}
				if size, yes := m.grows(); yes {
					open = append(open, make([]byte, size))
					continue
				}
				k := m.r.IntN(len(open))
				m.held -= int64(len(open[k]))
				open[k] = open[len(open)-1]
				open[len(open)-1] = nil
				open = open[:len(open)-1]
			}
		})
	})
	for _, alt := range allocatorsAlternatives[2:] {
		ratio := 0.0
		b.Run("alt="+alt.name, func(b *testing.B) {
			if (alt.kind == buffer.PooledHeap || alt.kind == buffer.PooledOffHeap) && ratio == 0 {
				ratio = allocatorsMixRun(b, alt.kind, 10_000_000)
			}
			b.ReportAllocs()
			allocatorsMixRun(b, alt.kind, b.N)
			if ratio > 0 {
				b.ReportMetric(ratio, "reserved/peak")
			}
		})
	}
}

// allocatorsMixRun times n steps after a whole swing, and returns what is reserved at the end
// for each byte of the peak.
func allocatorsMixRun(b *testing.B, kind buffer.Kind, n int) (ratio float64) {
	a := buffer.NewAllocator(kind)
	l := startLoops(b, 1, a)[0]
	onLoop(b, l, func() {
		m := allocatorsMix{r: seeded()}
		var open []*buffer.Buffer
		for i := range n + mixPeriod {
			if i == mixPeriod {
				b.ResetTimer()
			}
			if size, yes := m.grows(); yes {
				x := l.Allocator().Allocate(size)
				x.Advance(size)
				open = append(open, x)
				continue
			}
			k := m.r.IntN(len(open))
			x := open[k]
			open[k] = open[len(open)-1]
			open = open[:len(open)-1]
			m.held -= int64(x.Len())
			x.Close()
		}
		b.StopTimer()
		ratio = float64(a.Stats().Reserved) / float64(m.peak)
		for _, x := range open {
			x.Close()
		}
		b.StartTimer()
	})
	return ratio
}
