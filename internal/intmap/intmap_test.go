package intmap

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
)

// pair is a Map and what it has to be equal to.
type pair struct {
	t     *testing.T
	m     Map[int]
	model map[uint32]int
}

func newPair(t *testing.T) *pair { return &pair{t: t, model: map[uint32]int{}} }

func (p *pair) put(key uint32, v int) { p.m.Put(key, v); p.model[key] = v }
func (p *pair) remove(key uint32)     { p.m.Delete(key); delete(p.model, key) }

func (p *pair) get(key uint32) {
	p.t.Helper()
	want, wantOK := p.model[key]
	if got, ok := p.m.Get(key); got != want || ok != wantOK {
		p.t.Errorf("key %d: %d, %v, want %d, %v", key, got, ok, want, wantOK)
	}
}

func (p *pair) compare() {
	p.t.Helper()
	if got := maps.Collect(p.m.All()); !maps.Equal(got, p.model) || p.m.Len() != len(p.model) {
		p.t.Errorf("%d keys %v, want %v", p.m.Len(), got, p.model)
	}
	for key := range p.model {
		p.get(key)
	}
}

func TestStreams(t *testing.T) {
	t.Parallel()
	for _, live := range []uint32{1, 2, 3, 7, 100} {
		p := newPair(t)
		for key := uint32(1); key < 5000; key += 2 {
			p.put(key, int(key))
			if key > 2*live {
				p.remove(key - 2*live)
			}
			p.get(key)
			p.get(key - 2)
			p.get(key + 2)
			if key%101 == 0 {
				p.compare()
			}
		}
		// Twice what was there at once, rounded up to a power of two and once more for growth.
		if n := len(p.m.slots); n > max(minSlots, 4*int(live+1)) {
			t.Errorf("%d places for %d keys", n, live)
		}
	}
}

func TestRandom(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	p := newPair(t)
	for i := range 20000 {
		key := uint32(r.IntN(64)) + 1
		if r.IntN(2) == 0 {
			key |= 0xffffff00
		}
		switch r.IntN(3) {
		case 0:
			p.put(key, i)
		case 1:
			p.remove(key)
		default:
			p.get(key)
		}
		if i%50 == 0 {
			p.compare()
		}
	}
}

func TestKeyZero(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.get(0)
	p.remove(0)
	p.put(1, 1)
	p.get(0)
	p.remove(0)
	p.compare()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	p.m.Put(0, 1)
}

func TestAllStops(t *testing.T) {
	t.Parallel()
	var m Map[string]
	for key := range uint32(5) {
		m.Put(key+1, "x")
	}
	n := 0
	for range m.All() {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d rounds", n)
	}
}

// Removed values can be collected: their places hold nothing.
func TestDeleteDropsTheValue(t *testing.T) {
	t.Parallel()
	var m Map[*int]
	for key := uint32(1); key < 50; key++ {
		m.Put(key, new(int))
	}
	for key := uint32(1); key < 50; key++ {
		m.Delete(key)
	}
	for i := range m.slots {
		if m.slots[i] != (slot[*int]{}) {
			t.Errorf("place %d holds %v", i, m.slots[i])
		}
	}
}

func TestNoAllocationsInASteadyState(t *testing.T) {
	var m Map[*int]
	for key := uint32(1); key < 200; key += 2 {
		m.Put(key, nil)
	}
	key := uint32(201)
	if n := testing.AllocsPerRun(1000, func() {
		m.Delete(key - 200)
		m.Put(key, nil)
		key += 2
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Each two bytes are a key and what is done with it.
func FuzzMap(f *testing.F) {
	f.Add([]byte{1, 0, 1, 1, 2, 0, 1, 2})
	f.Fuzz(func(t *testing.T, steps []byte) {
		p := newPair(t)
		for i := 0; i+1 < len(steps); i += 2 {
			key := uint32(binary.LittleEndian.Uint16(steps[i:])) >> 2
			switch steps[i] & 3 {
			case 0:
				p.remove(key)
			case 1:
				p.get(key)
			default:
				p.put(key+1, i)
			}
		}
		p.compare()
	})
}

func ExampleMap() {
	var streams Map[string]
	streams.Put(1, "first")
	streams.Put(3, "second")
	streams.Delete(1)
	name, ok := streams.Get(3)
	fmt.Println(name, ok, streams.Len())
	// Output: second true 1
}
