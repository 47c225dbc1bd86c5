package hpack

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// index finds the entries of an Encoder's dynamic table by hash: whole fields, and the newest
// one of a name. Each bucket has the number of its newest entry, and each entry that of the
// next older one in its bucket. As entries leave the table oldest first, a chain ends at the
// first one that has left, and an eviction has nothing to do here.
//
// Numbers that have become stale, or were never set, may point into the table once more
// when the numbers wrap around. So a candidate is compared in full, and a chain ends where
// it doesn't lead to an older entry.
type index struct {
	pairs, names []uint32
	links        []link // one for each slot of the table's ring
}

type link struct {
	key
	olderPair, olderName uint32
}

// key is what identifies a field: hashes of the name and of the whole field. For a name of
// the static table its index there is enough.
type key struct {
	nameHash, pairHash uint32
	static             uint8
}

func keyOf(static uint8, name []byte) (k key) {
	k.static, k.nameHash = static, uint32(static)
	if static == 0 {
		k.nameHash = hash(0, name)
	}
	return k
}

func (k *key) addValue(value []byte) { k.pairHash = hash(uint64(k.nameHash), value) }

const hashFactor, hashMask = 0xd6e8feb86659fd93, 0xa0761d6478bd642f

// hash is short rather than strong: whoever chooses values that share a bucket makes an
// Encoder look at no more entries than its table has.
func hash(seed uint64, p []byte) uint32 {
	n := len(p)
	var left, right uint64 // the last 16 bytes
	switch {
	case n >= 16:
		left, right = binary.LittleEndian.Uint64(p[n-16:]), binary.LittleEndian.Uint64(p[n-8:])
	case n >= 8:
		left, right = binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[n-8:])
	case n >= 4:
		left, right = uint64(binary.LittleEndian.Uint32(p)), uint64(binary.LittleEndian.Uint32(p[n-4:]))
	case n > 0:
		left = uint64(p[0]) | uint64(p[n>>1])<<8 | uint64(p[n-1])<<16
	}
	h := (seed + uint64(n)) * hashFactor
	for ; len(p) > 16; p = p[16:] {
		h = fold(binary.LittleEndian.Uint64(p)^hashMask, binary.LittleEndian.Uint64(p[8:])^h)
	}
	return uint32(fold(left^hashMask, right^h))
}

func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

// pair finds a whole field and returns its index in the table, counted from 0.
func (x *index) pair(t *table, k *key, name, value []byte) (uint32, bool) {
	if t.count == 0 {
		return 0, false
	}
	number := x.pairs[k.pairHash&uint32(len(x.pairs)-1)]
	for age, last := t.age(number), -1; age < int(t.count) && age > last; age = t.age(number) {
		l := &x.links[number&uint32(len(x.links)-1)]
		if l.pairHash == k.pairHash && l.static == k.static {
			e := t.slot(number)
			if bytes.Equal(t.value(e), value) && (k.static != 0 || bytes.Equal(t.name(e), name)) {
				return uint32(age), true
			}
		}
		number, last = l.olderPair, age
	}
	return 0, false
}

// name finds the newest entry of a name and returns its index in the table.
func (x *index) name(t *table, k *key, name []byte) (uint32, bool) {
	if t.count == 0 {
		return 0, false
	}
	number := x.names[k.nameHash&uint32(len(x.names)-1)]
	for age, last := t.age(number), -1; age < int(t.count) && age > last; age = t.age(number) {
		l := &x.links[number&uint32(len(x.links)-1)]
		if l.nameHash == k.nameHash && l.static == k.static && (k.static != 0 || bytes.Equal(t.name(t.slot(number)), name)) {
			return uint32(age), true
		}
		number, last = l.olderName, age
	}
	return 0, false
}

// add enters the newest entry of the table.
func (x *index) add(t *table, k *key) {
	if len(x.links) != len(t.ring) {
		x.grow(t)
	}
	x.link(t.next-1, k)
}

func (x *index) link(number uint32, k *key) {
	l := &x.links[number&uint32(len(x.links)-1)]
	l.key = *k
	bucket := &x.pairs[k.pairHash&uint32(len(x.pairs)-1)]
	l.olderPair, *bucket = *bucket, number
	bucket = &x.names[k.nameHash&uint32(len(x.names)-1)]
	l.olderName, *bucket = *bucket, number
}

// grow follows the ring of the table, whose newest entry is not linked yet.
func (x *index) grow(t *table) {
	old := x.links
	n := len(t.ring)
	x.links = make([]link, n)
	buckets := make([]uint32, 2*n)
	x.pairs, x.names = buckets[:n], buckets[n:]
	for age := t.count - 1; age > 0; age-- {
		number := t.next - 1 - age
		x.link(number, &old[number&uint32(len(old)-1)].key)
	}
}
