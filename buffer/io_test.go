package buffer

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

func TestReaderContract(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 20)
	for shape, b := range map[string]*Buffer{
		"contiguous": Copy(content),
		"composite":  Compose(Copy(content[:7]), Copy(content[7:8]), Copy(content[8:])),
	} {
		if err := iotest.TestReader(b, content); err != nil {
			t.Errorf("%s: %v", shape, err)
		}
		b.Close()
	}
}

func TestReadAtTheEnd(t *testing.T) {
	for shape, b := range shapes([]byte("ab")) {
		if n, err := b.Read(nil); n != 0 || err != nil {
			t.Errorf("%s: Read into nothing: %d %v", shape, n, err)
		}
		p := make([]byte, 5)
		if n, err := b.Read(p); n != 2 || err != nil || string(p[:2]) != "ab" {
			t.Errorf("%s: Read: %d %v", shape, n, err)
		}
		if n, err := b.Read(p); n != 0 || err != io.EOF {
			t.Errorf("%s: Read at the end: %d %v", shape, n, err)
		}
		if _, err := b.ReadByte(); err != io.EOF {
			t.Errorf("%s: ReadByte at the end: %v", shape, err)
		}
		b.Close()
	}
}

func TestUnreadByteAcrossParts(t *testing.T) {
	for shape, b := range shapes([]byte("abc")) {
		start := b.ReaderIndex()
		for _, want := range []byte("abc") {
			if c, err := b.ReadByte(); c != want || err != nil {
				t.Errorf("%s: %c %v", shape, c, err)
			}
			if err := b.UnreadByte(); err != nil {
				t.Errorf("%s: UnreadByte: %v", shape, err)
			}
			if c := b.ReadUint8(); c != want {
				t.Errorf("%s: %c after UnreadByte, want %c", shape, c, want)
			}
		}
		b.SetReaderIndex(start)
		if start == 0 && b.UnreadByte() == nil {
			t.Errorf("%s: UnreadByte at index 0 succeeded", shape)
		}
		b.Close()
	}
}

var errTest = errors.New("test")

func TestReadFrom(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 1000)
	for shape, b := range shapes([]byte("ab")) {
		r := iotest.HalfReader(iotest.DataErrReader(bytes.NewReader(content)))
		if n, err := b.ReadFrom(r); int(n) != len(content) || err != nil {
			t.Errorf("%s: %d %v", shape, n, err)
		}
		if !b.Equal(append([]byte("ab"), content...)) {
			t.Errorf("%s: content differs", shape)
		}
		if n, err := b.ReadFrom(iotest.ErrReader(errTest)); n != 0 || err != errTest {
			t.Errorf("%s: failing reader: %d %v", shape, n, err)
		}
		wantPanic(t, "a reader that lies, "+shape, ErrOutOfRange, func() { b.ReadFrom(liar(1 << 30)) })
		wantPanic(t, "a reader that lies, "+shape, ErrOutOfRange, func() { b.ReadFrom(liar(-1)) })
		b.Close()
	}
}

// liar claims to have read or written that many bytes.
type liar int

func (l liar) Read([]byte) (int, error)  { return int(l), nil }
func (l liar) Write([]byte) (int, error) { return int(l), nil }

// limited takes so many bytes, then fails.
type limited struct {
	left int
	err  error
	got  []byte
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	l.got = append(l.got, p[:n]...)
	if n < len(p) {
		return n, l.err
	}
	return n, nil
}

func TestWriteToStopsWhereTheWriterDoes(t *testing.T) {
	for limit := range 7 {
		for shape, b := range shapes([]byte("012345")) {
			w := &limited{left: limit, err: errTest}
			n, err := b.WriteTo(w)
			if int(n) != limit || string(w.got) != "012345"[:limit] || !b.Equal([]byte("012345"[limit:])) {
				t.Errorf("%s, limit %d: %d %q, left %q", shape, limit, n, w.got, b.Bytes())
			}
			if (err == errTest) != (limit < 6) {
				t.Errorf("%s, limit %d: %v", shape, limit, err)
			}
			b.Close()
		}
	}
	b := CopyString("abc")
	defer b.Close()
	if n, err := b.WriteTo(&limited{left: 1}); n != 1 || err != io.ErrShortWrite {
		t.Errorf("short write: %d %v", n, err)
	}
	wantPanic(t, "a writer that lies", ErrOutOfRange, func() { b.WriteTo(liar(9)) })
	wantPanic(t, "a writer that lies", ErrOutOfRange, func() { b.WriteTo(liar(-1)) })
}

func TestUvarint(t *testing.T) {
	for _, row := range []struct {
		bytes string
		want  uint64
		err   error
		left  int
	}{
		{"", 0, io.EOF, 0},
		{"\x00", 0, nil, 0},
		{"\x7fz", 127, nil, 1},
		{"\x80", 0, io.ErrUnexpectedEOF, 1},
		{"\x80\x01", 128, nil, 0},
		{"\xac\x02z", 300, nil, 1},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 1<<64 - 1, nil, 0},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff", 0, io.ErrUnexpectedEOF, 9},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 0, ErrVarintOverflow, 10},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x80\x00", 0, ErrVarintOverflow, 11},
		{"\x80\x80\x00", 0, nil, 0}, // longer than needed, but a number
	} {
		for shape, b := range shapes([]byte(row.bytes)) {
			got, err := b.ReadUvarint()
			if got != row.want || err != row.err || b.Len() != row.left {
				t.Errorf("%x, %s: %d %v, %d left; want %d %v, %d", row.bytes, shape, got, err, b.Len(), row.want, row.err, row.left)
			}
			b.Close()
		}
	}
}

func TestIndexByteAndEqual(t *testing.T) {
	for shape, b := range shapes([]byte("abcab")) {
		for c, want := range map[byte]int{'a': 0, 'b': 1, 'c': 2, 'x': -1} {
			if got := b.IndexByte(c); got != want {
				t.Errorf("%s: IndexByte(%c) = %d, want %d", shape, c, got, want)
			}
		}
		for _, p := range []string{"", "abca", "abcabc", "abcaX", "Xbcab", "abXab"} {
			if b.Equal([]byte(p)) {
				t.Errorf("%s: equal to %q", shape, p)
			}
		}
		if !b.Equal([]byte("abcab")) {
			t.Errorf("%s: not equal to itself", shape)
		}
		b.Skip(1)
		if got := b.IndexByte('a'); got != 2 {
			t.Errorf("%s: IndexByte from the reader: %d", shape, got)
		}
		b.Close()
	}
}
