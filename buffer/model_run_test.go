package buffer

import (
	"math/rand/v2"
	"testing"
)

func TestRandomOperationsAgainstModel(t *testing.T) {
	// The levels differ in whether structs are recycled.
	for _, level := range []LeakLevel{Paranoid, Disabled} {
		for kind, seeds := range []uint64{PooledHeap: 200, PooledOffHeap: 200, UnpooledHeap: 30, UnpooledOffHeap: 30} {
			t.Run(level.String()+"/"+Kind(kind).String(), func(t *testing.T) {
				withLevel(t, level)
				a := NewAllocator(Kind(kind))
				if p, ok := a.(*Pooled); ok {
					c := p.NewCache()
					c.Bind()
					defer c.Unbind()
					a = c
				}
				before := a.Stats().Used // by others, if the allocator is the process's
				for seed := range seeds {
					runModel(t, &source{rnd: rand.New(rand.NewPCG(seed, 1))}, 120, a)
				}
				if used := a.Stats().Used - before; used != 0 {
					t.Errorf("%d bytes used when all is closed", used)
				}
			})
		}
	}
}

// withLevel sets the leak level until the test ends, which must not be parallel.
func withLevel(t testing.TB, level LeakLevel) {
	before := CurrentLeakLevel()
	SetLeakLevel(level)
	t.Cleanup(func() { SetLeakLevel(before) })
}

func FuzzOperations(f *testing.F) {
	for seed := range uint64(8) {
		p := make([]byte, 200)
		rnd := rand.New(rand.NewPCG(seed, 2))
		for i := range p {
			p[i] = byte(rnd.Uint32())
		}
		f.Add(p)
	}
	p := NewPooled(PooledOptions{})
	f.Fuzz(func(t *testing.T, data []byte) {
		runModel(t, &source{fuzz: data}, len(data), p)
	})
}
