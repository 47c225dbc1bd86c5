package hpack

// codeLengths is all that RFC 7541 appendix B has to say: the code is canonical, so that the
// lengths make the codes. The last one is EOS.
var codeLengths = [257]uint8{
	13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
	28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
	6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
	5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
	13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
	7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
	15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
	6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
	20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
	24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
	22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
	21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
	26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
	19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
	20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
	26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
	30,
}

const (
	eos         = 256
	minCodeLen  = 5
	maxCodeLen  = 30
	lookupBits  = 12
	lookupShift = 64 - lookupBits
)

// huffman has the code in the forms that the two directions want.
var huffman = buildHuffman()

type huffmanTables struct {
	codes [257]code
	// lookup maps the next lookupBits bits to the one or two symbols that they begin with.
	// Most of what headers hold takes 5 or 6 bits, so that two are the rule.
	lookup [1 << lookupBits]step
	// For longer codes: the first code of each length, aligned to the left of 32 bits, and
	// the place in symbols of its symbol.
	first   [maxCodeLen + 1]uint32
	place   [maxCodeLen + 1]uint16
	symbols [257]uint16
}

// code is what a symbol is encoded as, from the left, above its length in the lowest byte.
type code uint64

// step is an entry of the lookup table: the bits that it takes, how many symbols they stand
// for, and the symbols. One without symbols begins a code longer than lookupBits.
type step uint32

func (s step) bits() uint      { return uint(s & 63) }
func (s step) count() int      { return int(s >> 8 & 3) }
func (s step) symbols() uint16 { return uint16(s >> 16) } // the first one lowest

func (s step) with(symbol uint16, length int) step {
	return s + step(length) + 1<<8 + step(symbol)<<(16+8*s.count())
}

func buildHuffman() (t huffmanTables) {
	next, n := uint32(0), uint16(0)
	for length := 1; length <= maxCodeLen; length++ {
		t.first[length] = next << (32 - length)
		t.place[length] = n
		for symbol, l := range codeLengths {
			if int(l) == length {
				t.codes[symbol] = code(next)<<(64-length) | code(length)
				t.symbols[n] = uint16(symbol)
				next++
				n++
			}
		}
		next <<= 1
	}
	for i := range t.lookup {
		t.lookup[i] = t.stepOf(uint32(i) << (32 - lookupBits))
	}
	return t
}

// stepOf finds the symbols in the first lookupBits bits of window.
func (t *huffmanTables) stepOf(window uint32) (s step) {
	for s.count() < 2 {
		symbol, length := t.long(window << s.bits())
		if int(s.bits())+length > lookupBits {
			break
		}
		s = s.with(symbol, length)
	}
	return s
}

// long decodes the symbol that window begins with, whatever its length: among codes aligned
// to the left, those of a length are a range.
func (t *huffmanTables) long(window uint32) (symbol uint16, length int) {
	length = minCodeLen
	for length < maxCodeLen && window >= t.first[length+1] {
		length++
	}
	index := uint32(t.place[length]) + (window-t.first[length])>>(32-length)
	return t.symbols[index], length
}
