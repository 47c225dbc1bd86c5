package hex

import (
	"encoding/binary"
	"encoding/hex"
	"slices"

	"millrace.dev/buffer"
)

const digits = "0123456789abcdef"

// pairs has the two digits of each byte, the first in the low half as they go to memory.
var pairs = buildPairs()

func buildPairs() (t [256]uint16) {
	for c := range t {
		t[c] = uint16(digits[c>>4]) | uint16(digits[c&15])<<8
	}
	return t
}

// invalid is the value of a byte that is no digit: no byte has this bit.
const invalid = 0x100

// high and low have the value of each digit of either case as the first and the second of a
// byte.
var high, low = buildValues()

func buildValues() (high, low [256]uint16) {
	for c := range low {
		high[c], low[c] = invalid, invalid
	}
	for v := range uint16(16) {
		c := digits[v]
		high[c], low[c] = v<<4, v
		if c >= 'a' {
			c -= 'a' - 'A'
			high[c], low[c] = v<<4, v
		}
	}
	return high, low
}

// Digit returns the value of a digit of either case; ok is false if c is none.
func Digit(c byte) (value byte, ok bool) {
	v := low[c]
	return byte(v), v != invalid
}

// Pair returns the byte that two digits of either case stand for, as in the escape of a URL;
// ok is false if one of them is no digit.
func Pair(first, second byte) (c byte, ok bool) {
	v := high[first] | low[second]
	return byte(v), v < invalid
}

// encode writes two digits for each byte of src to dst, which has room for them.
func encode(dst, src []byte) {
	for len(src) >= 4 && len(dst) >= 8 {
		v := uint64(pairs[src[0]]) | uint64(pairs[src[1]])<<16 |
			uint64(pairs[src[2]])<<32 | uint64(pairs[src[3]])<<48
		binary.LittleEndian.PutUint64(dst, v)
		src, dst = src[4:], dst[8:]
	}
	for i, c := range src {
		binary.LittleEndian.PutUint16(dst[2*i:], pairs[c])
	}
}

// decode writes a byte for each two digits of src to dst, which has room for them, and returns
// how many it wrote.
func decode(dst, src []byte) (int, error) {
	n := 0
	for ; len(src) >= 8 && len(dst)-n >= 4; n += 4 {
		in, out := (*[8]byte)(src), (*[4]byte)(dst[n:])
		a := high[in[0]] | low[in[1]]
		b := high[in[2]] | low[in[3]]
		c := high[in[4]] | low[in[5]]
		d := high[in[6]] | low[in[7]]
		if a|b|c|d >= invalid {
			break
		}
		out[0], out[1], out[2], out[3] = byte(a), byte(b), byte(c), byte(d)
		src = src[8:]
	}
	for ; len(src) >= 2; n++ {
		c, ok := Pair(src[0], src[1])
		if !ok {
			break
		}
		dst[n] = c
		src = src[2:]
	}
	for _, c := range src[:min(2, len(src))] {
		if _, ok := Digit(c); !ok {
			return n, hex.InvalidByteError(c)
		}
	}
	if len(src) == 1 {
		return n, hex.ErrLength
	}
	return n, nil
}

// AppendEncode appends the digits of src to dst, two for each byte.
func AppendEncode(dst, src []byte) []byte {
	n := len(dst)
	dst = slices.Grow(dst, 2*len(src))[:n+2*len(src)]
	encode(dst[n:], src)
	return dst
}

// AppendDecode appends the bytes that the digits of src stand for to dst. The error is
// encoding/hex's InvalidByteError or ErrLength; the bytes before it are then appended.
func AppendDecode(dst, src []byte) ([]byte, error) {
	n := len(dst)
	dst = slices.Grow(dst, len(src)/2)
	k, err := decode(dst[n:n+len(src)/2], src)
	return dst[:n+k], err
}

// Encode writes the digits of src to b, two for each byte. src may not be b's memory.
func Encode(b *buffer.Buffer, src []byte) {
	b.Ensure(2 * len(src))
	encode(b.Writable(), src)
	b.Advance(2 * len(src))
}

// Decode writes the bytes that the digits of src stand for to b. The error is encoding/hex's
// InvalidByteError or ErrLength; nothing is written then. src may not be b's memory.
func Decode(b *buffer.Buffer, src []byte) error {
	b.Ensure(len(src) / 2)
	n, err := decode(b.Writable()[:len(src)/2], src)
	if err != nil {
		return err
	}
	b.Advance(n)
	return nil
}
