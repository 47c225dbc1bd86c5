package buffer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

// model is a Buffer beside the plain bytes that it should hold.
type model struct {
	t    testing.TB
	b    *Buffer
	read []byte // bytes before the reader index, at most
	live []byte // readable bytes

	kept     []*Buffer // split off or shared, and still open
	keptWant [][]byte
	shared   bool // nothing may be changed in place any more
}

// check compares everything that can be asked without changing an index.
func (m *model) check(op string) {
	m.t.Helper()
	checkInvariants(m.t, m.b)
	if m.b.Len() != len(m.live) || m.b.IsEmpty() != (len(m.live) == 0) {
		m.t.Fatalf("after %s: Len %d, want %d", op, m.b.Len(), len(m.live))
	}
	var joined []byte
	for _, run := range m.b.Runs(nil) {
		if len(run) == 0 {
			m.t.Fatalf("after %s: empty run", op)
		}
		joined = append(joined, run...)
	}
	if !bytes.Equal(joined, m.live) {
		m.t.Fatalf("after %s: holds %x, want %x", op, joined, m.live)
	}
	if !m.b.Equal(m.live) {
		m.t.Fatalf("after %s: Equal is false", op)
	}
	if r := m.b.Readable(); (len(r) == 0) != (len(m.live) == 0) || !bytes.HasPrefix(m.live, r) {
		m.t.Fatalf("after %s: Readable %x", op, r)
	}
	r, w, c := m.b.ReaderIndex(), m.b.WriterIndex(), m.b.Cap()
	if r < 0 || w-r != len(m.live) || c < w || m.b.Available() != len(m.b.Writable()) || c-w != m.b.Available() {
		m.t.Fatalf("after %s: r=%d w=%d cap=%d available=%d writable=%d live=%d",
			op, r, w, c, m.b.Available(), len(m.b.Writable()), len(m.live))
	}
	// Indexes may start anew, but what lies before the reader is what was read last.
	if r > len(m.read) {
		m.t.Fatalf("after %s: reader index %d after reading %d bytes", op, r, len(m.read))
	}
	m.read = m.read[len(m.read)-r:]
}

func (m *model) take(n int) []byte {
	p := m.live[:n]
	m.read = append(bytes.Clone(m.read), p...)
	m.live = bytes.Clone(m.live[n:])
	return p
}

func checkInvariants(t testing.TB, b *Buffer) {
	t.Helper()
	if b.data == nil || b.r < 0 || b.r > len(b.data) || b.next != nil {
		t.Fatalf("broken: %+v", *b)
	}
	if !b.isComposite() {
		if b.rest != 0 {
			t.Fatalf("contiguous with rest: %+v", *b)
		}
		if b.ext != nil && b.ext.leak == nil {
			t.Fatal("extra without use")
		}
		return
	}
	x := b.ext
	base, rest := 0, 0
	for i, p := range x.parts {
		checkInvariants(t, p)
		if p.ext != nil {
			t.Fatalf("part %d has extra", i)
		}
		n := len(p.data) - p.r
		if n == 0 && i < len(x.parts)-1 {
			t.Fatalf("part %d of %d is empty", i, len(x.parts))
		}
		if i < x.cur {
			base += n
		}
		if i > x.cur {
			rest += n
		}
	}
	p := x.parts[x.cur]
	if base != x.base || rest != b.rest || len(b.data) != cap(b.data) || !bytes.Equal(b.data, p.data[p.r:]) {
		t.Fatalf("composite broken: base %d %d rest %d %d window %d/%d part %d", base, x.base, rest, b.rest, len(b.data), cap(b.data), p.Len())
	}
	if b.blk != nil || len(x.parts) < 2 {
		t.Fatalf("composite with block %v and %d parts", b.blk, len(x.parts))
	}
}

// source is where the random test and the fuzzer take their decisions from.
type source struct {
	fuzz []byte
	rnd  *rand.Rand
	last byte // of the content made so far
}

func (s *source) n(limit int) int {
	if limit <= 0 {
		return 0
	}
	if s.rnd != nil {
		return s.rnd.IntN(limit)
	}
	if len(s.fuzz) == 0 {
		return 0
	}
	v := int(s.fuzz[0])
	s.fuzz = s.fuzz[1:]
	if limit > 256 && len(s.fuzz) > 0 {
		v = v<<8 | int(s.fuzz[0])
		s.fuzz = s.fuzz[1:]
	}
	return v % limit
}

func (s *source) done() bool { return s.rnd == nil && len(s.fuzz) == 0 }

// bytes returns n bytes that differ from their neighbours.
func (s *source) bytes(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		s.last = s.last*5 + 17
		p[i] = s.last
	}
	return p
}

// make returns a Buffer with random content of some kind, and that content.
func (s *source) make(a Allocator) (*Buffer, []byte) {
	p := s.bytes(s.n(40))
	if s.n(4) == 0 {
		p = s.bytes(s.n(12_000)) // what Append shares
	}
	switch s.n(6) {
	case 0:
		return Wrap(bytes.Clone(p)), p
	case 1:
		return Copy(p), p
	case 2:
		return CopyString(string(p)), p
	case 3:
		x, q := s.make(a)
		y, r := s.make(a)
		return Compose(x, y), append(bytes.Clone(q), r...)
	case 4:
		b := New(s.n(20))
		b.Write(p)
		return b, p
	}
	b := a.Allocate(s.n(100))
	b.WriteUint16(0xdead)
	b.Write(p)
	b.Skip(2)
	return b, p
}

// runModel plays steps random operations on a Buffer and on its model.
func runModel(t testing.TB, s *source, steps int, a Allocator) {
	t.Helper()
	b, p := s.make(a)
	m := &model{t: t, b: b, live: bytes.Clone(p)}
	m.forgetRead()
	m.check("make")
	for i := 0; i < steps && !s.done(); i++ {
		var op string
		switch s.n(4) {
		case 0:
			op = m.readOp(s)
		case 1:
			op = m.writeOp(s)
		case 2:
			op = m.indexOp(s)
		default:
			op = m.ownerOp(s, a)
		}
		m.check(op)
	}
	for len(m.kept) > 0 {
		m.closeKept(0)
	}
	if !bytes.Equal(m.b.Bytes(), m.live) {
		t.Fatal("Bytes differ")
	}
	m.b.Close()
}

// forgetRead makes the model expect what source.make has read, if that can be read again.
func (m *model) forgetRead() {
	m.read = make([]byte, m.b.ReaderIndex())
	copy(m.read, []byte{0xde, 0xad})
}

// share shares the Buffer, or one that was split off before, and goes on with either.
func (m *model) share(s *source) string {
	m.shared = true
	if len(m.kept) > 0 && s.n(2) == 0 {
		k := s.n(len(m.kept))
		m.kept = append(m.kept, m.kept[k].Share())
		m.keptWant = append(m.keptWant, m.keptWant[k])
		return "Share of a part split off"
	}
	other := m.b.Share()
	checkInvariants(m.t, other)
	if other.ReaderIndex() != 0 || other.Available() != 0 {
		m.t.Fatalf("Share: reader index %d, %d bytes of room", other.ReaderIndex(), other.Available())
	}
	if s.n(2) == 0 {
		m.b, other = other, m.b
		m.read = nil
	}
	m.kept = append(m.kept, other)
	m.keptWant = append(m.keptWant, bytes.Clone(m.live))
	return "Share"
}

// ownerOp splits, joins, and works on what was split off before.
func (m *model) ownerOp(s *source, a Allocator) string {
	switch s.n(6) {
	case 5:
		return m.share(s)
	case 0:
		n := s.n(len(m.live) + 1)
		composite := m.b.isComposite()
		left := m.b.Split(n)
		checkInvariants(m.t, left)
		if left.Len() != n || m.b.ReaderIndex() != 0 || (!composite && left.Available() != 0) {
			m.t.Fatalf("Split(%d): Len %d, available %d, reader of the rest %d", n, left.Len(), left.Available(), m.b.ReaderIndex())
		}
		m.kept = append(m.kept, left)
		m.keptWant = append(m.keptWant, m.take(n))
		m.read = nil
		return "Split"
	case 1:
		o, p := s.make(a)
		m.b.Append(o)
		m.live = append(bytes.Clone(m.live), p...)
		return "Append"
	case 2:
		o, p := s.make(a)
		if s.n(2) == 0 {
			m.b = Compose(m.b, o)
			m.live = append(bytes.Clone(m.live), p...)
		} else {
			m.b = Compose(o, m.b)
			m.live = append(bytes.Clone(p), m.live...)
			m.forgetRead()
		}
		return "Compose"
	case 3:
		if len(m.kept) > 0 {
			m.closeKept(s.n(len(m.kept)))
		}
		return "close of a part split off"
	}
	if len(m.kept) > 0 {
		k := s.n(len(m.kept))
		p := s.bytes(s.n(10))
		m.kept[k].Write(p)
		m.keptWant[k] = append(bytes.Clone(m.keptWant[k]), p...)
	}
	return "write to a part split off"
}

// closeKept compares and closes the k-th part split off.
func (m *model) closeKept(k int) {
	if !m.kept[k].Equal(m.keptWant[k]) {
		m.t.Fatalf("split part changed: %x, want %x", m.kept[k].Bytes(), m.keptWant[k])
	}
	m.kept[k].Close()
	m.kept = append(m.kept[:k], m.kept[k+1:]...)
	m.keptWant = append(m.keptWant[:k], m.keptWant[k+1:]...)
}

func (m *model) readOp(s *source) string {
	n := len(m.live)
	switch k := s.n(16); {
	case k == 0 && n >= 1:
		m.same("ReadUint8", uint64(m.b.ReadUint8()), 1)
	case k == 1 && n >= 2:
		m.same("ReadUint16", uint64(m.b.ReadUint16()), 2)
	case k == 2 && n >= 3:
		m.same("ReadUint24", uint64(m.b.ReadUint24()), 3)
	case k == 3 && n >= 4:
		m.same("ReadUint32", uint64(m.b.ReadUint32()), 4)
	case k == 4 && n >= 8:
		m.same("ReadUint64", m.b.ReadUint64(), 8)
	case k == 5 && n >= 2:
		m.same("ReadUint16LE", uint64(reverse16(m.b.ReadUint16LE())), 2)
	case k == 6 && n >= 4:
		m.same("ReadUint32LE", uint64(reverse32(m.b.ReadUint32LE())), 4)
	case k == 7 && n >= 8:
		m.same("ReadUint64LE", reverse64(m.b.ReadUint64LE()), 8)
	case k == 8:
		i := s.n(n + 1)
		if got, want := m.b.ReadString(i), string(m.live[:i]); got != want {
			m.t.Fatalf("ReadString %x, want %x", got, want)
		}
		m.take(i)
	case k == 9:
		p := make([]byte, s.n(60))
		got := m.b.ReadInto(p)
		if want := min(len(p), n); got != want || !bytes.Equal(p[:got], m.live[:got]) {
			m.t.Fatalf("ReadInto %d, want %d", got, want)
		}
		m.take(got)
	case k == 10:
		i := s.n(n + 1)
		m.b.Skip(i)
		m.take(i)
	case k == 11:
		m.uvarint()
	case k == 12:
		c, err := m.b.ReadByte()
		if n == 0 {
			if err != io.EOF {
				m.t.Fatalf("ReadByte of nothing: %v", err)
			}
		} else if c != m.live[0] || err != nil {
			m.t.Fatalf("ReadByte %x %v", c, err)
		} else {
			m.take(1)
		}
	case k == 13:
		var w bytes.Buffer
		got, err := m.b.WriteTo(&w)
		if int(got) != n || err != nil || !bytes.Equal(w.Bytes(), m.live) {
			m.t.Fatalf("WriteTo %d %v", got, err)
		}
		m.take(n)
	case k == 14 && n > 0:
		i := s.n(n)
		if got, want := m.b.IndexByte(m.live[i]), bytes.IndexByte(m.live, m.live[i]); got != want {
			m.t.Fatalf("IndexByte %d, want %d", got, want)
		}
	default:
		m.at(s)
	}
	return "a read"
}

func (m *model) same(op string, got uint64, n int) {
	m.t.Helper()
	var want uint64
	for _, c := range m.live[:n] {
		want = want<<8 | uint64(c)
	}
	if got != want {
		m.t.Fatalf("%s: %x, want %x", op, got, want)
	}
	m.take(n)
}

func (m *model) uvarint() {
	want, n := binary.Uvarint(m.live)
	got, err := m.b.ReadUvarint()
	switch {
	case len(m.live) == 0 && err == io.EOF, n == 0 && err == io.ErrUnexpectedEOF:
	case n < 0 && errors.Is(err, ErrVarintOverflow):
	case n == 0 && len(m.live) == binary.MaxVarintLen64 && err == ErrVarintOverflow:
		// Ten bytes without an end can't become a number: package binary waits for one more.
	case n > 0 && err == nil && got == want:
		m.take(n)
	default:
		m.t.Fatalf("ReadUvarint %x: %d %v, want %d (%d)", m.live, got, err, want, n)
	}
}

func (m *model) at(s *source) {
	n := len(m.live)
	for _, w := range []int{1, 2, 3, 4, 8} {
		if n < w || m.shared {
			return
		}
		i := s.n(n - w + 1)
		v := binary.BigEndian.Uint64(s.bytes(8)) >> (64 - 8*w)
		var want uint64
		for _, c := range m.live[i : i+w] {
			want = want<<8 | uint64(c)
		}
		var got, after uint64
		switch w {
		case 1:
			got = uint64(m.b.Uint8At(i))
			m.b.SetUint8At(i, uint8(v))
			after = uint64(m.b.Uint8At(i))
		case 2:
			got = uint64(m.b.Uint16At(i))
			m.b.SetUint16At(i, uint16(v))
			after = uint64(m.b.Uint16At(i))
		case 3:
			got = uint64(m.b.Uint24At(i))
			m.b.SetUint24At(i, uint32(v))
			after = uint64(m.b.Uint24At(i))
		case 4:
			got = uint64(m.b.Uint32At(i))
			m.b.SetUint32At(i, uint32(v))
			after = uint64(m.b.Uint32At(i))
		case 8:
			got = m.b.Uint64At(i)
			m.b.SetUint64At(i, v)
			after = m.b.Uint64At(i)
		}
		if got != want || after != v {
			m.t.Fatalf("%d bytes at %d: %x, want %x; after setting %x, want %x", w, i, got, want, after, v)
		}
		m.live = bytes.Clone(m.live)
		for k := range w {
			m.live[i+k] = byte(v >> (8 * (w - 1 - k)))
		}
	}
}

func (m *model) writeOp(s *source) string {
	p := s.bytes(8)
	v := binary.BigEndian.Uint64(p)
	switch s.n(14) {
	case 0:
		m.b.WriteUint8(p[7])
		p = p[7:]
	case 1:
		m.b.WriteUint16(uint16(v))
		p = p[6:]
	case 2:
		m.b.WriteUint24(uint32(v))
		p = p[5:]
	case 3:
		m.b.WriteUint32(uint32(v))
		p = p[4:]
	case 4:
		m.b.WriteUint64(v)
	case 5:
		m.b.WriteUint16LE(reverse16(uint16(v)))
		p = p[6:]
	case 6:
		m.b.WriteUint32LE(reverse32(uint32(v)))
		p = p[4:]
	case 7:
		m.b.WriteUint64LE(reverse64(v))
	case 8:
		v >>= s.n(64)
		m.b.WriteUvarint(v)
		p = binary.AppendUvarint(nil, v)
	case 9:
		p = s.bytes(s.n(300))
		m.b.Write(p)
	case 10:
		p = s.bytes(s.n(30))
		m.b.WriteString(string(p))
	case 11:
		p = s.bytes(s.n(1200))
		n, err := m.b.ReadFrom(&oneByOne{p})
		if int(n) != len(p) || err != nil {
			m.t.Fatalf("ReadFrom %d %v", n, err)
		}
	case 12:
		n := s.n(200)
		m.b.Ensure(n)
		if m.b.Available() < n {
			m.t.Fatalf("Ensure(%d): available %d", n, m.b.Available())
		}
		p = s.bytes(s.n(m.b.Available() + 1))
		copy(m.b.Writable(), p)
		m.b.Advance(len(p))
	case 13:
		m.b.WriteByte(p[0])
		p = p[:1]
	}
	m.live = append(bytes.Clone(m.live), p...)
	return "a write"
}

// oneByOne is a reader in steps that grow.
type oneByOne struct{ p []byte }

func (r *oneByOne) Read(p []byte) (int, error) {
	if len(r.p) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 1+len(r.p)/3)], r.p)
	r.p = r.p[n:]
	return n, nil
}

func (m *model) indexOp(s *source) string {
	r := m.b.ReaderIndex()
	switch s.n(9) {
	case 0:
		i := s.n(m.b.WriterIndex() + 1)
		m.b.SetReaderIndex(i)
		if m.b.ReaderIndex() != i {
			m.t.Fatalf("ReaderIndex %d after setting %d", m.b.ReaderIndex(), i)
		}
		all := append(bytes.Clone(m.read), m.live...)
		m.read, m.live = all[:i:i], all[i:]
		return "SetReaderIndex"
	case 1:
		i := r + s.n(len(m.live)+1)
		m.b.SetWriterIndex(i)
		m.live = bytes.Clone(m.live[:i-r])
		return "SetWriterIndex back"
	case 2:
		n := s.n(m.b.Available() + 1)
		p := s.bytes(n)
		copy(m.b.Writable(), p)
		m.b.SetWriterIndex(m.b.WriterIndex() + n)
		m.live = append(bytes.Clone(m.live), p...)
		return "SetWriterIndex forward"
	case 3:
		n := s.n(len(m.live) + 1)
		m.b.Truncate(n)
		m.live = bytes.Clone(m.live[:n])
		return "Truncate"
	case 4:
		m.b.Compact()
		if m.b.ReaderIndex() != 0 {
			m.t.Fatalf("ReaderIndex %d after Compact", m.b.ReaderIndex())
		}
		return "Compact"
	case 5:
		if s.n(8) == 0 {
			m.b.Reset()
			m.read, m.live = nil, nil
		}
		return "Reset"
	case 6:
		err := m.b.UnreadByte()
		if (err == nil) != (r > 0) {
			m.t.Fatalf("UnreadByte at %d: %v", r, err)
		}
		if r > 0 {
			m.live = append([]byte{m.read[r-1]}, m.live...)
			m.read = m.read[:r-1]
		}
		return "UnreadByte"
	case 7:
		if !bytes.Equal(m.b.Bytes(), m.live) {
			m.t.Fatalf("Bytes %x, want %x", m.b.Bytes(), m.live)
		}
		return "Bytes"
	}
	if m.shared {
		return "nothing"
	}
	p := m.b.Readable()
	for i := range p {
		p[i] ^= 0x55
	}
	m.live = bytes.Clone(m.live)
	for i := range p {
		m.live[i] ^= 0x55
	}
	return "a change through Readable"
}
