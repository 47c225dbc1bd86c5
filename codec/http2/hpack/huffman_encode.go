package hpack

import (
	"encoding/binary"
	"slices"
)

// appendText appends a string, RFC 7541 section 5.2, Huffman-encoded if that is shorter. It
// encodes without having counted first: most strings do get shorter, and have a length that
// takes one byte.
func appendText(dst, s []byte) []byte {
	start := len(dst)
	dst = slices.Grow(dst, 1+len(s)+wordBytes)
	n, shorter := encodeHuffman(dst[start+1:start+1+len(s)+wordBytes], s)
	switch {
	case !shorter:
		return append(appendInteger(dst, 0, 0x7f, uint32(len(s))), s...)
	case n < 0x7f:
		dst = dst[:start+1+n]
		dst[start] = 0x80 | byte(n)
		return dst
	}
	var head [maxIntegerTail + 1]byte
	length := appendInteger(head[:0], 0x80, 0x7f, uint32(n))
	dst = append(dst[:start+1+n], length[1:]...)
	copy(dst[start+len(length):], dst[start+1:])
	copy(dst[start:], length)
	return dst
}

const wordBytes = 8

// encodeHuffman writes s encoded and padded with the beginning of EOS, and returns the
// length if it is less than that of s. It writes whole words, so dst is as long as s and
// one more.
func encodeHuffman(dst, s []byte) (n int, shorter bool) {
	var w encoding
	i, most := 0, len(s)
	for i+4 <= len(s) && n < most {
		four := s[i : i+4 : i+4]
		a, b, c, d := huffman.codes[four[0]], huffman.codes[four[1]], huffman.codes[four[2]], huffman.codes[four[3]]
		length := (a + b + c + d).lengths()
		if length > 56 {
			break // only text beyond ASCII has such codes: the rest goes one by one
		}
		w = w.with(((a.bits()<<b.length()|b.bits())<<c.length()|c.bits())<<d.length()|d.bits(), length)
		n, w = w.flush(dst, n)
		i += 4
	}
	for ; i < len(s) && n < most; i++ {
		c := huffman.codes[s[i]]
		w = w.with(c.bits(), c.length())
		n, w = w.flush(dst, n)
	}
	if w.used > 0 && n < most {
		dst[n] = byte(w.word>>56) | 0xff>>w.used
		n++
	}
	return n, i == len(s) && n < most
}

// encoding is a word that is filled from the left, and how many of its bits are used: less
// than 8 behind a flush.
type encoding struct {
	word uint64
	used uint
}

// with adds up to 56 bits.
func (w encoding) with(bits uint64, length uint) encoding {
	used := w.used + length
	return encoding{w.word | bits<<((64-used)&63), used}
}

// flush writes the word and drops those of its bytes that are full.
func (w encoding) flush(dst []byte, n int) (int, encoding) {
	binary.BigEndian.PutUint64(dst[n:], w.word)
	return n + int(w.used>>3), encoding{w.word << (w.used & 56), w.used & 7}
}
