package hpack

import "math"

// incomplete is the next index that a reader returns when more bytes have to arrive.
const incomplete = -1

// readInteger reads an integer whose prefix are the bits of mask in p[i], RFC 7541 section
// 5.1, and returns the index behind it, or incomplete.
func readInteger(p []byte, i int, mask byte) (value uint32, next int, err error) {
	value = uint32(p[i] & mask)
	if value < uint32(mask) {
		return value, i + 1, nil
	}
	return readLongInteger(p, i+1, value)
}

// maxIntegerTail is how many bytes behind the prefix 32 bits take.
const maxIntegerTail = 5

func readLongInteger(p []byte, i int, prefix uint32) (value uint32, next int, err error) {
	sum := uint64(prefix)
	for k := range maxIntegerTail {
		if i+k == len(p) {
			return 0, incomplete, nil
		}
		b := p[i+k]
		sum += uint64(b&0x7f) << (7 * k)
		if b < 0x80 {
			if sum > math.MaxUint32 {
				break
			}
			return uint32(sum), i + k + 1, nil
		}
	}
	return 0, 0, ErrInteger
}

// appendInteger appends an integer behind the bits of first that mask leaves free.
func appendInteger(dst []byte, first, mask byte, value uint32) []byte {
	if value < uint32(mask) {
		return append(dst, first|byte(value))
	}
	return appendLongInteger(append(dst, first|mask), value-uint32(mask))
}

func appendLongInteger(dst []byte, value uint32) []byte {
	for value >= 0x80 {
		dst = append(dst, byte(value)|0x80)
		value >>= 7
	}
	return append(dst, byte(value))
}
