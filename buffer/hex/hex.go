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

// invalid is the value of a byte that is no digit: it has bits that no digit's value has.
const invalid = 0xff

// values has the value of each digit of either case.
var values = buildValues()

func buildValues() (t [256]uint8) {
	for c := range t {
		t[c] = invalid
	}
	for v := range 16 {
		c := digits[v]
		t[c] = uint8(v)
		if c >= 'a' {
			t[c-'a'+'A'] = uint8(v)
		}
	}
	return t
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
	for ; len(src) >= 2 && n < len(dst); src = src[2:] {
		high, low := values[src[0]], values[src[1]]
		if high|low > 15 {
			break
		}
		dst[n] = high<<4 | low
		n++
	}
	for _, c := range src[:min(2, len(src))] {
		if values[c] == invalid {
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
