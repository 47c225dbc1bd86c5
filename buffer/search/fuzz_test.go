package search

import (
	"bytes"
	"slices"
	"testing"
)

// Every way to search agrees with the standard library and the naive search, in pieces that
// the fuzzer chooses.
func FuzzSearch(f *testing.F) {
	for _, c := range cases {
		f.Add([]byte(c.hay), []byte(c.needle), uint8(3))
	}
	f.Fuzz(func(t *testing.T, hay, needle []byte, piece uint8) {
		if len(needle) == 0 || len(hay) > 1<<12 {
			return
		}
		size := int(piece)%40 + 1
		var cuts []int
		for at := size; at < len(hay); at += size {
			cuts = append(cuts, at)
		}
		b := composite(hay, cuts...)
		defer b.Close()
		if got, want := IndexOf(b, needle), bytes.Index(hay, needle); got != want {
			t.Errorf("IndexOf %q in %q by %d: %d, want %d", needle, hay, size, got, want)
		}
		want := allEnds(hay, needle)
		runs := slices.Collect(slices.Chunk(hay, size))
		for name, p := range processors(needle) {
			if got := ends(p, runs...); !slices.Equal(got, want) {
				t.Errorf("%s: %q in %q by %d: %v, want %v", name, needle, hay, size, got, want)
			}
		}
	})
}

// The needles are the parts of a list that commas separate.
func FuzzAhoCorasick(f *testing.F) {
	f.Add([]byte("ushers"), "he,she,his,hers", uint8(2))
	f.Add([]byte("aaaaa"), "a,aa,aaa", uint8(1))
	f.Fuzz(func(t *testing.T, hay []byte, list string, piece uint8) {
		needles := slices.DeleteFunc(split(list), func(n []byte) bool { return len(n) == 0 })
		if len(needles) == 0 || len(hay) > 1<<10 || len(needles) > 40 || len(list) > 1<<10 {
			return
		}
		p := NewAhoCorasick(needles...).Processor()
		want := allMatches(hay, needles)
		runs := slices.Collect(slices.Chunk(hay, int(piece)%40+1))
		if got := found(&p, runs...); !slices.Equal(got, want) {
			t.Errorf("%q in %q: %v, want %v", needles, hay, got, want)
		}
	})
}
