package buffer

import "testing"

var sizes = []int{64, 256, 1024, 4096, 16 << 10, 64 << 10}

func BenchmarkAllocateClose(b *testing.B) {
	for _, n := range sizes {
		b.Run(itoa(n), func(b *testing.B) {
			c := NewPooled(PooledOptions{}).NewCache()
			c.Bind()
			defer c.Unbind()
			b.ReportAllocs()
			for b.Loop() {
				c.Allocate(n).Close()
			}
		})
	}
}

func BenchmarkAllocateCloseShared(b *testing.B) {
	p := NewPooled(PooledOptions{})
	b.ReportAllocs()
	for b.Loop() {
		p.Allocate(4096).Close()
	}
}

func BenchmarkLeakLevels(b *testing.B) {
	for _, level := range []LeakLevel{Disabled, Simple, Advanced, Paranoid} {
		b.Run(level.String(), func(b *testing.B) {
			SetLeakLevel(level)
			defer SetLeakLevel(Simple)
			c := NewPooled(PooledOptions{}).NewCache()
			c.Bind()
			defer c.Unbind()
			b.ReportAllocs()
			for b.Loop() {
				c.Allocate(4096).Close()
			}
		})
	}
}

func BenchmarkSplitClose(b *testing.B) {
	c := NewPooled(PooledOptions{}).NewCache()
	c.Bind()
	defer c.Unbind()
	b.ReportAllocs()
	for b.Loop() {
		x := c.Allocate(4096)
		x.Advance(1024)
		x.Split(512).Close()
		x.Close()
	}
}

func BenchmarkComposeClose(b *testing.B) {
	c := NewPooled(PooledOptions{}).NewCache()
	c.Bind()
	defer c.Unbind()
	b.ReportAllocs()
	for b.Loop() {
		x := c.Allocate(4096)
		x.Advance(1024)
		y := c.Allocate(4096)
		y.Advance(1024)
		x.Append(y)
		x.Close()
	}
}

// BenchmarkCloseElsewhere allocates on one goroutine and closes on another, in batches.
func BenchmarkCloseElsewhere(b *testing.B) {
	c := NewPooled(PooledOptions{}).NewCache()
	c.Bind()
	defer c.Unbind()
	const batch = 64
	there := make(chan *[batch]*Buffer)
	back := make(chan *[batch]*Buffer)
	go func() {
		for bs := range there {
			for _, x := range bs {
				x.Close()
			}
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
}

func BenchmarkAccess(b *testing.B) {
	x := New(4096)
	x.Advance(4096)
	defer x.Close()
	var sum uint64
	run := func(name string, step int, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				x.SetReaderIndex(0)
				for range 4096 / 8 {
					f()
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(4096/8), "ns/access")
		})
	}
	run("ReadUint8", 1, func() { sum += uint64(x.ReadUint8()) })
	run("ReadUint32", 4, func() { sum += uint64(x.ReadUint32()) })
	run("ReadUint64", 8, func() { sum += uint64(x.ReadUint64()) })
	run("Uint8At", 1, func() { sum += uint64(x.Uint8At(100)) })
	run("Uint32At", 1, func() { sum += uint64(x.Uint32At(100)) })
	sink = sum
}

func BenchmarkLoops(b *testing.B) {
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

func itoa(n int) string {
	if n >= 1024 {
		return string(rune('0'+n/1024/10)) + string(rune('0'+n/1024%10)) + "KiB"
	}
	return string(rune('0'+n/100)) + string(rune('0'+n/10%10)) + string(rune('0'+n%10)) + "B"
}
