package search

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

// processor is what the processors of one needle have in common.
type processor interface {
	Next(run []byte) int
	Reset()
}

// single lets Aho-Corasick search for one needle.
type single struct{ AhoCorasickProcessor }

func (s *single) Next(run []byte) int {
	taken, _ := s.AhoCorasickProcessor.Next(run)
	return taken
}

// processors returns all that can search for the needle.
func processors(needle []byte) map[string]processor {
	kmp := NewKMP(needle).Processor()
	all := map[string]processor{
		"kmp":         &kmp,
		"ahocorasick": &single{NewAhoCorasick(needle).Processor()},
		"skim":        &skimmer{NewKMP(needle).Processor()},
	}
	if len(needle) <= MaxBitMask {
		mask := NewBitMask(needle).Processor()
		all["bitmask"] = &mask
	}
	return all
}

// skimmer searches as Finder does within a run.
type skimmer struct{ KMPProcessor }

func (s *skimmer) Next(run []byte) int {
	taken, _ := s.skim(run)
	return taken
}

// allEnds returns where matches of the needle end, overlapping ones included.
func allEnds(hay, needle []byte) (ends []int) {
	for i := len(needle); i <= len(hay); i++ {
		if bytes.Equal(hay[i-len(needle):i], needle) {
			ends = append(ends, i)
		}
	}
	return ends
}

// ends returns where p finds matches in the runs.
func ends(p processor, runs ...[]byte) (ends []int) {
	before := 0
	for _, run := range runs {
		for {
			n := p.Next(run)
			if n < 0 {
				break
			}
			before += n
			run = run[n:]
			ends = append(ends, before)
		}
		before += len(run)
	}
	return ends
}

var cases = []struct{ hay, needle string }{
	{"", "a"},
	{"a", "a"},
	{"b", "a"},
	{"aaaa", "aa"},
	{"abababab", "abab"},
	{"the mill turns, the mill stops", "mill"},
	{"--frontier\r\n--frontie\r\n--frontier--", "--frontier"},
	{"\r\r\n\r\r\n\r\n", "\r\n\r\n"},
	{"ababcababcabababcabab", "ababcabab"},
	{"aabaabaaabaabaab", "aabaab"},
	{strings.Repeat("a", 40) + "b", strings.Repeat("a", 7) + "b"},
	{strings.Repeat("ab", 40) + "b", strings.Repeat("ab", 5) + "b"},
	{"\x00\xff\x00\xff\xff\x00", "\xff\xff"},
	{strings.Repeat("x", 30) + "needle" + strings.Repeat("x", 30), "needle"},
	{strings.Repeat("y", 64) + "z", strings.Repeat("y", 63) + "z"},
	{strings.Repeat("0123456789abcdefghijklmnopqrstuvw-", 8), strings.Repeat("0123456789abcdefghijklmnopqrstuvw-", 3)},
}

func TestProcessorsFindEveryMatchInAnyPieces(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		hay, needle := []byte(c.hay), []byte(c.needle)
		want := allEnds(hay, needle)
		for name, p := range processors(needle) {
			for i := range len(hay) + 1 {
				for _, j := range []int{i, min(i+1, len(hay)), min(i+len(needle), len(hay)), len(hay)} {
					p.Reset()
					if got := ends(p, hay[:i], hay[i:j], hay[j:]); !slices.Equal(got, want) {
						t.Fatalf("%s: %q in %q cut at %d and %d: ends %v, want %v", name, needle, hay, i, j, got, want)
					}
				}
			}
			p.Reset()
			if got := ends(p, bytewise(hay)...); !slices.Equal(got, want) {
				t.Errorf("%s: %q in %q byte by byte: ends %v, want %v", name, needle, hay, got, want)
			}
		}
	}
}

func bytewise(p []byte) (runs [][]byte) {
	for i := range p {
		runs = append(runs, p[i:i+1])
	}
	return runs
}

func TestResetFindsMatchesThatDoNotOverlap(t *testing.T) {
	t.Parallel()
	for name, p := range processors([]byte("aa")) {
		run, found := []byte("aaaaa"), 0
		for n := p.Next(run); n > 0; n = p.Next(run) {
			found++
			run = run[n:]
			p.Reset()
		}
		if found != 2 {
			t.Errorf("%s found %d", name, found)
		}
	}
}

// composite returns a Buffer whose parts are the pieces of p cut at the given places.
func composite(p []byte, cuts ...int) *buffer.Buffer {
	var parts []*buffer.Buffer
	from := 0
	for _, to := range append(cuts, len(p)) {
		parts = append(parts, buffer.Copy(p[from:to]))
		from = to
	}
	return buffer.Compose(parts...)
}

func TestIndexOfInAnyPieces(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		hay, needle := []byte(c.hay), []byte(c.needle)
		want := bytes.Index(hay, needle)
		for i := range len(hay) + 1 {
			for _, j := range []int{i, min(i+1, len(hay)), min(i+len(needle)-1, len(hay))} {
				b := composite(hay, i, j)
				if got := IndexOf(b, needle); got != want {
					t.Errorf("%q in %q cut at %d and %d: %d, want %d", needle, hay, i, j, got, want)
				}
				if got := NewKMP(needle).IndexOf(b); got != want {
					t.Errorf("compiled %q in %q cut at %d and %d: %d, want %d", needle, hay, i, j, got, want)
				}
				if b.ReaderIndex() != 0 || b.Len() != len(hay) {
					t.Errorf("reader %d and %d bytes afterwards", b.ReaderIndex(), b.Len())
				}
				b.Close()
			}
		}
	}
}

func TestIndexOfCountsFromTheReader(t *testing.T) {
	t.Parallel()
	for _, cuts := range [][]int{nil, {2}, {4}, {5, 6}, {1, 2, 3, 4, 5, 6, 7, 8, 9}} {
		b := composite([]byte("abcabcabcabc"), cuts...)
		for skip, want := range []int{2, 1, 0, 2, 1, 0, 2, 1, 0, 2, 1, 0} {
			b.SetReaderIndex(skip)
			if got := IndexOf(b, []byte("c")); got != want {
				t.Errorf("cuts %v: at %d after %d bytes, want %d", cuts, got, skip, want)
			}
			if got := IndexOf(b, nil); got != 0 {
				t.Errorf("the empty needle is at %d", got)
			}
			if b.ReaderIndex() != skip {
				t.Errorf("reader moved from %d to %d", skip, b.ReaderIndex())
			}
		}
		b.Close()
	}
}

func TestMisuse(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(){
		"empty KMP":         func() { NewKMP(nil) },
		"empty BitMask":     func() { NewBitMask([]byte{}) },
		"long BitMask":      func() { NewBitMask(make([]byte, 65)) },
		"no needles":        func() { NewAhoCorasick() },
		"one needle empty":  func() { NewAhoCorasick([]byte("a"), nil) },
		"took what was not": func() { f := NewKMP([]byte("a")).Finder(); f.Took(1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// A needle is the caller's again once it is compiled.
func TestNeedlesAreCopied(t *testing.T) {
	t.Parallel()
	needle := []byte("mill")
	all := processors(needle)
	copy(needle, "xxxx")
	for name, p := range all {
		if got := p.Next([]byte("a mill")); got != 6 {
			t.Errorf("%s: %d", name, got)
		}
	}
}
