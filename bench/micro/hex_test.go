package micro

import (
	"encoding/hex"
	"testing"

	"millrace.dev/buffer"
	mhex "millrace.dev/buffer/hex"
)

// hexInputs is so many that a branch predictor can't learn them.
const hexInputs = 2048

var (
	hexSink  int
	hexBytes []byte
)

// The value of one digit: the alternatives are not inlined, so that each is what a caller
// elsewhere gets.

//go:noinline
func hexValueBranches(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

var hexValues = func() (t [256]int8) {
	for c := range t {
		t[c] = int8(hexValueBranches(byte(c)))
	}
	return t
}()

//go:noinline
func hexValueTable(c byte) int { return int(hexValues[c]) }

// The digit of one value.

//go:noinline
func hexDigitBranches(v byte) byte {
	if v < 10 {
		return '0' + v
	}
	return 'a' + v - 10
}

//go:noinline
func hexDigitTable(v byte) byte { return "0123456789abcdef"[v&15] }

func BenchmarkHexDigit(b *testing.B) {
	r := seeded()
	var digits, values [hexInputs]byte
	for i := range digits {
		digits[i] = "0123456789abcdefABCDEFgz /"[r.IntN(26)]
		values[i] = byte(r.IntN(16))
	}
	for _, alt := range []struct {
		name string
		f    func(byte) int
	}{{"branches", hexValueBranches}, {"millrace-table", hexValueTable}} {
		b.Run("op=value/alt="+alt.name, func(b *testing.B) {
			sum := 0
			for i := range b.N {
				sum += alt.f(digits[i%hexInputs])
			}
			hexSink = sum
		})
	}
	for _, alt := range []struct {
		name string
		f    func(byte) byte
	}{{"branches", hexDigitBranches}, {"millrace-table", hexDigitTable}} {
		b.Run("op=digit/alt="+alt.name, func(b *testing.B) {
			sum := 0
			for i := range b.N {
				sum += int(alt.f(values[i%hexInputs]))
			}
			hexSink = sum
		})
	}
}

func hexEncodeBranches(dst, src []byte) []byte {
	for _, c := range src {
		dst = append(dst, hexDigitBranches(c>>4), hexDigitBranches(c&15))
	}
	return dst
}

func hexDecodeBranches(dst, src []byte) ([]byte, error) {
	for i := 0; i+1 < len(src); i += 2 {
		high, low := hexValueBranches(src[i]), hexValueBranches(src[i+1])
		if high < 0 || low < 0 {
			return dst, hex.ErrLength
		}
		dst = append(dst, byte(high<<4|low))
	}
	return dst, nil
}

// 2,048 random bytes to and from digits, and as a dump.
func BenchmarkHex(b *testing.B) {
	src := randomBytes(seeded(), hexInputs)
	digits := mhex.AppendEncode(nil, src)
	dst := make([]byte, 0, 16<<10)
	out := buffer.New(16 << 10)
	defer out.Close()
	in := buffer.Wrap(src)
	defer in.Close()
	for _, bench := range []struct {
		name string
		f    func()
	}{
		{"op=encode/alt=branches", func() { hexBytes = hexEncodeBranches(dst, src) }},
		{"op=encode/alt=stdlib", func() { hexBytes = hex.AppendEncode(dst, src) }},
		{"op=encode/alt=millrace", func() { hexBytes = mhex.AppendEncode(dst, src) }},
		{"op=encode/alt=millrace-buffer", func() { out.Reset(); mhex.Encode(out, src) }},
		{"op=decode/alt=branches", func() { hexBytes, _ = hexDecodeBranches(dst, digits) }},
		{"op=decode/alt=stdlib", func() { hexBytes, _ = hex.AppendDecode(dst, digits) }},
		{"op=decode/alt=millrace", func() { hexBytes, _ = mhex.AppendDecode(dst, digits) }},
		{"op=decode/alt=millrace-buffer", func() { out.Reset(); _ = mhex.Decode(out, digits) }},
		{"op=dump/alt=stdlib", func() { hexSink = len(hex.Dump(src)) }},
		{"op=dump/alt=millrace", func() { hexSink = len(mhex.Dump(in)) }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(hexInputs)
			b.ReportAllocs()
			for b.Loop() {
				bench.f()
			}
		})
	}
}
