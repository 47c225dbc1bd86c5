package buffer

import (
	"bytes"
	"math"
	"testing"
)

var readTable = []struct {
	name  string
	bytes string
	read  func(*Buffer) any
	want  any
}{
	{"ReadUint8", "\xf1", func(b *Buffer) any { return b.ReadUint8() }, uint8(0xf1)},
	{"ReadUint16", "\xf1\x02", func(b *Buffer) any { return b.ReadUint16() }, uint16(0xf102)},
	{"ReadUint24", "\xf1\x02\x03", func(b *Buffer) any { return b.ReadUint24() }, uint32(0xf10203)},
	{"ReadUint32", "\xf1\x02\x03\x04", func(b *Buffer) any { return b.ReadUint32() }, uint32(0xf1020304)},
	{"ReadUint64", "\xf1\x02\x03\x04\x05\x06\x07\x08", func(b *Buffer) any { return b.ReadUint64() }, uint64(0xf102030405060708)},
	{"ReadUint16LE", "\xf1\x02", func(b *Buffer) any { return b.ReadUint16LE() }, uint16(0x02f1)},
	{"ReadUint32LE", "\xf1\x02\x03\x04", func(b *Buffer) any { return b.ReadUint32LE() }, uint32(0x040302f1)},
	{"ReadUint64LE", "\xf1\x02\x03\x04\x05\x06\x07\x08", func(b *Buffer) any { return b.ReadUint64LE() }, uint64(0x08070605040302f1)},
	{"ReadInt8", "\xff", func(b *Buffer) any { return b.ReadInt8() }, int8(-1)},
	{"ReadInt16", "\x80\x01", func(b *Buffer) any { return b.ReadInt16() }, int16(-0x7fff)},
	{"ReadInt24", "\x80\x00\x01", func(b *Buffer) any { return b.ReadInt24() }, int32(-0x7fffff)},
	{"ReadInt24 positive", "\x7f\xff\xff", func(b *Buffer) any { return b.ReadInt24() }, int32(0x7fffff)},
	{"ReadInt32", "\x80\x00\x00\x01", func(b *Buffer) any { return b.ReadInt32() }, int32(-0x7fffffff)},
	{"ReadInt64", "\x80\x00\x00\x00\x00\x00\x00\x01", func(b *Buffer) any { return b.ReadInt64() }, int64(-0x7fffffffffffffff)},
	{"ReadFloat32", "\xc0\x20\x00\x00", func(b *Buffer) any { return b.ReadFloat32() }, float32(-2.5)},
	{"ReadFloat64", "\x3f\xf8\x00\x00\x00\x00\x00\x00", func(b *Buffer) any { return b.ReadFloat64() }, 1.5},
	{"ReadString", "text", func(b *Buffer) any { return b.ReadString(4) }, "text"},
}

func TestReadAccessors(t *testing.T) {
	for _, row := range readTable {
		p := []byte(row.bytes)
		behind := append(bytes.Clone(p), 0x5a)
		for shape, b := range shapes(behind) {
			if got := row.read(b); got != row.want {
				t.Errorf("%s, %s: %v, want %v", row.name, shape, got, row.want)
			}
			if b.Len() != 1 || b.Uint8At(0) != 0x5a {
				t.Errorf("%s, %s: %x left", row.name, shape, b.Bytes())
			}
			b.Close()
			wantPanic(t, row.name+" after Close, "+shape, ErrClosed, func() { row.read(b) })
		}
		for shape, b := range shapes(p[:len(p)-1]) {
			wantPanic(t, row.name+" of too few, "+shape, ErrOutOfRange, func() { row.read(b) })
			if !b.Equal(p[:len(p)-1]) {
				t.Errorf("%s, %s: %x left after a panic", row.name, shape, b.Bytes())
			}
			b.Close()
		}
	}
}

var writeTable = []struct {
	name  string
	write func(*Buffer)
	want  string
}{
	{"WriteUint8", func(b *Buffer) { b.WriteUint8(0xf1) }, "\xf1"},
	{"WriteUint16", func(b *Buffer) { b.WriteUint16(0xf102) }, "\xf1\x02"},
	{"WriteUint24", func(b *Buffer) { b.WriteUint24(0xaaf10203) }, "\xf1\x02\x03"},
	{"WriteUint32", func(b *Buffer) { b.WriteUint32(0xf1020304) }, "\xf1\x02\x03\x04"},
	{"WriteUint64", func(b *Buffer) { b.WriteUint64(0xf102030405060708) }, "\xf1\x02\x03\x04\x05\x06\x07\x08"},
	{"WriteUint16LE", func(b *Buffer) { b.WriteUint16LE(0x02f1) }, "\xf1\x02"},
	{"WriteUint32LE", func(b *Buffer) { b.WriteUint32LE(0x040302f1) }, "\xf1\x02\x03\x04"},
	{"WriteUint64LE", func(b *Buffer) { b.WriteUint64LE(0x08070605040302f1) }, "\xf1\x02\x03\x04\x05\x06\x07\x08"},
	{"WriteInt8", func(b *Buffer) { b.WriteInt8(-1) }, "\xff"},
	{"WriteInt16", func(b *Buffer) { b.WriteInt16(-0x7fff) }, "\x80\x01"},
	{"WriteInt24", func(b *Buffer) { b.WriteInt24(-0x7fffff) }, "\x80\x00\x01"},
	{"WriteInt32", func(b *Buffer) { b.WriteInt32(-0x7fffffff) }, "\x80\x00\x00\x01"},
	{"WriteInt64", func(b *Buffer) { b.WriteInt64(-0x7fffffffffffffff) }, "\x80\x00\x00\x00\x00\x00\x00\x01"},
	{"WriteFloat32", func(b *Buffer) { b.WriteFloat32(-2.5) }, "\xc0\x20\x00\x00"},
	{"WriteFloat64", func(b *Buffer) { b.WriteFloat64(1.5) }, "\x3f\xf8\x00\x00\x00\x00\x00\x00"},
	{"WriteUvarint 0", func(b *Buffer) { b.WriteUvarint(0) }, "\x00"},
	{"WriteUvarint 127", func(b *Buffer) { b.WriteUvarint(127) }, "\x7f"},
	{"WriteUvarint 128", func(b *Buffer) { b.WriteUvarint(128) }, "\x80\x01"},
	{"WriteUvarint max", func(b *Buffer) { b.WriteUvarint(math.MaxUint64) }, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"},
	{"Write", func(b *Buffer) { b.Write([]byte("some bytes")) }, "some bytes"},
	{"Write nothing", func(b *Buffer) { b.Write(nil) }, ""},
	{"WriteString", func(b *Buffer) { b.WriteString("text") }, "text"},
	{"WriteByte", func(b *Buffer) { b.WriteByte('x') }, "x"},
	{"Advance", func(b *Buffer) { b.Ensure(3); copy(b.Writable(), "abc"); b.Advance(3) }, "abc"},
}

func TestWriteAccessors(t *testing.T) {
	for _, row := range writeTable {
		targets := shapes([]byte("0123"))
		targets["no memory"] = New(0)
		targets["room"] = New(100)
		targets["pooled empty"] = testPool.Allocate(0)
		for shape, b := range targets {
			before := string(bytes.Clone(b.Bytes()))
			for range 40 { // enough to fill every memory in between
				row.write(b)
				checkInvariants(t, b)
			}
			want := before
			for range 40 {
				want += row.want
			}
			if string(b.Bytes()) != want {
				t.Errorf("%s, %s: %x, want %x", row.name, shape, b.Bytes(), want)
			}
			b.Close()
			wantPanic(t, row.name+" after Close, "+shape, ErrClosed, func() { row.write(b) })
		}
	}
}

// TestWritesIntoEveryRoom writes with exactly enough and with one byte too little room.
func TestWritesIntoEveryRoom(t *testing.T) {
	for _, row := range writeTable {
		for room := range len(row.want) + 2 {
			for kind, b := range map[string]*Buffer{
				"contiguous": New(3 + room),
				"composite":  Compose(CopyString("a"), New(2+room)),
			} {
				b.WriteString("abc"[b.Len():])
				row.write(b)
				if string(b.Bytes()) != "abc"+row.want {
					t.Errorf("%s, %s with room for %d: %q", row.name, kind, room, b.Bytes())
				}
				b.Close()
			}
		}
	}
}

var atTable = []struct {
	name string
	n    int
	get  func(b *Buffer, i int) uint64
	set  func(b *Buffer, i int, v uint64)
}{
	{"Uint8At", 1, func(b *Buffer, i int) uint64 { return uint64(b.Uint8At(i)) }, func(b *Buffer, i int, v uint64) { b.SetUint8At(i, uint8(v)) }},
	{"Uint16At", 2, func(b *Buffer, i int) uint64 { return uint64(b.Uint16At(i)) }, func(b *Buffer, i int, v uint64) { b.SetUint16At(i, uint16(v)) }},
	{"Uint24At", 3, func(b *Buffer, i int) uint64 { return uint64(b.Uint24At(i)) }, func(b *Buffer, i int, v uint64) { b.SetUint24At(i, uint32(v)) }},
	{"Uint32At", 4, func(b *Buffer, i int) uint64 { return uint64(b.Uint32At(i)) }, func(b *Buffer, i int, v uint64) { b.SetUint32At(i, uint32(v)) }},
	{"Uint64At", 8, func(b *Buffer, i int) uint64 { return b.Uint64At(i) }, func(b *Buffer, i int, v uint64) { b.SetUint64At(i, v) }},
}

func TestAccessAtEveryPosition(t *testing.T) {
	content := []byte{0x10, 0x21, 0x32, 0x43, 0x54, 0x65, 0x76, 0x87, 0x98, 0xa9}
	const fresh = 0xf1e2d3c4b5a69788
	for _, row := range atTable {
		for shape, b := range shapes(content) {
			for i := 0; i+row.n <= len(content); i++ {
				var want uint64
				for _, c := range content[i : i+row.n] {
					want = want<<8 | uint64(c)
				}
				if got := row.get(b, i); got != want {
					t.Errorf("%s(%d), %s: %x, want %x", row.name, i, shape, got, want)
				}
				row.set(b, i, fresh)
				expect := bytes.Clone(content)
				for k := range row.n {
					expect[i+k] = byte(uint64(fresh) >> (8 * (row.n - 1 - k)))
				}
				if !b.Equal(expect) {
					t.Errorf("Set%s(%d), %s: %x, want %x", row.name, i, shape, b.Runs(nil), expect)
				}
				row.set(b, i, want)
			}
			for _, i := range []int{-1, len(content) - row.n + 1, len(content), len(content) + 1, math.MinInt, math.MaxInt} {
				wantPanic(t, row.name+" outside, "+shape, ErrOutOfRange, func() { row.get(b, i) })
				wantPanic(t, "Set"+row.name+" outside, "+shape, ErrOutOfRange, func() { row.set(b, i, 0) })
			}
			if !b.Equal(content) {
				t.Errorf("%s, %s: %x after refused calls", row.name, shape, b.Bytes())
			}
			b.Close()
			wantPanic(t, row.name+" after Close, "+shape, ErrClosed, func() { row.get(b, 0) })
			wantPanic(t, "Set"+row.name+" after Close, "+shape, ErrClosed, func() { row.set(b, 0, 0) })
		}
	}
}

func TestAtCountsFromTheReader(t *testing.T) {
	b := CopyString("abcdef")
	defer b.Close()
	b.Skip(2)
	if b.Uint8At(0) != 'c' || b.Uint8At(3) != 'f' {
		t.Errorf("%c %c", b.Uint8At(0), b.Uint8At(3))
	}
	wantPanic(t, "behind the end", ErrOutOfRange, func() { b.Uint8At(4) })
	wantPanic(t, "before the reader", ErrOutOfRange, func() { b.Uint8At(-1) })
}
