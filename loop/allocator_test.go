package loop

import (
	"testing"

	"millrace.dev/buffer"
)

func TestLoopsShareAPool(t *testing.T) {
	t.Parallel()
	pool := buffer.NewPooled(buffer.PooledOptions{})
	for _, o := range []Options{{Loops: 2}, {Loops: 2, Allocator: pool}} {
		g, _ := startGroup(t, o)
		a, b := g.Next(), g.Next()
		if a.Allocator() == b.Allocator() {
			t.Error("two loops have the same cache")
		}
		if o.Allocator != nil && g.Allocator() != o.Allocator {
			t.Error("the group does not use the pool that it was given")
		}
		// Allocated on one loop, closed on the other.
		handed := make(chan *buffer.Buffer, 1)
		on(t, a, func() { handed <- a.Allocator().Allocate(4096) })
		buf := <-handed
		on(t, b, func() { buf.Close() })
		end(t, g)
	}
}

func TestOtherAllocatorsAreUsedAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, kind := range []buffer.Kind{buffer.UnpooledHeap, buffer.UnpooledOffHeap} {
		a := buffer.NewAllocator(kind)
		g, _ := startGroup(t, Options{Loops: 2, Allocator: a})
		for _, l := range g.Loops() {
			if l.Allocator() != a || g.Allocator() != a {
				t.Errorf("%s has another allocator", l.Name())
			}
		}
	}
	m, _ := newManual(t, Options{})
	if m.Loop().Allocator() != buffer.Unpooled() {
		t.Error("a manual loop's allocator is not the unpooled one")
	}
}
