package buffer

import (
	"encoding/binary"
	"math"
)

// The typed writes share a shape, as the reads do: one compare finds room; all else (a
// Buffer that has to grow, a composite, a closed Buffer) is room's. None can fail.

// WriteUint8 writes one byte.
func (b *Buffer) WriteUint8(v uint8) {
	// In this form it is just small enough to be inlined; append never has to grow.
	if len(b.data) < cap(b.data) {
		b.data = append(b.data, v)
		return
	}
	b.writeUint8Slow(v)
}

//go:noinline
func (b *Buffer) writeUint8Slow(v uint8) { b.room(1)[0] = v }

// WriteUint16 writes 2 bytes, big-endian.
func (b *Buffer) WriteUint16(v uint16) {
	if n := len(b.data); cap(b.data)-n >= 2 {
		b.data = b.data[:n+2]
		binary.BigEndian.PutUint16(b.data[n:], v)
		return
	}
	binary.BigEndian.PutUint16(b.room(2), v)
}

// WriteUint24 writes the low 3 bytes of v, big-endian.
func (b *Buffer) WriteUint24(v uint32) {
	d := b.room(3)
	d[0], d[1], d[2] = byte(v>>16), byte(v>>8), byte(v)
}

// WriteUint32 writes 4 bytes, big-endian.
func (b *Buffer) WriteUint32(v uint32) {
	if n := len(b.data); cap(b.data)-n >= 4 {
		b.data = b.data[:n+4]
		binary.BigEndian.PutUint32(b.data[n:], v)
		return
	}
	binary.BigEndian.PutUint32(b.room(4), v)
}

// WriteUint64 writes 8 bytes, big-endian.
func (b *Buffer) WriteUint64(v uint64) {
	if n := len(b.data); cap(b.data)-n >= 8 {
		b.data = b.data[:n+8]
		binary.BigEndian.PutUint64(b.data[n:], v)
		return
	}
	binary.BigEndian.PutUint64(b.room(8), v)
}

// WriteUint16LE writes 2 bytes, little-endian.
func (b *Buffer) WriteUint16LE(v uint16) { binary.LittleEndian.PutUint16(b.room(2), v) }

// WriteUint32LE writes 4 bytes, little-endian.
func (b *Buffer) WriteUint32LE(v uint32) { binary.LittleEndian.PutUint32(b.room(4), v) }

// WriteUint64LE writes 8 bytes, little-endian.
func (b *Buffer) WriteUint64LE(v uint64) { binary.LittleEndian.PutUint64(b.room(8), v) }

// WriteInt8 writes one byte.
func (b *Buffer) WriteInt8(v int8) { b.WriteUint8(uint8(v)) }

// WriteInt16 writes 2 bytes, big-endian.
func (b *Buffer) WriteInt16(v int16) { b.WriteUint16(uint16(v)) }

// WriteInt24 writes the low 3 bytes of v, big-endian.
func (b *Buffer) WriteInt24(v int32) { b.WriteUint24(uint32(v)) }

// WriteInt32 writes 4 bytes, big-endian.
func (b *Buffer) WriteInt32(v int32) { b.WriteUint32(uint32(v)) }

// WriteInt64 writes 8 bytes, big-endian.
func (b *Buffer) WriteInt64(v int64) { b.WriteUint64(uint64(v)) }

// WriteFloat32 writes 4 bytes, IEEE 754, big-endian.
func (b *Buffer) WriteFloat32(v float32) { b.WriteUint32(math.Float32bits(v)) }

// WriteFloat64 writes 8 bytes, IEEE 754, big-endian.
func (b *Buffer) WriteFloat64(v float64) { b.WriteUint64(math.Float64bits(v)) }

// WriteUvarint writes v as an unsigned LEB128 varint, 1 to 10 bytes.
func (b *Buffer) WriteUvarint(v uint64) {
	for v >= 0x80 {
		b.WriteUint8(byte(v) | 0x80)
		v >>= 7
	}
	b.WriteUint8(byte(v))
}

// room commits the next n bytes and returns them for the caller to fill.
func (b *Buffer) room(n int) []byte {
	if w := len(b.data); b.data != nil && cap(b.data)-w >= n {
		b.data = b.data[:w+n]
		return b.data[w:]
	}
	b.Ensure(n)
	d := b.Writable()[:n]
	b.Advance(n)
	return d
}
