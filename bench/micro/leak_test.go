package micro

import (
	"runtime"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/internal/callstack"
	"millrace.dev/loop"
)

// leakLevels are the alternatives; what the detector costs is the ratio to the first.
var leakLevels = []struct {
	name  string
	level buffer.LeakLevel
}{
	{"disabled", buffer.Disabled},
	{"millrace-simple", buffer.Simple},
	{"millrace-advanced", buffer.Advanced},
	{"millrace-paranoid", buffer.Paranoid},
}

// leakBench runs f on a loop at each level, as deep in the stack as handlers are.
func leakBench(b *testing.B, name string, f func(l *loop.Loop)) {
	before := buffer.CurrentLeakLevel()
	for _, alt := range leakLevels {
		b.Run(name+"/alt="+alt.name, func(b *testing.B) {
			buffer.SetLeakLevel(alt.level)
			defer buffer.SetLeakLevel(before)
			l := startLoop(b)
			b.ReportAllocs()
			onLoop(b, l, func() {
				leakDeep(12, func() {
					b.ResetTimer()
					for range b.N {
						f(l)
					}
					b.StopTimer()
				})
			})
		})
	}
}

//go:noinline
func leakDeep(n int, f func()) int {
	if n == 0 {
		f()
		return 1
	}
	return leakDeep(n-1, f) + 1
}

// Opening and closing; the same with work on the buffer; and what a form decoder does, many
// small parts split off and gathered.
func BenchmarkLeak(b *testing.B) {
	leakBench(b, "op=openclose", func(l *loop.Loop) { l.Allocator().Allocate(256).Close() })
	content := randomBytes(seeded(), 4<<10)
	leakBench(b, "op=copy4096", func(l *loop.Loop) {
		x := l.Allocator().Allocate(len(content))
		x.Write(content)
		x.Close()
	})
	leakBench(b, "op=split32", func(l *loop.Loop) {
		x := l.Allocator().Allocate(len(content))
		x.Write(content)
		y := l.Allocator().Allocate(len(content))
		for range 32 {
			y.Append(x.Split(len(content) / 32)) // so small that it copies
		}
		x.Close()
		y.Close()
	})
}

// Recording that a buffer passes a place, at each level; and the stack of that, unwound by the
// runtime or recognised by its frame pointers.
func BenchmarkLeakTouch(b *testing.B) {
	before := buffer.CurrentLeakLevel()
	for _, alt := range leakLevels {
		b.Run("op=touch/alt="+alt.name, func(b *testing.B) {
			buffer.SetLeakLevel(alt.level)
			buffer.SetLeakSampling(1)
			defer buffer.SetLeakSampling(128)
			defer buffer.SetLeakLevel(before)
			l := startLoop(b)
			b.ReportAllocs()
			onLoop(b, l, func() {
				leakDeep(12, func() {
					x := l.Allocator().Allocate(256)
					defer x.Close()
					b.ResetTimer()
					for range b.N {
						x.Touch("a handler")
					}
				})
			})
		})
	}
	leakDeep(12, func() {
		b.Run("op=stack/alt=runtime", func(b *testing.B) {
			leakDeep(12, func() {
				for range b.N {
					pcs := make([]uintptr, 6)
					runtime.Callers(1, pcs)
				}
			})
		})
		b.Run("op=stack/alt=millrace-framepointers", func(b *testing.B) {
			leakDeep(12, func() {
				for range b.N {
					callstack.Capture("", 0, 6)
				}
			})
		})
	})
}
