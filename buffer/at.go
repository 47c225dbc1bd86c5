package buffer

import (
	"encoding/binary"
	"math/bits"
)

// Access without moving an index. i counts from the reader index, so it stays right when
// the Buffer compacts or grows. Each panics with ErrOutOfRange unless all of the bytes that
// it needs are readable.

// Uint8At returns the byte at i.
func (b *Buffer) Uint8At(i int) uint8 {
	// In this form it is just small enough to be inlined.
	if uint(i) < uint(len(b.data)-b.r) {
		return b.data[b.r+i]
	}
	return b.uint8AtSlow(i)
}

//go:noinline
func (b *Buffer) uint8AtSlow(i int) uint8 { return uint8(b.atSlow(i, 1)) }

// Uint16At returns the 2 bytes at i, big-endian.
func (b *Buffer) Uint16At(i int) uint16 {
	if d := b.data[b.r:]; uint(i) < uint(len(d)) {
		if d = d[i:]; len(d) >= 2 {
			return binary.BigEndian.Uint16(d)
		}
	}
	return uint16(b.atSlow(i, 2))
}

// Uint24At returns the 3 bytes at i, big-endian.
func (b *Buffer) Uint24At(i int) uint32 {
	if d := b.data[b.r:]; uint(i) < uint(len(d)) {
		if d = d[i:]; len(d) >= 3 {
			return uint32(d[0])<<16 | uint32(d[1])<<8 | uint32(d[2])
		}
	}
	return uint32(b.atSlow(i, 3))
}

// Uint32At returns the 4 bytes at i, big-endian.
func (b *Buffer) Uint32At(i int) uint32 {
	if d := b.data[b.r:]; uint(i) < uint(len(d)) {
		if d = d[i:]; len(d) >= 4 {
			return binary.BigEndian.Uint32(d)
		}
	}
	return uint32(b.atSlow(i, 4))
}

// Uint64At returns the 8 bytes at i, big-endian.
func (b *Buffer) Uint64At(i int) uint64 {
	if d := b.data[b.r:]; uint(i) < uint(len(d)) {
		if d = d[i:]; len(d) >= 8 {
			return binary.BigEndian.Uint64(d)
		}
	}
	return b.atSlow(i, 8)
}

// SetUint8At replaces the byte at i.
func (b *Buffer) SetUint8At(i int, v uint8) {
	if d := b.data[b.r:]; uint(i) < uint(len(d)) {
		d[i] = v
		return
	}
	b.setAtSlow(i, 1, uint64(v))
}

// SetUint16At replaces the 2 bytes at i, big-endian.
func (b *Buffer) SetUint16At(i int, v uint16) {
	if d := b.data[b.r:]; uint(i) < uint(len(d)) {
		if d = d[i:]; len(d) >= 2 {
			binary.BigEndian.PutUint16(d, v)
			return
		}
	}
	b.setAtSlow(i, 2, uint64(v))
}

// SetUint24At replaces the 3 bytes at i by the low 3 bytes of v, big-endian.
func (b *Buffer) SetUint24At(i int, v uint32) {
	if d := b.data[b.r:]; uint(i) < uint(len(d)) {
		if d = d[i:]; len(d) >= 3 {
			d[0], d[1], d[2] = byte(v>>16), byte(v>>8), byte(v)
			return
		}
	}
	b.setAtSlow(i, 3, uint64(v))
}

// SetUint32At replaces the 4 bytes at i, big-endian.
func (b *Buffer) SetUint32At(i int, v uint32) {
	if d := b.data[b.r:]; uint(i) < uint(len(d)) {
		if d = d[i:]; len(d) >= 4 {
			binary.BigEndian.PutUint32(d, v)
			return
		}
	}
	b.setAtSlow(i, 4, uint64(v))
}

// SetUint64At replaces the 8 bytes at i, big-endian.
func (b *Buffer) SetUint64At(i int, v uint64) {
	if d := b.data[b.r:]; uint(i) < uint(len(d)) {
		if d = d[i:]; len(d) >= 8 {
			binary.BigEndian.PutUint64(d, v)
			return
		}
	}
	b.setAtSlow(i, 8, v)
}

func (b *Buffer) atSlow(i, n int) uint64 {
	if b.data == nil || uint(i) > uint(b.Len()) || n > b.Len()-i {
		b.refuse("At", i, b.have())
	}
	return b.peek(i, n)
}

func (b *Buffer) setAtSlow(i, n int, v uint64) {
	if b.data == nil || uint(i) > uint(b.Len()) || n > b.Len()-i {
		b.refuse("SetAt", i, b.have())
	}
	for k := n - 1; k >= 0; k-- {
		b.runAt(i + k)[0] = byte(v)
		v >>= 8
	}
}

func reverse16(v uint16) uint16 { return bits.ReverseBytes16(v) }
func reverse32(v uint32) uint32 { return bits.ReverseBytes32(v) }
func reverse64(v uint64) uint64 { return bits.ReverseBytes64(v) }
