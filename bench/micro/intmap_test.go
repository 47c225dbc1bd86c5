package micro

import (
	"math/bits"
	"testing"
)

var intmapSink int

// openMap maps keys other than 0 to values by open addressing with linear probing; a removal
// moves what follows back.
type openMap struct {
	slots []openSlot
	n     int
}

type openSlot struct {
	key   uint32
	value *int
}

// openSeed would be another one for each map, so that a peer can't choose keys that collide.
const openSeed = 0x8c6f5b1d2e4a3971

func (m *openMap) place(key uint32) int {
	high, low := bits.Mul64(uint64(key)^openSeed, 0x9e3779b97f4a7c15)
	return int(high^low) & (len(m.slots) - 1)
}

func (m *openMap) get(key uint32) *int {
	mask := len(m.slots) - 1
	for i := m.place(key); ; i = (i + 1) & mask {
		if s := &m.slots[i]; s.key == key || s.key == 0 {
			return s.value
		}
	}
}

func (m *openMap) put(key uint32, value *int) {
	if 2*m.n >= len(m.slots) {
		m.grow()
	}
	mask := len(m.slots) - 1
	i := m.place(key)
	for m.slots[i].key != 0 {
		i = (i + 1) & mask
	}
	m.slots[i] = openSlot{key, value}
	m.n++
}

func (m *openMap) grow() {
	old := m.slots
	m.slots, m.n = make([]openSlot, max(8, 2*len(old))), 0
	for _, s := range old {
		if s.key != 0 {
			m.put(s.key, s.value)
		}
	}
}

func (m *openMap) remove(key uint32) {
	mask := len(m.slots) - 1
	i := m.place(key)
	for m.slots[i].key != key {
		i = (i + 1) & mask
	}
	m.n--
	for j := (i + 1) & mask; m.slots[j].key != 0; j = (j + 1) & mask {
		if home := m.place(m.slots[j].key); (j-home)&mask >= (j-i)&mask {
			m.slots[i] = m.slots[j]
			i = j
		}
	}
	m.slots[i] = openSlot{}
}

// intmapFound fails unless every look-up found a stream.
func intmapFound(b *testing.B, found int) {
	if intmapSink = found; found != 4*b.N {
		b.Fatalf("found %d of %d", found, 4*b.N)
	}
}

// chained is a table of streams that carry their own link: what a codec has that owns the
// values, as the HTTP/2 codec does.
type chained struct {
	buckets []*chainedValue
	free    *chainedValue
}

type chainedValue struct {
	key  uint32
	next *chainedValue
}

func (t *chained) bucket(key uint32) **chainedValue {
	return &t.buckets[key>>1&uint32(len(t.buckets)-1)]
}

func (t *chained) get(key uint32) *chainedValue {
	v := *t.bucket(key)
	for v != nil && v.key != key {
		v = v.next
	}
	return v
}

func (t *chained) put(key uint32) {
	v := t.free
	if v == nil {
		v = new(chainedValue)
	} else {
		t.free = v.next
	}
	at := t.bucket(key)
	v.key, v.next, *at = key, *at, v
}

func (t *chained) remove(key uint32) {
	at := t.bucket(key)
	for (*at).key != key {
		at = &(*at).next
	}
	v := *at
	*at = v.next
	v.next, t.free = t.free, v
}

// Streams of a connection: odd keys that grow, live at once so many, each looked up a few
// times while it lives. One iteration is a stream that begins, four look-ups of live streams
// at random, and the end of the oldest stream.
func BenchmarkIntMap(b *testing.B) {
	value := new(int)
	for _, live := range []struct {
		name string
		n    int
	}{{"1", 1}, {"10", 10}, {"100", 100}, {"1000", 1000}} {
		r := seeded()
		var which [4096]uint32
		for i := range which {
			which[i] = 2 * uint32(r.IntN(live.n))
		}
		group := "op=streams/live=" + live.name
		span := 2 * uint32(live.n)
		b.Run(group+"/alt=go", func(b *testing.B) {
			m := map[uint32]*int{}
			for key := uint32(1); key < span; key += 2 {
				m[key] = value
			}
			b.ReportAllocs()
			key, found := span+1, 0
			for i := range b.N {
				m[key] = value
				for j := range 4 {
					if m[key-which[(4*i+j)%len(which)]] != nil {
						found++
					}
				}
				delete(m, key-span)
				key = (key + 2) & (1<<31 - 1)
			}
			intmapFound(b, found)
		})
		b.Run(group+"/alt=open-addressing", func(b *testing.B) {
			var m openMap
			for key := uint32(1); key < span; key += 2 {
				m.put(key, value)
			}
			b.ReportAllocs()
			key, found := span+1, 0
			for i := range b.N {
				m.put(key, value)
				for j := range 4 {
					if m.get(key-which[(4*i+j)%len(which)]) != nil {
						found++
					}
				}
				m.remove(key - span)
				key = (key + 2) & (1<<31 - 1)
			}
			intmapFound(b, found)
		})
		b.Run(group+"/alt=millrace-chained", func(b *testing.B) {
			t := chained{buckets: make([]*chainedValue, 1<<bits.Len(uint(live.n)))}
			for key := uint32(1); key < span; key += 2 {
				t.put(key)
			}
			b.ReportAllocs()
			key, found := span+1, 0
			for i := range b.N {
				t.put(key)
				for j := range 4 {
					if t.get(key-which[(4*i+j)%len(which)]) != nil {
						found++
					}
				}
				t.remove(key - span)
				key = (key + 2) & (1<<31 - 1)
			}
			intmapFound(b, found)
		})
	}
}
