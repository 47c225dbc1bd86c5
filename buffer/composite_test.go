package buffer

import (
	"bytes"
	"testing"
)

func TestAppendCopiesWhereSharingDoesNotPay(t *testing.T) {
	withLevel(t, Disabled)
	for _, row := range []struct {
		name   string
		other  func() *Buffer
		shared bool
	}{
		{"nothing", func() *Buffer { return testPool.Allocate(5000) }, false},
		{"few bytes", func() *Buffer { return Copy(make([]byte, smallCopy)) }, false},
		{"many bytes", func() *Buffer { return Copy(make([]byte, smallCopy+1)) }, true},
		{"a small part of a block", func() *Buffer { return part(64<<10, 8<<10-1) }, false},
		{"an eighth of a block", func() *Buffer { return part(64<<10, 8<<10) }, true},
		{"few bytes in many parts", func() *Buffer { return Compose(Copy(make([]byte, 9)), Copy(make([]byte, 9))) }, false},
		{"many bytes in parts", func() *Buffer { return Compose(Copy(make([]byte, 999)), Copy(make([]byte, 999))) }, true},
	} {
		for name, b := range map[string]*Buffer{
			"with room":    part(64<<10, 100),
			"without room": Copy(make([]byte, 100)),
			"large":        Copy(make([]byte, 100_000)),
		} {
			o := row.other()
			want := b.Len() + o.Len()
			b.Append(o)
			if b.Len() != want {
				t.Errorf("%s to one %s: %d bytes, want %d", row.name, name, b.Len(), want)
			}
			composite := row.shared || name == "large" && row.name != "nothing"
			if b.isComposite() != composite {
				t.Errorf("%s to one %s: composite is %v", row.name, name, b.isComposite())
			}
			b.Close()
		}
	}
}

// part returns n bytes in a block of size.
func part(size, n int) *Buffer {
	b := testPool.Allocate(size)
	b.Advance(n)
	return b
}

func TestAppendToAnEmptyBufferTakesTheMemory(t *testing.T) {
	withLevel(t, Disabled)
	b, o := testPool.Allocate(100), part(5000, 4000)
	blk := o.blk
	b.Append(o)
	if b.isComposite() || b.blk != blk || b.Available() != cap(blk.mem)-4000 {
		t.Errorf("composite %v, available %d", b.isComposite(), b.Available())
	}
	b.Close()
}

// TestGatheringSmallPieces appends what a peer could send byte by byte, each in a block of
// its own: neither the parts nor the memory may grow with the number of pieces.
func TestGatheringSmallPieces(t *testing.T) {
	withLevel(t, Disabled)
	b := New(0)
	const total = 100_000
	for i := range total {
		o := testPool.Allocate(4096)
		o.WriteUint8(byte(i))
		b.Append(o)
	}
	pinned := cap(b.data)
	parts := 1
	if b.isComposite() {
		pinned, parts = 0, len(b.ext.parts)
		for _, p := range b.ext.parts {
			pinned += p.Cap()
		}
	}
	if b.Len() != total || pinned > 2*total || parts > 20 {
		t.Errorf("%d bytes in %d parts, %d bytes of memory", b.Len(), parts, pinned)
	}
	for i := range total {
		if c := b.ReadUint8(); c != byte(i) {
			t.Fatalf("byte %d is %d", i, c)
		}
	}
	b.Close()
}

// TestManyParts goes through a composite of so many parts that a walk over all of them at
// each step would not end in time.
func TestManyParts(t *testing.T) {
	withLevel(t, Disabled)
	const parts, size = 20_000, 1500
	piece := bytes.Repeat([]byte("x"), size)
	fill := func() *Buffer {
		b := New(0)
		for range parts {
			b.Append(Wrap(piece))
		}
		if len(b.ext.parts) != parts {
			t.Fatalf("%d parts", len(b.ext.parts))
		}
		return b
	}
	b := fill()
	for b.Len() > 0 {
		l := b.Split(min(b.Len(), 1000))
		if l.Uint8At(0) != 'x' {
			t.Fatal("other bytes")
		}
		l.Close()
	}
	b.Close()
	b = fill()
	for b.Len() > size {
		b.Skip(size)
		b.Compact()
	}
	b.Close()
	b = fill()
	n := 0
	for p := make([]byte, 4000); b.Len() > 0; {
		n += b.ReadInto(p)
	}
	if n != parts*size {
		t.Errorf("read %d bytes", n)
	}
	b.SetReaderIndex(0)
	if len(b.Bytes()) != parts*size || b.isComposite() {
		t.Error("not flattened")
	}
	b.Close()
}

func TestRunsOfAComposite(t *testing.T) {
	b := Compose(CopyString("ab"), CopyString("cd"), CopyString("ef"))
	defer b.Close()
	b.Skip(3)
	runs := b.Runs(make([][]byte, 1, 4))
	if len(runs) != 3 || runs[0] != nil || string(runs[1]) != "d" || string(runs[2]) != "ef" {
		t.Errorf("%q", runs)
	}
	b.Skip(1)
	if string(b.Readable()) != "ef" {
		t.Errorf("Readable at a border: %q", b.Readable())
	}
	b.Skip(2)
	if runs := b.Runs(nil); len(runs) != 0 {
		t.Errorf("%q when all is read", runs)
	}
}

func TestComposeOfNothingAndOfOne(t *testing.T) {
	b := Compose()
	if b.Len() != 0 {
		t.Error("not empty")
	}
	b.WriteString("grows")
	b.Close()
	b = Compose(CopyString("one"))
	if !b.Equal([]byte("one")) || b.isComposite() {
		t.Errorf("%q", b.Bytes())
	}
	b.Close()
	b = Compose(New(10), CopyString("one"), New(10), Compose(New(0), New(5)))
	if !b.Equal([]byte("one")) {
		t.Errorf("%q", b.Bytes())
	}
	b.Close()
}

func TestEnsureReplacesAnUnusedPart(t *testing.T) {
	withLevel(t, Disabled)
	for _, read := range []int{0, 4} { // the reader stands before, and in, the part replaced
		b := Compose(CopyString("ab"), CopyString("cd"))
		b.Ensure(10)
		b.Skip(read)
		b.SetReaderIndex(b.ReaderIndex())
		b.Ensure(5000)
		if b.Available() < 5000 || len(b.ext.parts) != 3 {
			t.Errorf("available %d, %d parts", b.Available(), len(b.ext.parts))
		}
		checkInvariants(t, b)
		b.WriteString("ef")
		if string(b.Bytes()) != "abcdef"[read:] {
			t.Errorf("%q", b.Bytes())
		}
		b.Close()
	}
}

func TestJoiningACompositeWithRoomLeft(t *testing.T) {
	withLevel(t, Disabled)
	o := Compose(Copy(make([]byte, 1000)), Copy(make([]byte, 1000)))
	o.Skip(1)
	o.Ensure(100)
	b := Compose(CopyString("ab"), o)
	checkInvariants(t, b)
	if b.Len() != 2001 || len(b.ext.parts) != 3 {
		t.Errorf("%d bytes in %d parts", b.Len(), len(b.ext.parts))
	}
	wantPanic(t, "Compose of one twice", ErrOutOfRange, func() { Compose(b, b) })
	b.Close()
}
