package micro

import (
	"context"
	"sync"
	"testing"

	"millrace.dev/internal/goid"
	"millrace.dev/loop"
)

// perLoop is what the loop-local benchmarks keep for each loop.
type perLoop struct{ n uint64 }

var (
	looplocalVar = loop.NewLocal[perLoop](nil, nil)
	// Those that a program has besides: the look-up must not depend on being the only one.
	looplocalOthers = func() (others []*loop.Local[perLoop]) {
		for range 31 {
			others = append(others, loop.NewLocal[perLoop](nil, nil))
		}
		return others
	}()
)

type looplocalKey struct{}

// mutexMap is the map by goroutine that first comes to mind.
type mutexMap struct {
	mu sync.RWMutex
	m  map[uintptr]*perLoop
}

func (m *mutexMap) get(id uintptr) *perLoop {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.m[id]
}

// BenchmarkLoopLocal counts in a variable of the running goroutine, on a loop and off it.
func BenchmarkLoopLocal(b *testing.B) {
	b.Run("on=loop", func(b *testing.B) {
		l := startLoop(b)
		onLoop(b, l, func() {
			looplocalVar.Get(l)
			for _, other := range looplocalOthers {
				other.Get(l)
			}
		})
		run := func(alt string, f func(b *testing.B)) {
			b.Run("alt="+alt, func(b *testing.B) { onLoop(b, l, func() { f(b) }) })
		}
		looplocalRivals(run)
		run("millrace", func(b *testing.B) {
			for b.Loop() {
				looplocalVar.Get(l).n++
			}
		})
		run("millrace-current", func(b *testing.B) {
			for b.Loop() {
				looplocalVar.Current().n++
			}
		})
		run("millrace-use", looplocalUse)
	})
	b.Run("on=other", func(b *testing.B) {
		run := func(alt string, f func(b *testing.B)) { b.Run("alt="+alt, f) }
		looplocalRivals(run)
		run("pool", func(b *testing.B) {
			pool := sync.Pool{New: func() any { return new(perLoop) }}
			for b.Loop() {
				v := pool.Get().(*perLoop)
				v.n++
				pool.Put(v)
			}
		})
		run("millrace-use", looplocalUse)
	})
}

func looplocalUse(b *testing.B) {
	for b.Loop() {
		looplocalVar.Use(func(v *perLoop) { v.n++ })
	}
}

// looplocalRivals are the ways that work on any goroutine.
func looplocalRivals(run func(alt string, f func(b *testing.B))) {
	run("mutexmap", func(b *testing.B) {
		m := &mutexMap{m: map[uintptr]*perLoop{goid.Current(): {}}}
		for b.Loop() {
			m.get(goid.Current()).n++
		}
	})
	run("syncmap", func(b *testing.B) {
		var m sync.Map
		m.Store(goid.Current(), &perLoop{})
		for b.Loop() {
			v, _ := m.Load(goid.Current())
			v.(*perLoop).n++
		}
	})
	run("context", func(b *testing.B) {
		// The value is three contexts up, as behind a deadline and a trace.
		ctx := context.WithValue(context.Background(), looplocalKey{}, &perLoop{})
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		ctx = context.WithValue(ctx, &ctx, "a trace")
		for b.Loop() {
			ctx.Value(looplocalKey{}).(*perLoop).n++
		}
	})
}
