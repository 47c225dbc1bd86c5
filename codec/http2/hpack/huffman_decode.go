package hpack

import (
	"encoding/binary"
	"slices"
)

// maxDecoded bounds the length of n bytes decoded, plus what a step may write beyond.
func maxDecoded(n int) int { return n*8/minCodeLen + 2 }

// appendDecoded appends what the Huffman-encoded src stands for. The room that it takes,
// maxDecoded, is bounded by the bytes that have arrived.
func appendDecoded(dst, src []byte) ([]byte, error) {
	start := len(dst)
	dst = slices.Grow(dst, maxDecoded(len(src)))
	out := dst[start : start+maxDecoded(len(src))]
	// The window is filled from the left, and have of its bits are valid. Those behind them
	// are zeros or the next ones already.
	window, have, at := uint64(0), uint(0), 0
	for len(src) > 0 {
		taken := min(len(src), int(63-have)>>3)
		window |= nextWord(src) >> (have & 63)
		src, have = src[taken:], have+8*uint(taken)
		if have < steps*lookupBits {
			break // these were the last bytes
		}
		// Unlike a loop that looks at what is left, this one can be predicted.
		for range steps {
			s := huffman.lookup[window>>lookupShift]
			if s.count() == 0 {
				if have < maxCodeLen {
					break
				}
				symbol, length := huffman.long(uint32(window >> 32))
				if symbol == eos {
					return nil, ErrHuffman
				}
				out[at] = byte(symbol)
				at++
				window <<= uint(length)
				have -= uint(length)
				break
			}
			binary.LittleEndian.PutUint16(out[at:], s.symbols())
			at += s.count()
			window <<= s.bits()
			have -= s.bits()
		}
	}
	n, ok := decodeTail(out[at:], window, have)
	if !ok {
		return nil, ErrHuffman
	}
	return dst[:start+at+n], nil
}

// steps is how many look-ups the bits are enough for that the window has at least as long
// as there are bytes.
const steps = 56 / lookupBits

// nextWord returns the next up to eight bytes, the first one leftmost.
func nextWord(src []byte) uint64 {
	if len(src) >= 8 {
		return binary.BigEndian.Uint64(src)
	}
	return lastWord(src)
}

func lastWord(src []byte) uint64 {
	n := len(src)
	if n >= 4 {
		left, right := binary.BigEndian.Uint32(src), binary.BigEndian.Uint32(src[n-4:])
		return uint64(left)<<32 | uint64(right)<<(64-8*n)
	}
	word := uint64(0)
	for i, c := range src {
		word |= uint64(c) << (56 - 8*i)
	}
	return word
}

// decodeTail decodes the bits of the last window and returns how many symbols they were. It
// ends well when what is left is padding: less than eight bits, all of them ones (RFC 7541
// section 5.2).
func decodeTail(out []byte, window uint64, have uint) (int, bool) {
	at := 0
	for {
		fill := ^uint64(0) >> (have & 63)
		if have < 8 && window == ^fill {
			return at, true
		}
		padded := window | fill
		s := huffman.lookup[padded>>lookupShift]
		if s.count() == 0 || s.bits() > have {
			symbol, length := huffman.long(uint32(padded >> 32))
			if symbol == eos || uint(length) > have {
				return 0, false
			}
			s = step(0).with(symbol, length)
		}
		binary.LittleEndian.PutUint16(out[at:], s.symbols())
		at += s.count()
		window <<= s.bits()
		have -= s.bits()
	}
}
