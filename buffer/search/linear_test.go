package search

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"millrace.dev/buffer"
)

// hostile has haystacks and needles that make searches which start over quadratic.
func hostile(n, m int) map[string][2][]byte {
	a := bytes.Repeat([]byte("a"), n)
	period := bytes.Repeat([]byte("abcdefghijklmnopqrstuvwxyz0123456789"), n/36+1)[:n]
	almost := bytes.Clone(a)
	for i := m - 1; i < n; i += m {
		almost[i] = 'c'
	}
	end := func(p []byte) []byte { return append(bytes.Clone(p), '!') }
	middle := bytes.Clone(a[:m])
	middle[m/2] = 'b'
	return map[string][2][]byte{
		"aaaa and aa!":       {a, end(a[:m-1])},
		"aaaa and aabaa":     {a, middle},
		"aaca and aaaa":      {almost, a[:m]},
		"abab and abab!":     {period, end(period[:m-1])},
		"a needle like none": {a, bytes.Repeat([]byte("b"), m)},
		"a match at the end": {end(a), end(a[:m-1])},
	}
}

// comparisons counts the bytes of the needle that the processor compares for run: one, and
// one for each link that it follows from its state. States and links are its own.
func comparisons(p *KMPProcessor, run []byte) (n int) {
	for i := range run {
		k := p.state
		for n++; k > 0 && p.n.needle[k] != run[i]; n++ {
			if k = int(p.n.links[k]); k < 0 {
				break
			}
		}
		p.Next(run[i : i+1])
	}
	return n
}

func TestKMPComparesEachByteTwiceOnAverage(t *testing.T) {
	t.Parallel()
	for name, c := range hostile(1<<14, 1<<9) {
		p := NewKMP(c[1]).Processor()
		if n := comparisons(&p, c[0]); n > 2*len(c[0]) {
			t.Errorf("%s: %d comparisons for %d bytes", name, n, len(c[0]))
		}
	}
}

// A text with a period, which leads from the same state to the same link again and again, is
// taken in one go, in which no byte is looked at but once.
func TestKMPTakesRepetitions(t *testing.T) {
	t.Parallel()
	for _, period := range []string{"a", "ab", "aab", "abcdefg"} {
		text := bytes.Repeat([]byte(period), 1000)
		for k := len(period); k < 4*len(period); k++ {
			n := NewKMP(append(bytes.Clone(text[:k]), '!'))
			for more := 1; more < 100; more++ {
				run := append(bytes.Clone(text[k:k+more]), '?')
				state := k - len(period) + more%len(period)
				if more%len(period) == 0 {
					state = k
				}
				if taken, got := n.repeat(k, len(period), run); taken != more || got != state {
					t.Fatalf("%q, then %q: took %d and came to %d, want %d and %d", n.needle, run, taken, got, more, state)
				}
			}
		}
	}
}

// The state is always that of the longest match, also within and behind repetitions.
func TestKMPState(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(n int) (p []byte) {
		for range 1 + r.IntN(n) {
			p = append(p, "aab"[r.IntN(3)])
		}
		return p
	}
	for range 300 {
		var text []byte
		for range 4 {
			text = append(text, bytes.Repeat(pick(4), 1+r.IntN(8))...)
		}
		needle := pick(10)
		if r.IntN(2) == 0 {
			needle = append(bytes.Repeat(pick(4), 1+r.IntN(6)), pick(3)...)
		}
		for i := range len(text) + 1 {
			p := NewKMP(needle).Processor()
			ends(&p, text[:i])
			want := min(i, len(needle)-1)
			for !bytes.HasSuffix(text[:i], needle[:want]) {
				want--
			}
			if p.Matched() != want {
				t.Fatalf("%q behind %q: %d bytes match, want %d", needle, text[:i], p.Matched(), want)
			}
		}
	}
}

// Links lead to shorter matches only, so that a state can be left only as often as bytes have
// made it longer; and to another byte than the one that did not match.
func TestLinks(t *testing.T) {
	t.Parallel()
	for name, c := range hostile(1<<10, 1<<8) {
		n := NewKMP(c[1])
		for k := 1; k <= n.Len(); k++ {
			want := k - 1
			for want >= 0 && !(bytes.Equal(n.needle[:want], n.needle[k-want:k]) && (k == n.Len() || n.needle[want] != n.needle[k])) {
				want--
			}
			if got := int(n.links[k]); got != want {
				t.Errorf("%s: link %d of %d, want %d", name, got, k, want)
			}
		}
	}
}

// Find looks at each byte a bounded number of times, however the bytes arrive and in however
// small parts they lie.
func TestFinderLooksAtEachByteAFewTimes(t *testing.T) {
	t.Parallel()
	for _, m := range []int{2, 40, 64, 65, 500} {
		for name, c := range hostile(1<<10, m) {
			for _, piece := range []int{1, 7, 64, 1 << 10} {
				n := NewKMP(c[1])
				f := n.Finder()
				b := buffer.New(0)
				for at := 0; at < len(c[0]); at += piece {
					part := buffer.Copy(c[0][at:min(at+piece, len(c[0]))])
					b = buffer.Compose(b, part) // parts however small they are
					if f.Find(b) >= 0 {
						break
					}
				}
				b.Close()
				if limit := 5*len(c[0]) + m; f.looked > limit {
					t.Errorf("%s, needle of %d, pieces of %d: looked at %d bytes of %d", name, m, piece, f.looked, len(c[0]))
				}
			}
		}
	}
}

func TestIndexLongLooksAtEachByteAFewTimes(t *testing.T) {
	t.Parallel()
	for _, m := range []int{65, 300, 3000} {
		for name, c := range hostile(1<<14, m) {
			at, looked := indexLong(c[0], c[1], nil)
			if want := bytes.Index(c[0], c[1]); at != want {
				t.Errorf("%s: at %d, want %d", name, at, want)
			}
			if looked > 2*len(c[0])+2*m {
				t.Errorf("%s: looked at %d bytes of %d", name, looked, len(c[0]))
			}
		}
	}
}

func TestSearchAllocatesNothing(t *testing.T) {
	hay := bytes.Repeat([]byte("all work and no play "), 100)
	for _, needle := range [][]byte{[]byte("dull"), bytes.Repeat([]byte("all play "), 20)} {
		whole, parts := buffer.Copy(hay), composite(hay, 1, 700, 703, 1500)
		kmp := NewKMP(needle)
		for _, b := range []*buffer.Buffer{whole, parts} {
			if n := testing.AllocsPerRun(10, func() { IndexOf(b, needle); kmp.IndexOf(b) }); n != 0 {
				t.Errorf("IndexOf: %v allocations", n)
			}
		}
		for name, p := range processors(needle) {
			if n := testing.AllocsPerRun(10, func() { p.Reset(); p.Next(hay) }); n != 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
		whole.Close()
		parts.Close()
	}
	mask, set := NewBitMask([]byte("dull")), NewAhoCorasick([]byte("dull"), []byte("jack"))
	if n := testing.AllocsPerRun(10, func() {
		p, q := mask.Processor(), set.Processor()
		p.Next(hay)
		q.Next(hay)
	}); n != 0 {
		t.Errorf("processors: %v allocations", n)
	}
}
