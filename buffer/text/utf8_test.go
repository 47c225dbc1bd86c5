package text

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"millrace.dev/buffer"
)

var samples = []string{
	"", "a", "mill", "Mühle", "水車", "𝄞 clef", "\x00", "\u07ff\u0800\uffff\U00010000\U0010ffff",
	strings.Repeat("a", 30) + "é" + strings.Repeat("b", 30),
	"\x80", "\xc0\xaf", "\xc2", "\xe0\x80\xbf", "\xe1\x80", "\xed\xa0\x80", "\xf0\x81\x82\x41", "\xf4\x90\x80\x80",
	"\xf1\x80\x80", "\xf5\x80\x80\x80", "\xff", "ok\xe2\x82", "ok\xe2\x82\xac\xe2", "\xe2\x28\xa1", "\xf0\x9d\x84\x9e\xf0\x9d\x84",
}

func TestValidatorInAnyPieces(t *testing.T) {
	t.Parallel()
	for _, s := range samples {
		want := utf8.ValidString(s)
		for i := range len(s) + 1 {
			for j := i; j <= len(s); j++ {
				var v Validator
				fed := v.Feed([]byte(s[:i])) && v.Feed([]byte(s[i:j])) && v.Feed([]byte(s[j:]))
				if v.Complete() != want || want && !fed {
					t.Errorf("%q cut at %d and %d: %v, want %v", s, i, j, v.Complete(), want)
				}
				b := buffer.Compose(buffer.CopyString("\xff"), buffer.CopyString(s[:i]), buffer.CopyString(s[i:j]), buffer.CopyString(s[j:]))
				b.Skip(1)
				if got := Valid(b); got != want || b.ReaderIndex() != 1 || b.Len() != len(s) {
					t.Errorf("%q cut at %d and %d: %v, reader at %d", s, i, j, got, b.ReaderIndex())
				}
				b.Close()
			}
		}
	}
}

// canBecomeValid asks the standard library whether p is valid or the beginning of what is: for
// utf8.FullRune, what is wrong already is full.
func canBecomeValid(p []byte) bool {
	for len(p) > 0 && utf8.FullRune(p) {
		r, n := utf8.DecodeRune(p)
		if r == utf8.RuneError && n == 1 {
			return false
		}
		p = p[n:]
	}
	return true
}

// Each beginning of every kind of character is judged by its last byte already.
func TestValidatorFailsAtTheFirstWrongByte(t *testing.T) {
	t.Parallel()
	edges := []byte{0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff}
	check := func(p []byte) bool {
		want := canBecomeValid(p)
		var whole, bytewise Validator
		got := true
		for i := range p {
			got = bytewise.Feed(p[i : i+1])
		}
		if whole.Feed(p) != want || got != want {
			t.Errorf("% x: %v, %v byte by byte, want %v", p, !want, got, want)
		}
		return want
	}
	for a := range 256 {
		if !check([]byte{byte(a)}) {
			continue
		}
		for b := range 256 {
			if !check([]byte{byte(a), byte(b)}) {
				continue
			}
			for _, c := range edges {
				if check([]byte{byte(a), byte(b), c}) && a > 0x7f {
					for _, d := range edges {
						check([]byte{byte(a), byte(b), c, d})
					}
				}
			}
		}
	}
}

func TestBrokenStaysBroken(t *testing.T) {
	t.Parallel()
	var v Validator
	if v.Feed([]byte("\xff")) || v.Feed([]byte("a")) || v.Complete() {
		t.Error("valid after what is not")
	}
	v.Reset()
	if !v.Feed([]byte("a")) || !v.Complete() {
		t.Error("not valid after Reset")
	}
}

// The examples of the Unicode Standard, section 3.9, and some more.
func TestRepair(t *testing.T) {
	t.Parallel()
	const bad = "\uFFFD"
	for s, want := range map[string]string{
		"":       "",
		"Mühle":  "Mühle",
		"a\xffb": "a" + bad + "b",
		"\xe2":   bad,
		"a\xf1\x80\x80\xe1\x80\xc2b\x80c\x80\xbfd": "a" + bad + bad + bad + "b" + bad + "c" + bad + bad + "d",
		"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82A":        strings.Repeat(bad, 8) + "A",
		"\xed\xa0\x80\xed\xbf\xbf\xed\xafA":        strings.Repeat(bad, 8) + "A",
		"\xf4\x91\x92\x93\xffA\x80\xbfB":           strings.Repeat(bad, 5) + "A" + bad + bad + "B",
		"\xe1\x80\xe2\xf0\x91\x92\xf1\xbfA":        strings.Repeat(bad, 4) + "A",
		"�\xff":                                    bad + bad,
	} {
		b := buffer.New(0)
		if n := WriteValid(b, s); string(b.Bytes()) != want || n != len(want) {
			t.Errorf("%q: %d bytes, %q, want %q", s, n, b.Bytes(), want)
		}
		b.Close()
		for i := range len(s) + 1 {
			for j := i; j <= len(s); j++ {
				var r Repairer
				got := r.Append(nil, []byte(s[:i]))
				got = r.Append(r.Append(got, []byte(s[i:j])), []byte(s[j:]))
				if got = r.End(got); string(got) != want || r.Unfinished() {
					t.Errorf("%q cut at %d and %d: %q, want %q", s, i, j, got, want)
				}
			}
		}
	}
}

func TestWriteRune(t *testing.T) {
	t.Parallel()
	b := buffer.New(0)
	defer b.Close()
	for _, r := range []rune{0, 'a', 0x7f, 0x80, 0x7ff, 0x800, 0xd800, 0xffff, 0x10000, 0x10ffff, 0x110000, -1} {
		b.Reset()
		if n := WriteRune(b, r); string(b.Bytes()) != string(r) || n != b.Len() {
			t.Errorf("%x: %d bytes, %q", r, n, b.Bytes())
		}
	}
}

func TestWriteString16(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		s   string
		err error
	}{
		{"", nil}, {"topic/é", nil}, {strings.Repeat("x", 65535), nil},
		{strings.Repeat("x", 65536), ErrTooLong}, {"\xff", ErrInvalid}, {"\xed\xa0\x80", ErrInvalid},
	} {
		b := buffer.New(0)
		if err := WriteString16(b, row.s); err != row.err {
			t.Errorf("%.20q: %v", row.s, err)
		}
		if row.err == nil {
			if n := int(b.ReadUint16()); n != len(row.s) || b.ReadString(n) != row.s {
				t.Errorf("%.20q: length %d", row.s, n)
			}
		}
		if b.Len() != 0 {
			t.Errorf("%.20q: %d bytes more", row.s, b.Len())
		}
		b.Close()
	}
}

func TestTextAllocatesNothing(t *testing.T) {
	b := buffer.New(1000)
	defer b.Close()
	parts := buffer.Compose(buffer.CopyString("水"), buffer.CopyString("車 mill"))
	defer parts.Close()
	if n := testing.AllocsPerRun(20, func() {
		b.Reset()
		WriteRune(b, 'ü')
		WriteValid(b, "mill\xff race")
		_ = WriteString16(b, "topic")
		Valid(b)
		Valid(parts)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

var replacements = regexp.MustCompile("\uFFFD+")

// A character may be replaced by one mark or by several; but for that WriteValid is
// strings.ToValidUTF8, and the validator is utf8.Valid.
func FuzzUTF8(f *testing.F) {
	for _, s := range samples {
		f.Add(s, uint8(2))
	}
	f.Fuzz(func(t *testing.T, s string, piece uint8) {
		var v Validator
		for at, size := 0, int(piece%8)+1; at < len(s); at += size {
			v.Feed([]byte(s[at:min(at+size, len(s))]))
		}
		if got, want := v.Complete(), utf8.ValidString(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
		b := buffer.New(0)
		defer b.Close()
		var r Repairer
		var repaired []byte
		for at, size := 0, int(piece%8)+1; at < len(s); at += size {
			repaired = r.Append(repaired, []byte(s[at:min(at+size, len(s))]))
		}
		n := WriteValid(b, s)
		if repaired = r.End(repaired); !b.Equal(repaired) {
			t.Errorf("%q: %q in pieces, %q at once", s, repaired, b.Bytes())
		}
		got := string(b.Bytes())
		if !utf8.ValidString(got) || n != len(got) {
			t.Errorf("%q: wrote %q and said %d", s, got, n)
		}
		want := strings.ToValidUTF8(s, "\uFFFD")
		if replacements.ReplaceAllString(got, "?") != replacements.ReplaceAllString(want, "?") {
			t.Errorf("%q: %q, want like %q", s, got, want)
		}
	})
}
