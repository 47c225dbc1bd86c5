package buffer

import (
	"math"
	"testing"
)

func TestIndexArguments(t *testing.T) {
	for shape, b := range shapes([]byte("012345")) {
		r, w := b.ReaderIndex(), b.WriterIndex()
		for _, row := range []struct {
			op   string
			args []int
			call func(int)
		}{
			{"SetReaderIndex", []int{-1, w + 1, math.MinInt, math.MaxInt}, b.SetReaderIndex},
			{"SetWriterIndex", []int{-1, r - 1, b.Cap() + 1, math.MinInt, math.MaxInt}, b.SetWriterIndex},
			{"Skip", []int{-1, 7, math.MinInt, math.MaxInt}, b.Skip},
			{"Advance", []int{-1, b.Available() + 1, math.MinInt, math.MaxInt}, b.Advance},
			{"Truncate", []int{-1, 7, math.MinInt, math.MaxInt}, b.Truncate},
			{"Split", []int{-1, 7, math.MinInt, math.MaxInt}, func(n int) { b.Split(n) }},
			{"Ensure", []int{-1, math.MinInt, math.MaxInt, math.MaxInt - 3}, b.Ensure},
			{"ReadString", []int{-1, 7, math.MinInt, math.MaxInt}, func(n int) { b.ReadString(n) }},
		} {
			for _, n := range row.args {
				wantPanic(t, row.op+", "+shape, ErrOutOfRange, func() { row.call(n) })
			}
		}
		if b.ReaderIndex() != r || b.WriterIndex() != w || !b.Equal([]byte("012345")) {
			t.Errorf("%s: changed by refused calls: %d %d %q", shape, b.ReaderIndex(), b.WriterIndex(), b.Bytes())
		}
		b.Skip(0)
		b.Advance(0)
		if b.ReadString(0) != "" || b.Len() != 6 {
			t.Errorf("%s: moved by 0", shape)
		}
		b.Close()
	}
	wantPanic(t, "New", ErrOutOfRange, func() { New(-1) })
	wantPanic(t, "Allocate", ErrOutOfRange, func() { testPool.Allocate(-1) })
	wantPanic(t, "Allocate unpooled", ErrOutOfRange, func() { Unpooled().Allocate(math.MinInt) })
	for _, a := range []Allocator{newPooled(PooledOptions{Limit: 1 << 20}), NewAllocator(UnpooledOffHeap)} {
		before := a.Stats().Reserved
		wantPanic(t, "Allocate all there is", ErrOutOfRange, func() { a.Allocate(math.MaxInt) })
		if now := a.Stats().Reserved; now != before {
			t.Errorf("%d bytes counted", now-before)
		}
	}
}

func TestEveryMethodRefusesAClosedBuffer(t *testing.T) {
	other := CopyString("other")
	defer other.Close()
	for shape, b := range shapes([]byte("abc")) {
		b.Close()
		if !b.IsClosed() {
			t.Errorf("%s: IsClosed is false", shape)
		}
		for op, call := range map[string]func(){
			"Len": func() { b.Len() }, "IsEmpty": func() { b.IsEmpty() }, "Cap": func() { b.Cap() },
			"Available": func() { b.Available() }, "ReaderIndex": func() { b.ReaderIndex() },
			"WriterIndex": func() { b.WriterIndex() }, "SetReaderIndex": func() { b.SetReaderIndex(0) },
			"SetWriterIndex": func() { b.SetWriterIndex(0) }, "Readable": func() { b.Readable() },
			"Writable": func() { b.Writable() }, "Runs": func() { b.Runs(nil) }, "Bytes": func() { b.Bytes() },
			"Skip": func() { b.Skip(0) }, "Advance": func() { b.Advance(0) }, "Truncate": func() { b.Truncate(0) },
			"Reset": b.Reset, "Compact": b.Compact, "Ensure": func() { b.Ensure(0) },
			"Split": func() { b.Split(0) }, "Append": func() { b.Append(other) },
			"Append closed": func() { other.Append(b) }, "Compose": func() { Compose(b) },
			"Compose second": func() { Compose(other, b) }, "Close": b.Close,
			"Read": func() { b.Read(nil) }, "ReadByte": func() { b.ReadByte() }, "UnreadByte": func() { b.UnreadByte() },
			"Write": func() { b.Write(nil) }, "WriteString": func() { b.WriteString("") }, "WriteByte": func() { b.WriteByte(0) },
			"ReadFrom": func() { b.ReadFrom(other) }, "WriteTo": func() { b.WriteTo(other) },
			"ReadString": func() { b.ReadString(0) }, "ReadInto": func() { b.ReadInto(nil) },
			"IndexByte": func() { b.IndexByte(0) }, "Equal": func() { b.Equal(nil) },
			"ReadUvarint": func() { b.ReadUvarint() }, "WriteUvarint": func() { b.WriteUvarint(1) },
			"Touch": func() { b.Touch("here") },
		} {
			wantPanic(t, op+", "+shape, ErrClosed, call)
		}
	}
	if !other.Equal([]byte("other")) {
		t.Errorf("%q: a refused call took it over", other.Bytes())
	}
}

func TestAppendToItself(t *testing.T) {
	b := CopyString("abc")
	defer b.Close()
	wantPanic(t, "Append", ErrOutOfRange, func() { b.Append(b) })
}

func TestGrowthIsGeometric(t *testing.T) {
	for name, b := range map[string]*Buffer{"heap": New(0), "pooled": testPool.Allocate(0)} {
		moves, last := 0, b.Cap()
		for range 1 << 18 {
			b.WriteUint8(7)
			if b.Cap() != last {
				moves, last = moves+1, b.Cap()
			}
		}
		if moves > 20 {
			t.Errorf("%s: %d moves to reach 256 KiB", name, moves)
		}
		b.Close()
	}
}

func TestEnsureReusesReadSpaceBeforeGrowing(t *testing.T) {
	b := testPool.Allocate(1024)
	defer b.Close()
	for range 100 {
		b.Ensure(512)
		b.Advance(512)
		b.Skip(512)
	}
	if b.Cap() != 1024 {
		t.Errorf("capacity %d after reading all that was written", b.Cap())
	}
}

func TestMemoryIsRecoveredWhenThePartsAreClosed(t *testing.T) {
	for op, recover := range map[string]func(*Buffer){
		"Reset":   (*Buffer).Reset,
		"Compact": (*Buffer).Compact,
		"Ensure":  func(b *Buffer) { b.Ensure(1000) },
	} {
		b := testPool.Allocate(1024)
		b.Advance(1000)
		left := b.Split(900)
		if b.Cap() >= 1024 {
			t.Fatalf("%s: capacity %d after Split", op, b.Cap())
		}
		if op != "Ensure" {
			recover(b) // left is still open: its memory must not be touched
			if b.Cap() >= 1024 {
				t.Errorf("%s: took memory that another Buffer holds", op)
			}
		}
		left.Close()
		b.Truncate(0)
		recover(b)
		if b.Cap() != 1024 || b.ReaderIndex() != 0 {
			t.Errorf("%s: capacity %d, reader index %d", op, b.Cap(), b.ReaderIndex())
		}
		b.Close()
	}
}

func TestWrapLeavesWhatLiesBehindAlone(t *testing.T) {
	whole := []byte("abcdef")
	b := Wrap(whole[:3])
	b.WriteUint8('X')
	if string(whole) != "abcdef" || !b.Equal([]byte("abcX")) {
		t.Errorf("%q %q", whole, b.Bytes())
	}
	b.Close()
	n := Wrap(nil)
	if n.IsClosed() || n.Len() != 0 {
		t.Error("Wrap(nil) isn't an empty Buffer")
	}
	n.Close()
}

func TestUncheckedKeepsValidCallsWorking(t *testing.T) {
	SetChecks(false)
	defer SetChecks(true)
	for shape, b := range shapes([]byte("012345")) {
		r := b.ReaderIndex()
		b.SetReaderIndex(r + 4)
		b.SetReaderIndex(r + 2)
		b.SetWriterIndex(r + 5)
		b.Truncate(2)
		if !b.Equal([]byte("23")) {
			t.Errorf("%s: %q", shape, b.Bytes())
		}
		b.Close()
	}
	b := CopyString("abc")
	defer b.Close()
	if panicOf(t, func() { b.SetReaderIndex(1) }) != nil || panicOf(t, func() { b.SetWriterIndex(0) }) != nil {
		t.Error("a check is still on")
	}
	b.SetReaderIndex(0)
}
