package buffer

import (
	"encoding/binary"
	"math"
)

// The typed reads share a shape: one compare finds that the window has the bytes; all else
// (a number across two parts, too few bytes, a closed Buffer) is readSlow's. Each panics
// with ErrOutOfRange when fewer bytes are readable than it needs.

// ReadUint8 reads the next byte.
func (b *Buffer) ReadUint8() (v uint8) {
	// In this form it is just small enough to be inlined.
	if b.r < len(b.data) {
		v = b.data[b.r]
		b.r++
		return
	}
	return b.readUint8Slow()
}

//go:noinline
func (b *Buffer) readUint8Slow() uint8 { return uint8(b.readSlow(1)) }

// ReadUint16 reads the next 2 bytes, big-endian.
func (b *Buffer) ReadUint16() uint16 {
	if d := b.data[b.r:]; len(d) >= 2 {
		b.r += 2
		return binary.BigEndian.Uint16(d)
	}
	return uint16(b.readSlow(2))
}

// ReadUint24 reads the next 3 bytes, big-endian.
func (b *Buffer) ReadUint24() uint32 {
	if d := b.data[b.r:]; len(d) >= 3 {
		b.r += 3
		return uint32(d[0])<<16 | uint32(d[1])<<8 | uint32(d[2])
	}
	return uint32(b.readSlow(3))
}

// ReadUint32 reads the next 4 bytes, big-endian.
func (b *Buffer) ReadUint32() uint32 {
	if d := b.data[b.r:]; len(d) >= 4 {
		b.r += 4
		return binary.BigEndian.Uint32(d)
	}
	return uint32(b.readSlow(4))
}

// ReadUint64 reads the next 8 bytes, big-endian.
func (b *Buffer) ReadUint64() uint64 {
	if d := b.data[b.r:]; len(d) >= 8 {
		b.r += 8
		return binary.BigEndian.Uint64(d)
	}
	return b.readSlow(8)
}

// ReadUint16LE reads the next 2 bytes, little-endian.
func (b *Buffer) ReadUint16LE() uint16 {
	if d := b.data[b.r:]; len(d) >= 2 {
		b.r += 2
		return binary.LittleEndian.Uint16(d)
	}
	return reverse16(uint16(b.readSlow(2)))
}

// ReadUint32LE reads the next 4 bytes, little-endian.
func (b *Buffer) ReadUint32LE() uint32 {
	if d := b.data[b.r:]; len(d) >= 4 {
		b.r += 4
		return binary.LittleEndian.Uint32(d)
	}
	return reverse32(uint32(b.readSlow(4)))
}

// ReadUint64LE reads the next 8 bytes, little-endian.
func (b *Buffer) ReadUint64LE() uint64 {
	if d := b.data[b.r:]; len(d) >= 8 {
		b.r += 8
		return binary.LittleEndian.Uint64(d)
	}
	return reverse64(b.readSlow(8))
}

// ReadInt8 reads the next byte as a signed number.
func (b *Buffer) ReadInt8() int8 { return int8(b.ReadUint8()) }

// ReadInt16 reads the next 2 bytes as a signed number, big-endian.
func (b *Buffer) ReadInt16() int16 { return int16(b.ReadUint16()) }

// ReadInt24 reads the next 3 bytes as a signed number, big-endian.
func (b *Buffer) ReadInt24() int32 { return int32(b.ReadUint24()<<8) >> 8 }

// ReadInt32 reads the next 4 bytes as a signed number, big-endian.
func (b *Buffer) ReadInt32() int32 { return int32(b.ReadUint32()) }

// ReadInt64 reads the next 8 bytes as a signed number, big-endian.
func (b *Buffer) ReadInt64() int64 { return int64(b.ReadUint64()) }

// ReadFloat32 reads the next 4 bytes as an IEEE 754 number, big-endian.
func (b *Buffer) ReadFloat32() float32 { return math.Float32frombits(b.ReadUint32()) }

// ReadFloat64 reads the next 8 bytes as an IEEE 754 number, big-endian.
func (b *Buffer) ReadFloat64() float64 { return math.Float64frombits(b.ReadUint64()) }

// ReadString reads the next n bytes as a string of its own. It panics with ErrOutOfRange
// when fewer are readable.
func (b *Buffer) ReadString(n int) string {
	if d := b.data[b.r:]; uint(n-1) < uint(len(d)) {
		b.r += n
		return string(d[:n])
	}
	if b.data == nil || uint(n) > uint(b.Len()) {
		b.refuse("ReadString", n, b.have())
	}
	p := make([]byte, n)
	b.Skip(b.copyOut(p))
	return string(p)
}

// ReadInto moves min(len(dst), Len()) bytes into dst and returns how many.
func (b *Buffer) ReadInto(dst []byte) int {
	n := b.copyOut(dst)
	b.Skip(n)
	return n
}

// ReadUvarint reads an unsigned LEB128 varint of up to 64 bits. With no byte readable it
// returns io.EOF, when the readable bytes end inside the number io.ErrUnexpectedEOF, when
// it is too large ErrVarintOverflow; after an error the reader stands where it stood, so
// that the call can be repeated once more bytes have come.
func (b *Buffer) ReadUvarint() (uint64, error) {
	if d := b.data[b.r:]; len(d) > 0 && d[0] < 0x80 {
		b.r++
		return uint64(d[0]), nil
	}
	return b.readUvarintSlow()
}

// readSlow reads n ≤ 8 bytes, big-endian, wherever they lie.
func (b *Buffer) readSlow(n int) uint64 {
	if b.data == nil || n > b.Len() {
		b.refuse("Read of bytes", n, b.have())
	}
	v := b.peek(0, n)
	b.skipSlow(n)
	return v
}
