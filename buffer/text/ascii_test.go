package text

import (
	"bytes"
	"hash/maphash"
	"strings"
	"testing"

	"millrace.dev/buffer"
)

// ascii converts one byte after another, as the reference.
func ascii(s string, first, last byte) string {
	p := []byte(s)
	for i, c := range p {
		if c >= first && c <= last {
			p[i] = c ^ 0x20
		}
	}
	return string(p)
}

// Every byte value at every place of words and of what is left of them.
func TestCaseConversion(t *testing.T) {
	t.Parallel()
	b := buffer.New(64)
	defer b.Close()
	for n := 1; n <= 19; n++ {
		for at := range n {
			for c := range 256 {
				p := bytes.Repeat([]byte("Az"), 10)[:n]
				p[at] = byte(c)
				lower, upper := ascii(string(p), 'A', 'Z'), ascii(string(p), 'a', 'z')
				if got := string(AppendLower([]byte("X"), p)); got != "X"+lower {
					t.Fatalf("lower of %q: %q", p, got)
				}
				if got := string(AppendUpper([]byte("x"), string(p))); got != "x"+upper {
					t.Fatalf("upper of %q: %q", p, got)
				}
				b.Reset()
				WriteLower(b, string(p))
				WriteUpper(b, p)
				if got := string(b.Bytes()); got != lower+upper {
					t.Fatalf("both of %q: %q", p, got)
				}
			}
		}
	}
}

// Every pair of byte values, at the start, in the middle and at the end of names.
func TestEqualFold(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5, 8, 9, 17} {
		for _, at := range []int{0, n / 2, n - 1} {
			a, b := bytes.Repeat([]byte("x-"), 9)[:n], bytes.Repeat([]byte("X-"), 9)[:n]
			for x := range 256 {
				for y := range 256 {
					a[at], b[at] = byte(x), byte(y)
					want := ascii(string(a), 'A', 'Z') == ascii(string(b), 'A', 'Z')
					if got := EqualFold(a, b); got != want {
						t.Fatalf("%q and %q: %v", a, b, got)
					}
				}
			}
			if EqualFold(a, b[1:]) {
				t.Errorf("%q equals %q", a, b[1:])
			}
		}
	}
	for _, s := range []string{"", "k", "\u212a"} { // the sign for kelvin is no letter k
		if EqualFold(s, "K") != (s == "k") {
			t.Errorf("%q and K", s)
		}
	}
}

func TestHashFold(t *testing.T) {
	t.Parallel()
	seed := maphash.MakeSeed()
	seen := map[uint64]string{}
	for n := range 200 {
		s := strings.Repeat("Content-Type: ", 20)[:n]
		h := HashFold(seed, s)
		if h != HashFold(seed, []byte(strings.ToUpper(s))) || h != HashFold(seed, strings.ToLower(s)) {
			t.Errorf("%q has several hashes", s)
		}
		if other, ok := seen[h]; ok {
			t.Errorf("%q has the hash of %q", s, other)
		}
		seen[h] = s
	}
}

// A name in the middle of an array is its own bytes and nothing around them.
func TestSubsections(t *testing.T) {
	t.Parallel()
	seed := maphash.MakeSeed()
	const name = "X-Forwarded-For"
	for n := range len(name) + 1 {
		for offset := range 9 {
			for _, around := range []byte{'A', '-', 0xff} {
				array := bytes.Repeat([]byte{around}, 40)
				p := array[offset : offset+n]
				copy(p, name)
				if !EqualFold(p, strings.ToLower(name[:n])) || HashFold(seed, p) != HashFold(seed, name[:n]) {
					t.Errorf("%q at %d among %q is another name", name[:n], offset, around)
				}
				if got := string(AppendUpper(nil, p)); got != strings.ToUpper(name[:n]) {
					t.Errorf("%q at %d among %q: %q", name[:n], offset, around, got)
				}
				if rest := bytes.Count(array, []byte{around}); rest-bytes.Count([]byte(name[:n]), []byte{around}) != 40-n {
					t.Errorf("%q at %d: its neighbours changed", name[:n], offset)
				}
			}
		}
	}
}

func TestNamesAllocateNothing(t *testing.T) {
	seed := maphash.MakeSeed()
	b := buffer.New(1000)
	defer b.Close()
	short, long := []byte("Content-Type"), bytes.Repeat([]byte("Content-Type"), 20)
	if n := testing.AllocsPerRun(20, func() {
		b.Reset()
		WriteLower(b, short)
		WriteUpper(b, long)
		HashFold(seed, short)
		HashFold(seed, long)
		EqualFold(short, "content-type")
		EqualFold(long, long)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzEqualFold(f *testing.F) {
	f.Add("Content-Type", "content-tYPE")
	f.Add("\u212a", "k")
	seed := maphash.MakeSeed()
	f.Fuzz(func(t *testing.T, a, b string) {
		want := ascii(a, 'A', 'Z') == ascii(b, 'A', 'Z')
		if got := EqualFold(a, []byte(b)); got != want {
			t.Errorf("%q and %q: %v", a, b, got)
		}
		if want && HashFold(seed, a) != HashFold(seed, b) {
			t.Errorf("%q and %q have several hashes", a, b)
		}
		if got := string(AppendLower(nil, a)); got != ascii(a, 'A', 'Z') {
			t.Errorf("lower of %q: %q", a, got)
		}
	})
}
