package http

import (
	"net/url"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/internal/allocs"
)

// keptBytes are the bytes that each mode leaves alone, spelled out.
var keptBytes = [escapings]string{
	EscapeForm:  "*-._" + "0123456789" + "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + "abcdefghijklmnopqrstuvwxyz",
	EscapeQuery: "-._~" + "!$'()*," + ":@/?" + "0123456789" + "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + "abcdefghijklmnopqrstuvwxyz",
	EscapePath:  "-._~" + "!$&'()*+,=" + ":@" + "0123456789" + "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + "abcdefghijklmnopqrstuvwxyz",
}

// escaped writes s in every way there is, and checks that all do the same.
func escaped(t testing.TB, s string, e Escaping) string {
	t.Helper()
	got := string(AppendEscaped(nil, s, e))
	roomy := AppendEscaped(make([]byte, 1, 10+4*len(s)), []byte(s), e)
	b := buffer.New(0)
	defer b.Close()
	b.WriteUint8(0)
	WriteEscaped(b, s, e)
	c := buffer.New(10 + 4*len(s))
	defer c.Close()
	WriteEscaped(c, []byte(s), e)
	if string(roomy) != "\x00"+got || string(b.Readable()) != "\x00"+got || string(c.Readable()) != got {
		t.Fatalf("%q: %q, with room %q, to a Buffer %q and, with room, %q", s, got, roomy, b.Readable(), c.Readable())
	}
	return got
}

// Every byte, alone and at every place of a run that the wide loop and its tail look at.
func TestEscapedBytes(t *testing.T) {
	t.Parallel()
	const hex = "0123456789ABCDEF"
	for e := EscapeForm; e < escapings; e++ {
		for i := range 256 {
			c := byte(i)
			want := string([]byte{'%', hex[c>>4], hex[c&15]})
			if strings.IndexByte(keptBytes[e], c) >= 0 {
				want = string([]byte{c})
			} else if e == EscapeForm && c == ' ' {
				want = "+"
			}
			for length := 1; length < 20; length += 3 {
				for at := range length {
					before, behind := strings.Repeat("a", at), strings.Repeat("b", length-at-1)
					if got := escaped(t, before+string([]byte{c})+behind, e); got != before+want+behind {
						t.Fatalf("mode %d, byte %#02x at %d of %d: %q", e, c, at, length, got)
					}
				}
			}
		}
	}
}

// Whatever room there is in dst, it is enough or is made.
func TestEscapedIntoAnyRoom(t *testing.T) {
	t.Parallel()
	for length := range 20 {
		for _, c := range []string{"a", "&", "\xff"} {
			s := strings.Repeat(c, length)
			want := "0" + escaped(t, s, EscapeForm)
			for room := range 3*length + 10 {
				dst := append(make([]byte, 0, 1+room), '0')
				if got := string(AppendEscaped(dst, s, EscapeForm)); got != want {
					t.Fatalf("%q into %d bytes: %q, want %q", s, room, got, want)
				}
				b := buffer.New(128)
				b.Advance(len(b.Writable()) - room)
				b.Skip(b.Len())
				WriteEscaped(b, s, EscapeForm)
				if got := "0" + string(b.Readable()); got != want {
					t.Fatalf("%q into a Buffer with room for %d: %q, want %q", s, room, got, want)
				}
				b.Close()
			}
		}
	}
}

func TestEscapedStrings(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		e        Escaping
		in, want string
	}{
		{EscapeForm, "", ""},
		{EscapeForm, "water mill & co.", "water+mill+%26+co."},
		{EscapeForm, "50% + 1 = ?", "50%25+%2B+1+%3D+%3F"},
		{EscapeForm, "~*é€\U0001f600", "%7E*%C3%A9%E2%82%AC%F0%9F%98%80"},
		{EscapeForm, "\x00\r\n\xff", "%00%0D%0A%FF"},
		{EscapeQuery, "water mill & co.", "water%20mill%20%26%20co."},
		{EscapeQuery, "a/b?c=d;e+f#g[h]", "a/b?c%3Dd%3Be%2Bf%23g%5Bh%5D"},
		{EscapePath, "a/b c;d=e?f+g", "a%2Fb%20c%3Bd=e%3Ff+g"},
		{EscapePath, "..", ".."},
	} {
		if got := escaped(t, row.in, row.e); got != row.want {
			t.Errorf("mode %d, %q: %q, want %q", row.e, row.in, got, row.want)
		}
	}
}

func TestQueryEncoder(t *testing.T) {
	t.Parallel()
	var q QueryEncoder
	b := buffer.New(8)
	defer b.Close()
	for _, e := range []struct {
		Escaping
		want string
	}{{EscapeForm, "q=a+b&=&%C3%A9=%3D"}, {EscapeQuery, "q=a%20b&=&%C3%A9=%3D"}} {
		q.Escaping = e.Escaping
		got := []byte{}
		q.Reset()
		for _, p := range [][2]string{{"q", "a b"}, {"", ""}, {"é", "="}} {
			got = q.Append(got, p[0], p[1])
		}
		q.Reset()
		b.Reset()
		for _, p := range [][2]string{{"q", "a b"}, {"", ""}, {"é", "="}} {
			q.Write(b, p[0], p[1])
		}
		if string(got) != e.want || string(b.Readable()) != e.want {
			t.Errorf("%q, to a Buffer %q, want %q", got, b.Readable(), e.want)
		}
	}
}

// A piece of a composite buffer has no room of its own.
func TestWriteEscapedToComposite(t *testing.T) {
	t.Parallel()
	b := buffer.CopyString("?a=")
	b.Append(buffer.CopyString("b&c="))
	defer b.Close()
	WriteEscaped(b, "d e", EscapeForm)
	WriteEscaped(b, "f", EscapeForm)
	got := make([]byte, b.Len())
	b.Read(got)
	if string(got) != "?a=b&c=d+ef" {
		t.Errorf("%q", got)
	}
}

func TestEscapeAllocations(t *testing.T) {
	if allocs.RaceDetector {
		t.Skip("the race detector allocates")
	}
	long := strings.Repeat("long enough é ", 20)
	dst := make([]byte, 0, 4*len(long))
	b := buffer.New(4 * len(long))
	defer b.Close()
	var q QueryEncoder
	if n := testing.AllocsPerRun(100, func() {
		q.Reset()
		dst = q.Append(dst[:0], "name", long)
		q.Reset()
		b.Reset()
		q.Write(b, "name", long)
	}); n != 0 {
		t.Errorf("%v allocations with room, want 0", n)
	}
	if n := testing.AllocsPerRun(100, func() { dst = AppendEscaped(nil, long[12:], EscapeForm) }); n != 1 {
		t.Errorf("%v allocations without room, want 1", n)
	}
}

// asNetURL are the differences to the standard library: it keeps '~' in forms and not '*',
// as RFC 3986 has it and the WHATWG hasn't, and fewer bytes of a path.
var (
	asNetURL     = strings.NewReplacer("%2A", "*", "~", "%7E")
	asNetURLPath = strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*", "%2C", ",")
)

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "a", "water mill", "50%2B", "~*", "é€", "\x00\xff;,/?", strings.Repeat("abcdefg ", 9)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := escaped(t, s, EscapeForm), asNetURL.Replace(url.QueryEscape(s)); got != want {
			t.Errorf("form, %q: %q, want %q", s, got, want)
		}
		if got, want := escaped(t, s, EscapePath), asNetURLPath.Replace(url.PathEscape(s)); got != want {
			t.Errorf("path, %q: %q, want %q", s, got, want)
		}
		if back, err := url.QueryUnescape(escaped(t, s, EscapeQuery)); err != nil || back != s {
			t.Errorf("query, %q: comes back as %q, %v", s, back, err)
		}
	})
}
