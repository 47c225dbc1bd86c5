package search

// MaxBitMask is the length in bytes of the longest needle for BitMask: one bit a byte.
const MaxBitMask = 64

// BitMask is a needle of up to 64 bytes compiled for the shift-or search, in which one bit for
// each prefix of the needle says whether the bytes seen last match it. It does the same three
// operations for every byte, whatever the bytes and the needle are. It is immutable: any
// number of goroutines may use it at once.
type BitMask struct {
	// mask has for each byte value a 0 where the needle has it, at the bit of its place.
	// Zeros for matches save the shift from having to bring in a one.
	mask [256]uint64
	last uint64 // the bit of the needle's last byte
	len  int
}

// NewBitMask compiles a needle, which takes 2 KiB whatever its length. It panics when the
// needle is empty or longer than MaxBitMask.
func NewBitMask(needle []byte) *BitMask {
	if len(needle) == 0 || len(needle) > MaxBitMask {
		panic("search: the needle of a bit mask has 1 to 64 bytes")
	}
	n := &BitMask{last: 1 << (len(needle) - 1), len: len(needle)}
	for c := range n.mask {
		n.mask[c] = ^uint64(0)
	}
	for i, c := range needle {
		n.mask[c] &^= 1 << i
	}
	return n
}

// Len returns the length of the needle in bytes.
func (n *BitMask) Len() int { return n.len }

// Processor returns a processor at the start of a search.
func (n *BitMask) Processor() BitMaskProcessor { return BitMaskProcessor{n, ^uint64(0)} }

// BitMaskProcessor is the state of one search. It belongs to one goroutine at a time; a copy
// goes on by itself.
type BitMaskProcessor struct {
	n     *BitMask
	state uint64 // bit i is 0 when the last i+1 bytes are the needle's first
}

// Reset forgets the bytes seen.
func (p *BitMaskProcessor) Reset() { p.state = ^uint64(0) }

// Next takes bytes of run up to the end of a match and returns how many, or takes all of them
// and returns -1.
func (p *BitMaskProcessor) Next(run []byte) int {
	mask, last, s := &p.n.mask, p.n.last, p.state
	i := 0
	// Two bytes at a time, because a state waits for the one before: their masks are joined
	// while it is not known yet.
	for ; i+1 < len(run); i += 2 {
		m, n := mask[run[i]], mask[run[i+1]]
		odd := s<<1 | m
		s = s<<2 | (m<<1 | n)
		if odd&s&last != last {
			if odd&last == 0 {
				p.state = odd
				return i + 1
			}
			p.state = s
			return i + 2
		}
	}
	if i < len(run) {
		s = s<<1 | mask[run[i]]
		i++
		if s&last == 0 {
			p.state = s
			return i
		}
	}
	p.state = s
	return -1
}
