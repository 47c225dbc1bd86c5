package hpack

import "encoding/binary"

// huffmanLen returns how many bytes s takes when it is encoded.
func huffmanLen(s []byte) int {
	n := 0
	for _, c := range s {
		n += int(codeLengths[c])
	}
	return (n + 7) >> 3
}

// appendHuffman appends s encoded, padded with the beginning of EOS.
func appendHuffman(dst, s []byte) []byte {
	// bits is filled from below, and there are never more than 31 + 30 of them.
	bits, n := uint64(0), uint(0)
	for _, c := range s {
		l := uint(codeLengths[c])
		bits = bits<<l | uint64(huffman.codes[c])
		n += l
		if n >= 32 {
			n -= 32
			dst = binary.BigEndian.AppendUint32(dst, uint32(bits>>n))
		}
	}
	for n >= 8 {
		n -= 8
		dst = append(dst, byte(bits>>n))
	}
	if n > 0 {
		dst = append(dst, byte(bits<<(8-n))|0xff>>n)
	}
	return dst
}
