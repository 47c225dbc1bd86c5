package micro

import (
	"sync"
	"testing"

	"millrace.dev/loop"
)

// recycled is about the size of a decoded request's head.
type recycled struct{ words [24]uint64 }

var (
	recyclerSink *recycled
	recyclerPool = sync.Pool{New: func() any { return new(recycled) }}
	recyclerOurs = loop.NewRecycler[recycled](recyclerBatch, nil)
)

const recyclerBatch = 64

// use writes to the struct, as whoever wants one does, and lets it escape.
func (v *recycled) use() {
	v.words[0]++
	recyclerSink = v
}

// BenchmarkRecycler takes a struct on a loop and gives it back there.
func BenchmarkRecycler(b *testing.B) {
	l := startLoop(b)
	run := func(alt string, f func(b *testing.B)) {
		b.Run("put=loop/alt="+alt, func(b *testing.B) {
			b.ReportAllocs()
			onLoop(b, l, func() { f(b) })
		})
	}
	run("new", func(b *testing.B) {
		for b.Loop() {
			new(recycled).use()
		}
	})
	run("pool", func(b *testing.B) {
		for b.Loop() {
			v := recyclerPool.Get().(*recycled)
			v.use()
			recyclerPool.Put(v)
		}
	})
	run("millrace", func(b *testing.B) {
		for b.Loop() {
			v := recyclerOurs.Get(l)
			v.use()
			recyclerOurs.Put(l, v)
		}
	})
	// The same where nobody knows the loop, as in the Close of a message.
	run("millrace-current", func(b *testing.B) {
		for b.Loop() {
			v := recyclerOurs.Get(loop.Current())
			v.use()
			recyclerOurs.Put(loop.Current(), v)
		}
	})
}

// BenchmarkRecyclerOrphan has another goroutine give back what the loop has taken, a batch at a
// time, so that the hand-over does not hide the rest. The time is that of one struct, its share
// of the hand-over included.
func BenchmarkRecyclerOrphan(b *testing.B) {
	l := startLoop(b)
	run := func(alt string, get func() *recycled, put func(v *recycled)) {
		b.Run("put=goroutine/alt="+alt, func(b *testing.B) {
			b.ReportAllocs()
			onLoop(b, l, func() { recyclerOrphans(b, get, put) })
		})
	}
	run("new", func() *recycled { return new(recycled) }, func(*recycled) {})
	run("pool", func() *recycled { return recyclerPool.Get().(*recycled) },
		func(v *recycled) { recyclerPool.Put(v) })
	run("millrace", func() *recycled { return recyclerOurs.Get(l) }, recyclerOurs.PutAnywhere)
}

func recyclerOrphans(b *testing.B, get func() *recycled, put func(*recycled)) {
	full, empty := make(chan []*recycled), make(chan []*recycled)
	go func() {
		defer close(empty)
		for batch := range full {
			for _, v := range batch {
				put(v)
			}
			empty <- batch[:0]
		}
	}()
	batch := make([]*recycled, 0, recyclerBatch)
	b.ResetTimer()
	for left := b.N; left > 0; left -= recyclerBatch {
		for range min(left, recyclerBatch) {
			v := get()
			v.use()
			batch = append(batch, v)
		}
		full <- batch
		batch = <-empty
	}
	close(full)
	<-empty
}
