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
	// The word is filled from the left. Before each symbol less than 8 of its bits are used.
	word, used, at, most := uint64(0), uint(0), 0, len(s)
	for len(s) > 0 && at < most {
		c := huffman.codes[s[0]]
		bits, length, taken := c.bits(), c.length(), 1
		if len(s) >= 4 {
			c1, c2, c3 := huffman.codes[s[1]], huffman.codes[s[2]], huffman.codes[s[3]]
			if sum := length + c1.length() + c2.length() + c3.length(); sum <= 56 {
				bits = ((bits<<c1.length()|c1.bits())<<c2.length()|c2.bits())<<c3.length() | c3.bits()
				length, taken = sum, 4
			}
		}
		s = s[taken:]
		used += length
		word |= bits << ((64 - used) & 63)
		binary.BigEndian.PutUint64(dst[at:], word)
		at += int(used >> 3)
		word <<= used & 56
		used &= 7
	}
	if used > 0 && at < most {
		dst[at] = byte(word>>56) | 0xff>>used
		at++
	}
	return at, len(s) == 0 && at < most
}
