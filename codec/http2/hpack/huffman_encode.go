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
	var out bitWriter
	i, most, c := 0, len(s), &huffman.codes
	for ; i+8 <= len(s) && n < most; i += 8 {
		p := s[i : i+8 : i+8] // with a capacity, it takes no care not to point behind the end
		e := encoding{}.with(c[p[0]]).with(c[p[1]]).with(c[p[2]]).with(c[p[3]]).
			with(c[p[4]]).with(c[p[5]]).with(c[p[6]]).with(c[p[7]])
		if e.length() <= maxEncoding {
			n, out = out.write(dst, n, e)
		} else {
			n, out = out.writeSingly(dst, n, most, p)
		}
	}
	if n < most {
		p, e := s[i:], encoding{}
		for _, symbol := range p {
			e = e.with(c[symbol])
		}
		if e.length() <= maxEncoding {
			n, out = out.write(dst, n, e)
		} else {
			n, out = out.writeSingly(dst, n, most, p)
		}
	}
	if out.used > 0 && n < most {
		dst[n] = byte(out.word>>56) | 0xff>>out.used
		n++
	}
	return n, n < most
}

// encoding is what up to eight symbols are encoded as: a word that is filled from the left, and
// how many of its bits are used. A code and its length are one word, which is added to both as
// it is: the lowest byte of word means nothing, nor does used above its lowest byte.
type encoding struct{ word, used uint64 }

// maxEncoding is the length up to which the word has room.
const maxEncoding = 56

func (e encoding) length() uint { return uint(uint8(e.used)) }

func (e encoding) with(c code) encoding {
	return encoding{e.word | uint64(c)>>(e.used&63), e.used + uint64(c)}
}

// bitWriter has the bits that don't fill a byte yet, and how many they are.
type bitWriter struct {
	word uint64
	used uint
}

// write adds an encoding to the n bytes that are in dst, which has room for a word.
func (w bitWriter) write(dst []byte, n int, e encoding) (int, bitWriter) {
	word, used := w.word|e.word&^0xff>>(w.used&63), w.used+e.length()
	binary.BigEndian.PutUint64(dst[n:n+8:n+8], word)
	return n + int(used>>3), bitWriter{word << (used & 56), used & 7}
}

// writeSingly is for symbols that are too long together, as only text beyond ASCII has them. It
// ends when most bytes are written.
func (w bitWriter) writeSingly(dst []byte, n, most int, s []byte) (int, bitWriter) {
	for i := 0; i < len(s) && n < most; i++ {
		n, w = w.write(dst, n, encoding{}.with(huffman.codes[s[i]]))
	}
	return n, w
}
