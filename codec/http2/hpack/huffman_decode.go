package hpack

import (
	"encoding/binary"
	"slices"
)

// maxDecoded bounds the length of n bytes decoded, plus what a step may write beyond.
func maxDecoded(n int) int { return n*maxExpansion/minCodeLen + 2 }

// appendDecoded appends what the Huffman-encoded src stands for. The room that it takes is
// bounded by the bytes that have arrived.
func appendDecoded(dst, src []byte) ([]byte, error) {
	start := len(dst)
	dst = slices.Grow(dst, maxDecoded(len(src)))
	out := dst[start : start+maxDecoded(len(src))]
	window, have, i, at := uint64(0), uint(0), 0, 0
	for {
		// The window is filled from the left: have bits of it are valid.
		if len(src)-i >= 8 {
			window |= binary.BigEndian.Uint64(src[i:]) >> have
			i += int((63 - have) >> 3)
			have |= 56
		} else {
			for have <= 56 && i < len(src) {
				window |= uint64(src[i]) << (56 - have)
				have += 8
				i++
			}
			if have < maxCodeLen {
				break
			}
		}
		for have >= maxCodeLen {
			s := &huffman.lookup[window>>lookupShift]
			if s.count == 0 {
				symbol, length := huffman.long(uint32(window >> 32))
				if symbol == eos {
					return nil, ErrHuffman
				}
				out[at] = byte(symbol)
				at++
				window <<= uint(length)
				have -= uint(length)
				continue
			}
			out[at], out[at+1] = s.symbols[0], s.symbols[1]
			at += int(s.count)
			window <<= s.bits
			have -= uint(s.bits)
		}
	}
	at, ok := decodeTail(out, at, window, have)
	if !ok {
		return nil, ErrHuffman
	}
	return dst[:start+at], nil
}

// decodeTail decodes the last bits, symbol by symbol, until what is left is padding: less
// than eight bits, all of them ones (RFC 7541 section 5.2).
func decodeTail(out []byte, at int, window uint64, have uint) (int, bool) {
	for {
		if have < 8 && window == ^(^uint64(0)>>have) {
			return at, true
		}
		symbol, length := huffman.long(uint32(window>>32) | ^uint32(0)>>have)
		if uint(length) > have || symbol == eos {
			return 0, false
		}
		out[at] = byte(symbol)
		at++
		window <<= uint(length)
		have -= uint(length)
	}
}
