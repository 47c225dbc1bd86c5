package intmap

import (
	"iter"
	"math/bits"
	"math/rand/v2"
)

// Map maps keys other than 0 to values. The zero Map is empty and ready; it belongs to one
// goroutine at a time. What it costs in memory is set by the most keys that it has had at
// once.
//
// A key lies at the place that its hash gives, or in the next free one (linear probing, Knuth
// volume 3, section 6.4). At most half of the places are taken, and a removal leaves none
// that only looks taken, so that a look-up passes few whatever has been there before. A peer
// that chooses the keys doesn't know their hashes.
type Map[V any] struct {
	slots  []slot[V]
	factor uint32 // of the hash: odd, and another one for each Map
	shift  int    // leaves the highest bits of the product, as many as places need
	n      int
}

type slot[V any] struct {
	key   uint32 // 0: free
	value V
}

const minSlots = 8

func (m *Map[V]) place(key uint32) int { return int(key * m.factor >> (m.shift & 31)) }

// Len returns the number of keys.
func (m *Map[V]) Len() int { return m.n }

// Get returns the value of a key, or the zero value if there is none.
func (m *Map[V]) Get(key uint32) (value V, ok bool) {
	if m.n == 0 || key == 0 {
		return value, false
	}
	mask := len(m.slots) - 1
	for i := m.place(key) & mask; ; i = (i + 1) & mask {
		s := &m.slots[i]
		if s.key == key {
			return s.value, true
		}
		if s.key == 0 {
			return value, false
		}
	}
}

// Put sets the value of a key. It panics when the key is 0.
func (m *Map[V]) Put(key uint32, value V) {
	if key == 0 {
		panic("intmap: the key is 0")
	}
	if 2*m.n >= len(m.slots) {
		m.grow()
	}
	mask := len(m.slots) - 1
	for i := m.place(key) & mask; ; i = (i + 1) & mask {
		switch m.slots[i].key {
		case 0:
			m.n++
			fallthrough
		case key:
			m.slots[i] = slot[V]{key, value}
			return
		}
	}
}

func (m *Map[V]) grow() {
	old := m.slots
	if old == nil {
		m.factor = rand.Uint32() | 1
	}
	m.slots, m.n = make([]slot[V], max(minSlots, 2*len(old))), 0
	m.shift = 32 - bits.TrailingZeros(uint(len(m.slots)))
	for i := range old {
		if s := &old[i]; s.key != 0 {
			m.Put(s.key, s.value)
		}
	}
}

// Delete removes a key, if it is there.
func (m *Map[V]) Delete(key uint32) {
	if m.n == 0 || key == 0 {
		return
	}
	mask := len(m.slots) - 1
	i := m.place(key) & mask
	for m.slots[i].key != key {
		if m.slots[i].key == 0 {
			return
		}
		i = (i + 1) & mask
	}
	m.n--
	// Of those that follow without a gap, each moves to the free place unless its own is behind
	// that: a look-up stops at the first free one.
	for j := (i + 1) & mask; m.slots[j].key != 0; j = (j + 1) & mask {
		if home := m.place(m.slots[j].key); (j-home)&mask >= (j-i)&mask {
			m.slots[i] = m.slots[j]
			i = j
		}
	}
	m.slots[i] = slot[V]{}
}

// All returns all keys and values in no order. The Map must not be changed meanwhile.
func (m *Map[V]) All() iter.Seq2[uint32, V] {
	return func(yield func(uint32, V) bool) {
		for i := range m.slots {
			if s := &m.slots[i]; s.key != 0 && !yield(s.key, s.value) {
				return
			}
		}
	}
}
