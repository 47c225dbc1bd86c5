package search

import (
	"math"
	"math/bits"
)

// AhoCorasick is a set of needles compiled into one automaton: a trie of the needles in which
// a byte that leads nowhere continues with the longest suffix of the bytes seen that leads
// somewhere. It is immutable: any number of goroutines may use it at once.
type AhoCorasick struct {
	// next holds a row of transitions for each state. A state's number is the index of its
	// row; matching marks those in which a needle ends.
	next []uint32
	// class numbers the byte values that occur in needles, so that rows are short. All
	// others have number 0.
	class  [256]uint8
	shift  int     // binary logarithm of a row's length
	ends   []int32 // for each state the longest needle that ends there, or -1
	suffix []int32 // for each needle the longest other one that ends with it, or -1
}

// matching marks a transition to a state in which a needle ends.
const matching = 1 << 31

// NewAhoCorasick compiles needles, which are then known by their place among the arguments; of
// equal ones only the first is ever found. Memory is 4 bytes for each byte of the needles
// times the number of different byte values in them (rounded up to a power of two), plus 1
// KiB. It panics when there is no needle, when one is empty, and when there would be more
// than 2^31 transitions.
func NewAhoCorasick(needles ...[]byte) *AhoCorasick {
	if len(needles) == 0 {
		panic("search: no needles")
	}
	a := &AhoCorasick{suffix: make([]int32, len(needles))}
	a.classify(needles)
	a.addState()
	for id, needle := range needles {
		checkNeedle(needle)
		a.suffix[id] = -1
		a.insert(needle, int32(id))
	}
	a.complete()
	return a
}

// classify numbers the byte values of the needles. Number 0 is left to all other values, if
// there are any.
func (a *AhoCorasick) classify(needles [][]byte) {
	var used [256]bool
	classes := 1
	for _, needle := range needles {
		for _, c := range needle {
			if !used[c] {
				used[c] = true
				classes++
			}
		}
	}
	number := 1
	if classes > 256 {
		number = 0
	}
	for c := range used {
		if used[c] {
			a.class[c] = uint8(number)
			number++
		}
	}
	a.shift = bits.Len(uint(number - 1))
}

// addState appends a state without transitions and returns its number.
func (a *AhoCorasick) addState() uint32 {
	at := len(a.next)
	if at > math.MaxInt32-1<<a.shift {
		panic("search: too many needles")
	}
	a.next = append(a.next, make([]uint32, 1<<a.shift)...)
	a.ends = append(a.ends, -1)
	return uint32(at)
}

// insert adds a needle to the trie. A transition to the root, which no trie has, is none.
func (a *AhoCorasick) insert(needle []byte, id int32) {
	state := uint32(0)
	for _, c := range needle {
		at := state + uint32(a.class[c])
		if a.next[at] == 0 {
			child := a.addState() // moves next
			a.next[at] = child
		}
		state = a.next[at]
	}
	if end := &a.ends[state>>a.shift]; *end < 0 {
		*end = id
	}
}

// complete makes the trie an automaton, in breadth-first order: what a state falls back to is
// nearer to the root, and has all its transitions by then.
func (a *AhoCorasick) complete() {
	fallback := make([]uint32, len(a.ends))
	row := uint32(1) << a.shift
	queue := []uint32{0}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		back := fallback[state>>a.shift]
		for i := range row {
			child := a.next[state+i]
			if child == 0 {
				if state != 0 {
					a.next[state+i] = a.next[back+i]
				}
				continue
			}
			if state != 0 {
				fallback[child>>a.shift] = a.next[back+i] &^ matching
			}
			a.inherit(child, fallback[child>>a.shift])
			if a.ends[child>>a.shift] >= 0 {
				a.next[state+i] |= matching
			}
			queue = append(queue, child)
		}
	}
}

// inherit notes the needles that end where state falls back to as ending in state too.
func (a *AhoCorasick) inherit(state, fallback uint32) {
	inherited := a.ends[fallback>>a.shift]
	if end := &a.ends[state>>a.shift]; *end < 0 {
		*end = inherited
	} else {
		a.suffix[*end] = inherited
	}
}

// Suffix returns the longest other needle that the given one ends with, or -1. Following it
// from the needle that Next returns gives all that end at the same place.
func (a *AhoCorasick) Suffix(needle int) int { return int(a.suffix[needle]) }

// Processor returns a processor at the start of a search.
func (a *AhoCorasick) Processor() AhoCorasickProcessor { return AhoCorasickProcessor{n: a} }

// AhoCorasickProcessor is the state of one search. It belongs to one goroutine at a time; a
// copy goes on by itself.
type AhoCorasickProcessor struct {
	n     *AhoCorasick
	state uint32
}

// Reset forgets the bytes seen.
func (p *AhoCorasickProcessor) Reset() { p.state = 0 }

// Next takes bytes of run up to the first end of a match and returns how many, with the place
// of the longest needle that ends there; or takes all of them and returns -1, -1.
func (p *AhoCorasickProcessor) Next(run []byte) (taken, needle int) {
	next, class, s := p.n.next, &p.n.class, p.state
	for i, c := range run {
		s = next[s+uint32(class[c])]
		if s >= matching {
			p.state = s &^ matching
			return i + 1, int(p.n.ends[p.state>>p.n.shift])
		}
	}
	p.state = s
	return -1, -1
}
