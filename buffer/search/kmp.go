package search

import (
	"bytes"
	"math"

	"millrace.dev/buffer"
)

// KMP is a needle compiled for the search of Knuth, Morris and Pratt. It is immutable: any
// number of goroutines may use it at once.
type KMP struct {
	needle []byte
	// links[k] is where to go on when needle[:k] has matched and the next byte differs from
	// needle[k]: the length of the longest border of needle[:k] (a prefix that is also its
	// suffix) after which another byte is wanted, or -1 when there is none. For the whole
	// needle it is its longest border.
	links []int32
}

// NewKMP compiles a needle, of which it keeps a copy. It takes time and 4 bytes of memory for
// each byte of the needle. It panics when the needle is empty, which would match everywhere.
func NewKMP(needle []byte) *KMP {
	checkNeedle(needle)
	own := bytes.Clone(needle)
	return &KMP{own, linksOf(make([]int32, len(own)+1), own)}
}

func checkNeedle(needle []byte) {
	if len(needle) == 0 || len(needle) > math.MaxInt32-1 {
		panic("search: the needle is empty or longer than 2 GiB")
	}
}

// linksOf fills links, of one more than the needle's length.
func linksOf(links []int32, needle []byte) []int32 {
	links[0] = -1
	k := int32(0) // the longest border of needle[:i]
	for i := 1; i < len(needle); i++ {
		if needle[i] == needle[k] {
			links[i] = links[k]
		} else {
			links[i] = k
		}
		for k >= 0 && needle[k] != needle[i] {
			k = links[k]
		}
		k++
	}
	links[len(needle)] = k
	return links
}

// Len returns the length of the needle in bytes.
func (n *KMP) Len() int { return len(n.needle) }

// Processor returns a processor at the start of a search.
func (n *KMP) Processor() KMPProcessor { return KMPProcessor{n: n} }

// IndexOf returns the position of the needle's first occurrence among b's readable bytes,
// counted from the reader index, or -1. It changes nothing in b and doesn't allocate.
func (n *KMP) IndexOf(b *buffer.Buffer) int {
	f := n.Finder()
	return f.Find(b)
}

// KMPProcessor is the state of one search. It belongs to one goroutine at a time; a copy goes
// on by itself.
type KMPProcessor struct {
	n     *KMP
	state int // bytes of the needle that the bytes seen last match
}

// Reset forgets the bytes seen.
func (p *KMPProcessor) Reset() { p.state = 0 }

// Matched returns how many of the bytes seen last may be the start of a match.
func (p *KMPProcessor) Matched() int { return p.state }

// Next takes bytes of run up to the end of a match and returns how many, or takes all of them
// and returns -1.
func (p *KMPProcessor) Next(run []byte) int {
	n, k, i := p.n, p.state, 0
	patience := impatient
	for i < len(run) {
		if k == 0 {
			j := bytes.IndexByte(run[i:], n.needle[0])
			if j < 0 {
				break
			}
			i += j
			if patience = impatient; j < near {
				patience = patient
			}
		}
		var taken int
		taken, k = n.advance(k, run[i:], patience)
		i += taken
		if k == len(n.needle) {
			p.state = int(n.links[k])
			return i
		}
	}
	p.state = k
	return -1
}

// How many bytes that start no match advance takes before bytes.IndexByte is called for the
// next that does: few, unless that was near the last time, where a call costs more than it
// saves.
const (
	near      = 8
	impatient = 2
	patient   = 64
)

// advance takes bytes of run, of which there is one at least, from state k on: until the
// needle has matched, or the state is 0 after that many bytes that start no match, or all are
// taken.
func (n *KMP) advance(k int, run []byte, patience int) (taken, state int) {
	needle, links := n.needle, n.links
	for i := 0; i < len(run); i++ {
		c := run[i]
		if needle[k] == c {
			if k++; k == len(needle) {
				return i + 1, k
			}
			continue
		}
		before := k
		for k = int(links[k]); k >= 0 && needle[k] != c; {
			k = int(links[k])
		}
		if k >= 0 {
			taken, k = n.repeat(before, before-k, run[i:])
			i += taken - 1
			continue
		}
		k = 0
		if patience--; patience == 0 {
			return i + 1, 0
		}
	}
	return len(run), k
}

// repeat takes bytes from state k on, each of which is the same as the one a period before it.
// The first one is, which leads to the link k-period and on from there. Where the next ones are,
// too, they lead back to k, and its link would be waited for once a period. Comparing with whole
// periods of the needle needs none.
func (n *KMP) repeat(k, period int, run []byte) (taken, state int) {
	whole := n.needle[k%period : k]
	for {
		same := commonPrefix(whole, run[taken:])
		taken += same
		if same == len(whole) {
			continue
		}
		if past := same % period; past > 0 {
			k += past - period
		}
		return taken, k
	}
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
