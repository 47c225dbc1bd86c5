package search

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"millrace.dev/buffer"
)

// frames cuts the bytes of hay, of which piece arrive at a time, at each delimiter. Bytes
// that can't be part of one are taken from the buffer before it has come if early is set.
func frames(t *testing.T, hay, delimiter []byte, piece int, early bool) (out []string) {
	n := NewKMP(delimiter)
	f := n.Finder()
	b := buffer.New(0)
	defer func() { b.Close() }()
	var frame []byte
	take := func(k int) {
		part := b.Split(k)
		frame = append(frame, part.Bytes()...)
		part.Close()
	}
	for at := 0; at < len(hay); at += piece {
		b = buffer.Compose(b, buffer.Copy(hay[at:min(at+piece, len(hay))]))
		for i := f.Find(b); i >= 0; i = f.Find(b) {
			take(i)
			b.Skip(n.Len())
			out = append(out, string(frame))
			frame = frame[:0]
		}
		if !bytes.HasPrefix(delimiter, b.Bytes()[b.Len()-f.Pending():]) {
			t.Errorf("%d bytes are pending at the end of %q", f.Pending(), b.Bytes())
		}
		if certain := b.Len() - f.Pending(); early {
			take(certain)
			f.Took(certain)
		}
	}
	take(b.Len())
	return append(out, string(frame))
}

func TestFinderCutsFramesInAnyPieces(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		hay, needle := []byte(c.hay), []byte(c.needle)
		var want []string
		for _, part := range bytes.Split(hay, needle) {
			want = append(want, string(part))
		}
		for piece := 1; piece <= len(hay); piece++ {
			for _, early := range []bool{false, true} {
				if got := frames(t, hay, needle, piece, early); !slices.Equal(got, want) {
					t.Fatalf("%q in %q by %d, early %v: %q, want %q", needle, hay, piece, early, got, want)
				}
			}
		}
	}
}

func TestFinderStartsOverInAnotherBuffer(t *testing.T) {
	t.Parallel()
	f := NewKMP([]byte("ab")).Finder()
	long, short := buffer.CopyString("xxxxa"), buffer.CopyString("bab")
	defer long.Close()
	defer short.Close()
	if at := f.Find(long); at != -1 || f.Pending() != 1 {
		t.Errorf("at %d, %d pending", at, f.Pending())
	}
	if at := f.Find(short); at != 1 {
		t.Errorf("at %d", at)
	}
	f.Find(long)
	f.Reset()
	if f.Pending() != 0 {
		t.Errorf("%d pending after Reset", f.Pending())
	}
}

// A decoder of frames keeps one Finder and asks it whenever bytes have come.
func ExampleFinder() {
	delimiter := NewKMP([]byte("\r\n"))
	f := delimiter.Finder()
	in := buffer.New(64)
	defer in.Close()
	for _, received := range []string{"PING\r", "\nQU", "IT\r\n"} {
		_, _ = in.WriteString(received)
		for at := f.Find(in); at >= 0; at = f.Find(in) {
			fmt.Printf("%q\n", in.ReadString(at))
			in.Skip(delimiter.Len())
		}
	}
	// Output:
	// "PING"
	// "QUIT"
}
