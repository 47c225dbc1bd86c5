package buffer

import (
	"strconv"
	"testing"
	"time"
)

// benchCache returns a cache that belongs to the benchmark's goroutine.
func benchCache(b *testing.B, level LeakLevel) *Cache {
	withLevel(b, level)
	c := NewPooled(PooledOptions{}).NewCache()
	c.Bind()
	b.Cleanup(c.Unbind)
	b.ReportAllocs()
	return c
}

var sizes = []int{64, 256, 1024, 4096, 16 << 10, 64 << 10}

func BenchmarkAllocateClose(b *testing.B) {
	for _, n := range sizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			c := benchCache(b, Simple)
			for b.Loop() {
				c.Allocate(n).Close()
			}
		})
	}
}

func BenchmarkAllocateCloseShared(b *testing.B) {
	withLevel(b, Simple)
	p := NewPooled(PooledOptions{})
	b.ReportAllocs()
	for b.Loop() {
		p.Allocate(4096).Close()
	}
}

func BenchmarkLeakLevels(b *testing.B) {
	for _, level := range []LeakLevel{Disabled, Simple, Advanced, Paranoid} {
		b.Run(level.String(), func(b *testing.B) {
			c := benchCache(b, level)
			for b.Loop() {
				c.Allocate(4096).Close()
			}
		})
	}
}

func BenchmarkSplitClose(b *testing.B) {
	c := benchCache(b, Simple)
	for b.Loop() {
		x := c.Allocate(4096)
		x.Advance(1024)
		x.Split(512).Close()
		x.Close()
	}
}

func BenchmarkComposeClose(b *testing.B) {
	c := benchCache(b, Simple)
	for b.Loop() {
		x := c.Allocate(4096)
		x.Advance(2048)
		y := c.Allocate(4096)
		y.Advance(2048)
		x.Append(y) // shares: copies up to 1 KiB
		x.Close()
	}
}

// BenchmarkCloseElsewhere allocates on one goroutine and closes on another, in batches.
func BenchmarkCloseElsewhere(b *testing.B) {
	c := benchCache(b, Simple)
	const batch = 64
	there := make(chan *[batch]*Buffer)
	back := make(chan *[batch]*Buffer)
	var closing time.Duration
	go func() {
		for bs := range there {
			start := time.Now()
			for _, x := range bs {
				x.Close()
			}
			closing += time.Since(start)
			back <- bs
		}
		close(back)
	}()
	var bs [batch]*Buffer
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i += batch {
		for k := range bs {
			bs[k] = c.Allocate(4096)
		}
		there <- &bs
		<-back
	}
	close(there)
	<-back
	b.ReportMetric(float64(closing.Nanoseconds())/float64(b.N), "ns/close")
}

func BenchmarkAccess(b *testing.B) {
	x := New(4096)
	x.Advance(4096)
	defer x.Close()
	p := x.Bytes()
	b.Run("slice8", func(b *testing.B) {
		var s uint64
		for b.Loop() {
			for i := range p {
				s += uint64(p[i])
			}
		}
		sink = s
	})
	b.Run("Uint8At", func(b *testing.B) {
		var s uint64
		for b.Loop() {
			for i := range x.Len() {
				s += uint64(x.Uint8At(i))
			}
		}
		sink = s
	})
	b.Run("ReadUint8", func(b *testing.B) {
		var s uint64
		for b.Loop() {
			x.SetReaderIndex(0)
			for range 4096 {
				s += uint64(x.ReadUint8())
			}
		}
		sink = s
	})
	b.Run("ReadUint32", func(b *testing.B) {
		var s uint64
		for b.Loop() {
			x.SetReaderIndex(0)
			for range 1024 {
				s += uint64(x.ReadUint32())
			}
		}
		sink = s
	})
	b.Run("WriteUint8", func(b *testing.B) {
		for b.Loop() {
			x.Reset()
			for i := range 4096 {
				x.WriteUint8(byte(i))
			}
		}
	})
	b.Run("WriteUint32", func(b *testing.B) {
		for b.Loop() {
			x.Reset()
			for i := range 1024 {
				x.WriteUint32(uint32(i))
			}
		}
	})
}

var sink uint64

// BenchmarkNewSlots measures what a slot costs when the pool grows and shrinks again.
func BenchmarkNewSlots(b *testing.B) {
	withLevel(b, Simple)
	for _, n := range []int{64, 4096} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			bs := make([]*Buffer, 0, 256)
			for i := 0; i < b.N; i += 256 {
				p := newPooled(PooledOptions{SharedBytes: -1})
				for range 256 {
					bs = append(bs, p.Allocate(n))
				}
				for _, x := range bs {
					x.Close()
				}
				bs = bs[:0]
			}
		})
	}
}
