package search

import (
	"bytes"

	"millrace.dev/buffer"
)

// IndexOf returns the position of the needle's first occurrence among b's readable bytes,
// counted from the reader index, or -1; of an empty needle it is 0. It changes nothing in b.
//
// Contiguous memory is left to bytes.Index; only where its worst case would not be linear,
// and at borders between the parts of a composite, is the needle compiled, which allocates for
// needles over 255 bytes. A needle that is looked for often is better compiled once: see KMP.
func IndexOf(b *buffer.Buffer, needle []byte) int {
	run := b.Readable()
	if len(run) < b.Len() && len(needle) > 0 {
		return indexAcross(b, needle)
	}
	if len(needle) <= maxBounded {
		return bytes.Index(run, needle)
	}
	at, _ := indexLong(run, needle, nil)
	return at
}

// indexAcross is IndexOf in a composite, with the compiled needle on the stack.
func indexAcross(b *buffer.Buffer, needle []byte) int {
	var storage [256]int32
	links := storage[:]
	if len(needle) >= len(storage) {
		checkNeedle(needle)
		links = make([]int32, len(needle)+1)
	}
	n := KMP{needle, linksOf(links, needle)}
	return n.IndexOf(b)
}

// maxBounded is the longest needle that is left to bytes.Index: what it may look at again
// after each mismatch is bounded by the needle's length, so that a constant bounds it here.
const maxBounded = 64

// indexLong is bytes.Index for needles over maxBounded: it finds their beginning and compares
// the rest, unless most comparisons fail late, and then uses n, which it compiles if it is
// nil. looked counts the bytes that it had to look at.
func indexLong(run, needle []byte, n *KMP) (at, looked int) {
	const head = 32
	// What is compared in vain must not be more than what has been passed by it.
	for wasted := 0; wasted <= at+len(needle); wasted += len(needle) {
		j := bytes.Index(run[at:], needle[:head])
		if j < 0 || len(run)-at-j < len(needle) {
			return -1, looked + len(run) - at
		}
		looked += j + len(needle)
		at += j
		if bytes.Equal(run[at+head:at+len(needle)], needle[head:]) {
			return at, looked
		}
		at++
	}
	if n == nil {
		n = NewKMP(needle)
	}
	p := n.Processor()
	end := p.Next(run[at:])
	if end < 0 {
		return -1, looked + len(run) - at
	}
	return at + end - len(needle), looked + end
}

// skim is Next for those who mind speed more than that each byte is seen once: where no match
// can have begun before, it lets the standard library search. looked counts the bytes that it
// looked at: at most a small multiple of those in run.
func (p *KMPProcessor) skim(run []byte) (taken, looked int) {
	n, k, i := p.n, p.state, 0
	m := len(n.needle)
	for i < len(run) && k > i { // k bytes match, and some of them lie before run
		var taken int
		taken, k = n.advance(k, run[i:min(k, len(run))], impatient)
		if i += taken; k == m {
			p.state = int(n.links[m])
			return i, i
		}
	}
	looked = i
	if k > i {
		p.state = k
		return -1, looked
	}
	from := i - k
	at, more := n.index(run[from:])
	looked += more
	if at >= 0 {
		p.state = int(n.links[m])
		return from + at + m, looked
	}
	// What may still become a match begins within the last m-1 bytes.
	tail := run[max(from, len(run)-m+1):]
	p.state = 0
	p.Next(tail)
	return -1, looked + len(tail)
}

// index is bytes.Index, linear whatever the needle is.
func (n *KMP) index(run []byte) (at, looked int) {
	switch m := len(n.needle); {
	case len(run) < m:
		return -1, 0
	case m > maxBounded:
		return indexLong(run, n.needle, n)
	}
	at = bytes.Index(run, n.needle)
	if at < 0 {
		return -1, len(run)
	}
	return at, at + len(n.needle)
}
