package micro

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/buffer/search"
)

var searchSink int

// words are the most common of English, by rank; text draws from them as they are used: the
// n-th about 1/n as often as the first.
var words = []string{
	"the", "of", "and", "to", "in", "a", "is", "that", "for", "it", "as", "was", "with", "be", "by", "on", "not", "he", "his", "but",
	"at", "are", "this", "have", "from", "which", "one", "had", "you", "were", "all", "there", "would", "their", "we", "him", "been", "has", "when", "who",
	"water", "wheel", "stone", "miller", "river", "grain", "channel", "current", "turning", "through", "against", "between", "thousand", "morning",
}

// englishText returns n bytes of words.
func englishText(r *rand.Rand, n int) []byte {
	sum := 0.0
	for i := range words {
		sum += 1 / float64(i+1)
	}
	p := make([]byte, 0, n+16)
	for len(p) < n {
		x, i := r.Float64()*sum, 0
		for ; i < len(words)-1 && x > 1/float64(i+1); i++ {
			x -= 1 / float64(i+1)
		}
		p = append(p, words[i]...)
		p = append(p, ' ')
	}
	return p[:n]
}

// searchNaive compares the needle at every place.
func searchNaive(hay, needle []byte) int {
	for i := 0; i+len(needle) <= len(hay); i++ {
		j := 0
		for j < len(needle) && hay[i+j] == needle[j] {
			j++
		}
		if j == len(needle) {
			return i
		}
	}
	return -1
}

// searchByteLoop does the least that a search byte by byte has to: one comparison. No haystack
// has a zero, so that it can be made to see them whole.
func searchByteLoop(hay []byte, c byte) int {
	for i, x := range hay {
		if x == c {
			return i
		}
	}
	return -1
}

const searchSize = 64 << 10

// searchInputs are haystacks in which the needle stands at the very end.
func searchInputs() []struct {
	name        string
	hay, needle []byte
} {
	r := seeded()
	end := func(hay, needle []byte) []byte {
		copy(hay[len(hay)-len(needle):], needle)
		return hay
	}
	phrase := []byte("miller of the mill")
	boundary := []byte("\r\n--------------------------3fb1c0a97d25e846")
	worst := append(bytes.Repeat([]byte("a"), 31), 'b')
	long := append(bytes.Repeat([]byte("a"), 255), 'b')
	dense := []byte("xx") // every second byte of the haystack is an x
	every := bytes.Repeat([]byte("x."), searchSize/2)
	return []struct {
		name        string
		hay, needle []byte
	}{
		{"text", end(englishText(r, searchSize), phrase), phrase},
		{"random", end(bytes.ReplaceAll(randomBytes(r, searchSize), []byte{0}, []byte{1}), boundary), boundary},
		{"dense", end(every, dense), dense},
		{"worst", end(bytes.Repeat([]byte("a"), searchSize), worst), worst},
		{"worst256", end(bytes.Repeat([]byte("a"), searchSize), long), long},
	}
}

// Contiguous memory, one needle.
func BenchmarkSearch(b *testing.B) {
	for _, in := range searchInputs() {
		run := func(alt string, f func() int) {
			b.Run("input="+in.name+"/alt="+alt, func(b *testing.B) {
				b.SetBytes(int64(len(in.hay)))
				b.ReportAllocs()
				for b.Loop() {
					searchSink = f()
				}
				if want := len(in.hay); searchSink != want {
					b.Fatalf("%d, want %d", searchSink, want)
				}
			})
		}
		m := len(in.needle)
		kmp, set := search.NewKMP(in.needle), search.NewAhoCorasick(in.needle)
		whole := buffer.Wrap(in.hay)
		defer whole.Close()
		run("naive", func() int { return searchNaive(in.hay, in.needle) + m })
		run("byteloop", func() int { return searchByteLoop(in.hay, 0) + 1 + len(in.hay) })
		run("stdlib", func() int { return bytes.Index(in.hay, in.needle) + m })
		run("millrace-kmp", func() int { p := kmp.Processor(); return p.Next(in.hay) })
		if m <= search.MaxBitMask {
			mask := search.NewBitMask(in.needle)
			run("millrace-bitmask", func() int { p := mask.Processor(); return p.Next(in.hay) })
		}
		run("millrace-ahocorasick", func() int { p := set.Processor(); n, _ := p.Next(in.hay); return n })
		run("millrace-indexof", func() int { return search.IndexOf(whole, in.needle) + m })
	}
}

// Many needles at once: all that a filter has to find in a text.
func BenchmarkSearchMany(b *testing.B) {
	r := seeded()
	hay := englishText(r, searchSize)
	for _, many := range []struct {
		name string
		n    int
	}{{"4", 4}, {"64", 64}} {
		needles := make([][]byte, many.n)
		for i := range needles {
			needles[i] = append([]byte(words[i%len(words)]), byte('A'+i%26), byte('A'+i/26))
		}
		set := search.NewAhoCorasick(needles...)
		run := func(alt string, f func() int) {
			b.Run("needles="+many.name+"/alt="+alt, func(b *testing.B) {
				b.SetBytes(int64(len(hay)))
				for b.Loop() {
					searchSink = f()
				}
				if searchSink != -1 {
					b.Fatal("found what is not there")
				}
			})
		}
		each := func(index func(hay, needle []byte) int) func() int {
			return func() int {
				for _, needle := range needles {
					if i := index(hay, needle); i >= 0 {
						return i
					}
				}
				return -1
			}
		}
		run("naive", each(searchNaive))
		run("stdlib", each(bytes.Index))
		run("millrace-ahocorasick", func() int { p := set.Processor(); n, _ := p.Next(hay); return n })
	}
}

// One needle in a composite of parts of 1 KiB: copying it together first is the naive way.
func BenchmarkSearchComposite(b *testing.B) {
	for _, in := range searchInputs() {
		whole := buffer.New(0)
		for at := 0; at < len(in.hay); at += 1 << 10 {
			whole = buffer.Compose(whole, buffer.Copy(in.hay[at:at+1<<10]))
		}
		run := func(alt string, f func() int) {
			b.Run("input="+in.name+"/alt="+alt, func(b *testing.B) {
				b.SetBytes(int64(len(in.hay)))
				b.ReportAllocs()
				for b.Loop() {
					searchSink = f()
				}
				if want := len(in.hay); searchSink != want {
					b.Fatalf("%d, want %d", searchSink, want)
				}
			})
		}
		m := len(in.needle)
		kmp := search.NewKMP(in.needle)
		runs := whole.Runs(nil)
		run("flatten", func() int { return bytes.Index(bytes.Join(runs, nil), in.needle) + m })
		run("kmp", func() int {
			p, before := kmp.Processor(), 0
			for _, run := range runs {
				if n := p.Next(run); n > 0 {
					return before + n
				}
				before += len(run)
			}
			return -1
		})
		run("millrace-indexof", func() int { return search.IndexOf(whole, in.needle) + m })
		run("millrace-compiled", func() int { return kmp.IndexOf(whole) + m })
		whole.Close()
	}
}
