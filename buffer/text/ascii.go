package text

import (
	"encoding/binary"
	"hash/maphash"
	"slices"

	"millrace.dev/buffer"
)

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
	// caseBit tells a letter's lower case from its upper case.
	caseBit = 0x20
)

// word returns eight bytes of s from i on.
func word[S []byte | string](s S, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// between has the case bit set for each byte of x from first to last, which are ASCII. A byte
// passes a bound when adding the distance to 0x80 sets its highest bit.
func between(x uint64, first, last byte) uint64 {
	low := x &^ highs
	from := low + uint64(0x80-first)*ones
	beyond := low + uint64(0x7f-last)*ones
	return (from &^ beyond &^ x & highs) >> 2
}

func lower8(x uint64) uint64 { return x | between(x, 'A', 'Z') }
func upper8(x uint64) uint64 { return x &^ between(x, 'a', 'z') }

// Lower returns the lower case of an ASCII letter and any other byte as it is.
func Lower(c byte) byte {
	if c-'A' < 26 {
		c |= caseBit
	}
	return c
}

// Upper returns the upper case of an ASCII letter and any other byte as it is.
func Upper(c byte) byte {
	if c-'a' < 26 {
		c &^= caseBit
	}
	return c
}

// EqualFold reports whether a and b are equal when ASCII letters match either case. Unlike
// strings.EqualFold it lets no other letter match them, as protocols have it.
func EqualFold[A, B []byte | string](a A, b B) bool {
	n := len(a)
	if n != len(b) {
		return false
	}
	if n < 8 {
		for i := 0; i < n; i++ {
			if x, y := a[i], b[i]; x != y && Lower(x) != Lower(y) {
				return false
			}
		}
		return true
	}
	for i := 0; i < n-8; i += 8 {
		if !equalFold8(word(a, i), word(b, i)) {
			return false
		}
	}
	return equalFold8(word(a, n-8), word(b, n-8)) // some of them for the second time
}

func equalFold8(x, y uint64) bool { return lower8(x) == lower8(y) }

// HashFold returns a hash of s that is the same for all spellings that are EqualFold. Peers
// that don't know the seed can't find names with the same hash.
func HashFold[S []byte | string](seed maphash.Seed, s S) uint64 {
	var chunk [64]byte
	if len(s) <= len(chunk) {
		lower(chunk[:], s)
		return maphash.Bytes(seed, chunk[:len(s)])
	}
	var h maphash.Hash
	h.SetSeed(seed)
	for len(s) > 0 {
		n := min(len(s), len(chunk))
		lower(chunk[:], s[:n])
		_, _ = h.Write(chunk[:n])
		s = s[n:]
	}
	return h.Sum64()
}

// lower copies s to dst, which is as long at least and other memory, in lower case. That upper
// is its twin is on purpose: one function for both, which is told the first letter, measured a
// tenth slower.
func lower[S []byte | string](dst []byte, s S) {
	n := len(s)
	if n < 8 {
		for i := 0; i < n; i++ {
			dst[i] = Lower(s[i])
		}
		return
	}
	for i := 0; i < n-8; i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], lower8(word(s, i)))
	}
	binary.LittleEndian.PutUint64(dst[n-8:], lower8(word(s, n-8))) // some of them for the second time
}

// upper copies s to dst, which is as long at least and other memory, in upper case.
func upper[S []byte | string](dst []byte, s S) {
	n := len(s)
	if n < 8 {
		for i := 0; i < n; i++ {
			dst[i] = Upper(s[i])
		}
		return
	}
	for i := 0; i < n-8; i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], upper8(word(s, i)))
	}
	binary.LittleEndian.PutUint64(dst[n-8:], upper8(word(s, n-8)))
}

// AppendLower appends s to dst with ASCII letters in lower case.
func AppendLower[S []byte | string](dst []byte, s S) []byte {
	n := len(dst)
	dst = slices.Grow(dst, len(s))[:n+len(s)]
	lower(dst[n:], s)
	return dst
}

// AppendUpper appends s to dst with ASCII letters in upper case.
func AppendUpper[S []byte | string](dst []byte, s S) []byte {
	n := len(dst)
	dst = slices.Grow(dst, len(s))[:n+len(s)]
	upper(dst[n:], s)
	return dst
}

// WriteLower writes s to b with ASCII letters in lower case.
func WriteLower[S []byte | string](b *buffer.Buffer, s S) {
	b.Ensure(len(s))
	lower(b.Writable(), s)
	b.Advance(len(s))
}

// WriteUpper writes s to b with ASCII letters in upper case.
func WriteUpper[S []byte | string](b *buffer.Buffer, s S) {
	b.Ensure(len(s))
	upper(b.Writable(), s)
	b.Advance(len(s))
}
