package hpack

import "math"

// Encoder encodes the header blocks of one connection, RFC 7541 section 2. The zero Encoder
// is ready; like the peer's decoder it begins with an empty dynamic table that is limited to
// DefaultTableSize.
//
// A block is what its Append methods have appended for one header or trailer section. Every
// block has to reach the peer, in the order of encoding, because those behind it rely on
// the dynamic table that it leaves.
type Encoder struct {
	table table
	index index
	// settled says that nothing has to be done before the next field.
	settled bool
	started bool
	// The size in use is the lesser of what this end wants and what the peer takes.
	wanted, peer uint32
	least        uint32 // the least size since the last update
}

// SetTableSize changes the most bytes that this end wants to spend on the dynamic table;
// without it they are DefaultTableSize. Call it between blocks.
func (e *Encoder) SetTableSize(n uint32) {
	e.start()
	e.wanted = n
	e.resize()
}

// SetPeerTableSize changes the limit to the peer's SETTINGS_HEADER_TABLE_SIZE. Call it
// between blocks, before the settings are acknowledged; the next block begins with the
// update that RFC 7541 section 4.2 wants, the lowest size in between included. A large
// value costs nothing: see SetTableSize.
func (e *Encoder) SetPeerTableSize(n uint32) {
	e.start()
	e.peer = n
	e.resize()
}

func (e *Encoder) start() {
	if !e.started {
		e.started, e.settled = true, true
		e.wanted, e.peer, e.least = DefaultTableSize, DefaultTableSize, math.MaxUint32
		e.table.max = DefaultTableSize
	}
}

func (e *Encoder) resize() {
	e.least = min(e.least, e.wanted, e.peer)
	e.settled = false
}

// settle begins a block with the updates that are due. The entries that the peer evicts
// because of the lowest size in between are evicted here, too.
func (e *Encoder) settle(dst []byte) []byte {
	e.start()
	e.settled = true
	size := min(e.wanted, e.peer)
	if e.least < size && e.least < e.table.max {
		e.table.setMax(e.least)
		dst = appendInteger(dst, 0x20, 0x1f, e.least)
	}
	if size != e.table.max {
		e.table.setMax(size)
		dst = appendInteger(dst, 0x20, 0x1f, size)
	}
	e.least = math.MaxUint32
	if e.table.ring == nil {
		e.index = index{}
	}
	return dst
}
