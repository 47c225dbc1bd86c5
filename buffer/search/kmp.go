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
	// borders[k] is the length of the longest proper prefix of needle[:k] that is also its
	// suffix: what still matches when needle[:k] has, and the next byte does not.
	borders []int32
}

// NewKMP compiles a needle, of which it keeps a copy. It takes time and 4 bytes of memory for
// each byte of the needle. It panics when the needle is empty, which would match everywhere.
func NewKMP(needle []byte) *KMP {
	checkNeedle(needle)
	own := bytes.Clone(needle)
	return &KMP{own, borders(make([]int32, len(own)+1), own)}
}

func checkNeedle(needle []byte) {
	if len(needle) == 0 || len(needle) > math.MaxInt32-1 {
		panic("search: the needle is empty or longer than 2 GiB")
	}
}

// borders fills dst, of one more than the needle's length.
func borders(dst []int32, needle []byte) []int32 {
	dst[0], dst[1] = 0, 0
	k := 0
	for i := 1; i < len(needle); i++ {
		for k > 0 && needle[k] != needle[i] {
			k = int(dst[k])
		}
		if needle[k] == needle[i] {
			k++
		}
		dst[i+1] = int32(k)
	}
	return dst
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

// step takes one byte in state k, the number of the needle's bytes that match so far. k is
// less than the needle's length.
func (n *KMP) step(k int, c byte) int {
	for k > 0 && n.needle[k] != c {
		k = int(n.borders[k])
	}
	if n.needle[k] == c {
		k++
	}
	return k
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

// near is how many bytes the first one of a needle is looked for by hand, because calling
// bytes.IndexByte costs as much.
const near = 8

// Next takes bytes of run up to the end of a match and returns how many, or takes all of them
// and returns -1.
func (p *KMPProcessor) Next(run []byte) int {
	needle, links := p.n.needle, p.n.borders
	k, first := p.state, needle[0]
	for i := 0; i < len(run); i++ {
		c := run[i]
		if k == 0 && c != first {
			stop := min(i+near, len(run))
			for i++; i < stop && run[i] != first; i++ {
			}
			if i == stop {
				j := bytes.IndexByte(run[i:], first)
				if j < 0 {
					break
				}
				i += j
			}
			c = first
		}
		for k > 0 && needle[k] != c {
			k = int(links[k])
		}
		if needle[k] == c {
			k++
		}
		if k == len(needle) {
			p.state = int(links[k])
			return i + 1
		}
	}
	p.state = k
	return -1
}
