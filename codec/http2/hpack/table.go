package hpack

import "math"

// DefaultTableSize is the limit of a dynamic table before any SETTINGS, RFC 9113 section
// 6.5.2.
const DefaultTableSize = 4096

// entryOverhead is what an entry counts beyond its bytes, RFC 7541 section 4.1.
const entryOverhead = 32

// table is a dynamic table, RFC 7541 section 2.3.2. It has no memory before the first
// insertion, and never more than its limit allows for: the arena grows to five quarters of
// what is in the table at most, the ring to one slot for each 32 bytes.
//
// Names and values lie one after another in an arena, in the order of insertion. At its end
// what is still there slides to the front; as a quarter of the arena at least is free then,
// that costs a few bytes moved per byte inserted. Places are counted from the first byte
// that was ever inserted, so that sliding changes no entry. They wrap around, which does
// no harm, because only their differences matter; so do the numbers of the entries.
type table struct {
	arena []byte
	base  uint32  // the place of arena[0]
	ring  []entry // the entry with number n is in slot n modulo the length, a power of two
	next  uint32  // the number of the next entry
	count uint32
	size  uint32
	max   uint32
}

type entry struct {
	place             uint32
	nameLen, valueLen uint32
	traits
}

const (
	firstArena = 512
	firstRing  = 16
)

// at returns the entry of an index that counts from 0, the newest. The index is below count.
func (t *table) at(index uint32) *entry { return t.slot(t.next - 1 - index) }

// age returns the index of an entry by its number; a number that is not in the table has an
// age of count or more.
func (t *table) age(number uint32) int { return int(t.next - 1 - number) }

func (t *table) slot(number uint32) *entry {
	return &t.ring[number&uint32(len(t.ring)-1)]
}

// views returns the name and the value of an entry, valid until the next insertion.
func (t *table) views(e *entry) (name, value []byte) {
	at := e.place - t.base
	both := t.arena[at : at+e.nameLen+e.valueLen]
	return both[:e.nameLen:e.nameLen], both[e.nameLen:len(both):len(both)]
}

func (t *table) name(e *entry) []byte {
	name, _ := t.views(e)
	return name
}

func (t *table) value(e *entry) []byte {
	_, value := t.views(e)
	return value
}

// setMax changes the maximum size, RFC 7541 section 4.3.
func (t *table) setMax(max uint32) {
	t.max = max
	t.evict(0)
	if t.count == 0 {
		t.arena, t.ring = nil, nil
	}
}

// evict makes room for size more bytes, which are at most max.
func (t *table) evict(size uint32) {
	for t.size+size > t.max {
		e := t.slot(t.next - t.count)
		t.size -= e.nameLen + e.valueLen + entryOverhead
		t.count--
	}
}

// add inserts an entry, RFC 7541 section 4.4, and reports whether it fits; if not, the
// table is empty now. Name and value must not be views of the table.
func (t *table) add(name, value []byte, traits traits) bool {
	if len(name)+len(value) > math.MaxInt32 || uint32(len(name)+len(value)+entryOverhead) > t.max {
		t.size, t.count = 0, 0
		return false
	}
	t.evict(uint32(len(name) + len(value) + entryOverhead))
	t.reserve(len(name) + len(value))
	if int(t.count) == len(t.ring) {
		t.growRing()
	}
	e := t.slot(t.next)
	e.place = t.base + uint32(len(t.arena))
	e.nameLen, e.valueLen, e.traits = uint32(len(name)), uint32(len(value)), traits
	t.arena = append(append(t.arena, name...), value...)
	t.size += uint32(len(name) + len(value) + entryOverhead)
	t.next++
	t.count++
	return true
}

// reserve makes room for n bytes at the end of the arena.
func (t *table) reserve(n int) {
	if len(t.arena)+n <= cap(t.arena) {
		return
	}
	live := t.arena[len(t.arena):]
	if t.count > 0 {
		oldest := t.slot(t.next - t.count)
		live = t.arena[oldest.place-t.base:]
	}
	t.base += uint32(len(t.arena) - len(live))
	to, room, most := t.arena[:0], cap(t.arena), int(t.max)+int(t.max/4)
	if need := len(live) + n; need > room || need > room-room/4 && room < most {
		to = make([]byte, 0, min(max(2*room, need*4/3+1, firstArena), most))
	}
	t.arena = append(to, live...)
}

func (t *table) growRing() {
	ring := make([]entry, max(2*len(t.ring), firstRing))
	for i := range t.count {
		number := t.next - 1 - i
		ring[number&uint32(len(ring)-1)] = *t.slot(number)
	}
	t.ring = ring
}
