package search

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// allMatches lists every end of every needle as "end:needle", the first of equal needles
// only, longer ones first.
func allMatches(hay []byte, needles [][]byte) (matches []string) {
	for end := range len(hay) + 1 {
		var here []int
		for id, needle := range needles {
			first := slices.IndexFunc(needles, func(n []byte) bool { return bytes.Equal(n, needle) }) == id
			if first && bytes.HasSuffix(hay[:end], needle) {
				here = append(here, id)
			}
		}
		slices.SortFunc(here, func(a, b int) int { return len(needles[b]) - len(needles[a]) })
		for _, id := range here {
			matches = append(matches, fmt.Sprintf("%d:%d", end, id))
		}
	}
	return matches
}

// found lists what the automaton finds in the runs, in the same way.
func found(p *AhoCorasickProcessor, runs ...[]byte) (matches []string) {
	before := 0
	for _, run := range runs {
		for {
			n, id := p.Next(run)
			if n < 0 {
				break
			}
			before += n
			run = run[n:]
			for ; id >= 0; id = p.n.Suffix(id) {
				matches = append(matches, fmt.Sprintf("%d:%d", before, id))
			}
		}
		before += len(run)
	}
	return matches
}

func split(s string) (needles [][]byte) {
	for _, part := range strings.Split(s, ",") {
		needles = append(needles, []byte(part))
	}
	return needles
}

func TestAhoCorasickFindsAllNeedlesInAnyPieces(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ hay, needles string }{
		{"ushers", "he,she,his,hers"},
		{"aaaaa", "a,aa,aaa"},
		{"abcabcabc", "abc,bc,c,cab,bca"},
		{"the miller mills in the mill", "mill,miller,the,in,ill"},
		{"xyxyxyz", "xyz,xyx,y"},
		{"twice twice", "twice,twice,ice"},
		{"nothing", "q,zz"},
		{"\x00\x01\xff\x00", "\x00,\xff\x00,\x01\xff"},
	} {
		needles, hay := split(row.needles), []byte(row.hay)
		p := NewAhoCorasick(needles...).Processor()
		want := allMatches(hay, needles)
		for i := range len(hay) + 1 {
			p.Reset()
			if got := found(&p, hay[:i], hay[i:]); !slices.Equal(got, want) {
				t.Errorf("%s in %q cut at %d: %v, want %v", row.needles, hay, i, got, want)
			}
		}
		p.Reset()
		if got := found(&p, bytewise(hay)...); !slices.Equal(got, want) {
			t.Errorf("%s in %q byte by byte: %v, want %v", row.needles, hay, got, want)
		}
	}
}

// With each byte value in some needle there is no number left for other values.
func TestAhoCorasickWithAllByteValues(t *testing.T) {
	t.Parallel()
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for n := 253; n <= 256; n++ {
		p := NewAhoCorasick(all[256-n:], []byte{0xff, 0xfe}).Processor()
		hay := slices.Concat([]byte{7, 0}, all, all, []byte{0xff, 0xfe, 1})
		want := allMatches(hay, [][]byte{all[256-n:], {0xff, 0xfe}})
		if got := found(&p, hay); !slices.Equal(got, want) {
			t.Errorf("%d values: %v, want %v", n, got, want)
		}
	}
}
