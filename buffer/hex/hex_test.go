package hex

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

// sequence returns n bytes that go through all values.
func sequence(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i * 37)
	}
	return p
}

func TestEncodeAsTheStandardLibrary(t *testing.T) {
	t.Parallel()
	for n := range 300 {
		src := sequence(n)
		want := hex.EncodeToString(src)
		if got := string(AppendEncode([]byte("x"), src)); got != "x"+want {
			t.Errorf("%d bytes: %s, want x%s", n, got, want)
		}
		b := buffer.CopyString("y")
		Encode(b, src)
		if got := string(b.Bytes()); got != "y"+want {
			t.Errorf("%d bytes: %s, want y%s", n, got, want)
		}
		b.Close()
	}
}

// checkDecode holds decoding against the standard library's.
func checkDecode(t *testing.T, src []byte) {
	t.Helper()
	want, wantErr := hex.AppendDecode([]byte("x"), src)
	got, err := AppendDecode([]byte("x"), src)
	if string(got) != string(want) || err != wantErr {
		t.Errorf("%q: %x and %v, want %x and %v", src, got, err, want, wantErr)
	}
	b := buffer.CopyString("x")
	defer b.Close()
	if wantErr != nil {
		want = want[:1]
	}
	if err := Decode(b, src); err != wantErr || !b.Equal(want) {
		t.Errorf("%q: %x and %v in a buffer, want %x and %v", src, b.Bytes(), err, want, wantErr)
	}
}

func TestDecodeAsTheStandardLibrary(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"", "0", "00", "0g", "g0", "0 ", "12345", "123g", "12g", "1234g", "deadBEEF", "DEADbeef0", "00ff\x00", "\xff\xff"} {
		checkDecode(t, []byte(src))
	}
	for a := range 256 {
		for b := range 256 {
			checkDecode(t, []byte{'7', 'F', byte(a), byte(b)})
		}
	}
}

// On their own too, whatever byte stands in either place.
func TestPairsAndDigits(t *testing.T) {
	t.Parallel()
	for a := range 256 {
		for b := range 256 {
			want, err := hex.DecodeString(string([]byte{byte(a), byte(b)}))
			got, ok := Pair(byte(a), byte(b))
			if ok != (err == nil) || ok && got != want[0] {
				t.Errorf("%#x %#x: %#x %v", a, b, got, ok)
			}
		}
		want, err := hex.DecodeString(string([]byte{'0', byte(a)}))
		got, ok := Digit(byte(a))
		if ok != (err == nil) || ok && got != want[0] {
			t.Errorf("%#x: %#x %v", a, got, ok)
		}
	}
}

func FuzzHex(f *testing.F) {
	f.Add([]byte("00ffAb"))
	f.Add([]byte("0fx"))
	f.Fuzz(func(t *testing.T, src []byte) {
		checkDecode(t, src)
		digits := AppendEncode(nil, src)
		if back, err := AppendDecode(nil, digits); err != nil || !bytes.Equal(back, src) {
			t.Errorf("%x came back as %x, %v", src, back, err)
		}
		checkDump(t, src, rand.New(rand.NewPCG(1, uint64(len(src)))))
	})
}

// pieces returns a Buffer with p in up to three parts, that has read some bytes before p.
func pieces(p []byte, r *rand.Rand) *buffer.Buffer {
	i := r.IntN(len(p) + 1)
	j := i + r.IntN(len(p)-i+1)
	b := buffer.Compose(buffer.CopyString("before"), buffer.Copy(p[:i]), buffer.Copy(p[i:j]), buffer.Copy(p[j:]))
	b.Skip(len("before"))
	return b
}

// checkDump holds dumps against the standard library's.
func checkDump(t *testing.T, p []byte, r *rand.Rand) {
	t.Helper()
	want := hex.Dump(p)
	if got := string(AppendDumpBytes([]byte("x\n"), p)); got != "x\n"+want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	b := pieces(p, r)
	defer b.Close()
	at := b.ReaderIndex()
	if got := Dump(b); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if b.ReaderIndex() != at || b.Len() != len(p) {
		t.Errorf("reader at %d, %d bytes afterwards", b.ReaderIndex(), b.Len())
	}
}

func TestDumpAsTheStandardLibrary(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 70 {
		checkDump(t, sequence(n), r)
	}
	checkDump(t, sequence(70000), r)
}

func TestLine(t *testing.T) {
	t.Parallel()
	b := buffer.Compose(buffer.CopyString("he"), buffer.CopyString("l"), buffer.CopyString("lo\r\n\x00\xff"))
	defer b.Close()
	for limit, want := range map[int]string{
		100: "68 65 6c 6c 6f 0d 0a 00 ff |hello....|",
		9:   "68 65 6c 6c 6f 0d 0a 00 ff |hello....|",
		8:   "68 65 6c 6c 6f 0d 0a 00 … |hello...|",
		3:   "68 65 6c … |hel|",
		2:   "68 65 … |he|",
		0:   "… ||",
		-1:  "… ||",
	} {
		if got := string(AppendLine([]byte("> "), b, limit)); got != "> "+want {
			t.Errorf("limit %d: %s, want %s", limit, got, want)
		}
	}
	empty := buffer.New(0)
	defer empty.Close()
	if got := string(AppendLine(nil, empty, 5)); got != "||" {
		t.Errorf("empty: %s", got)
	}
}

func TestNothingIsAllocatedWhereThereIsRoom(t *testing.T) {
	src := sequence(500)
	digits := AppendEncode(nil, src)
	b, dst := buffer.New(2000), make([]byte, 0, 4000)
	defer b.Close()
	if n := testing.AllocsPerRun(10, func() {
		b.Reset()
		Encode(b, src)
		_ = Decode(b, digits)
		dst = AppendEncode(dst[:0], src)
		dst, _ = AppendDecode(dst[:0], digits)
		dst = AppendDumpBytes(dst[:0], src)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestDumpHasItsSize(t *testing.T) {
	t.Parallel()
	b := buffer.Copy(sequence(160))
	defer b.Close()
	dump := Dump(b)
	if len(dump) != 10*rowLen || strings.Count(dump, "\n") != 10 {
		t.Errorf("%d bytes", len(dump))
	}
}
