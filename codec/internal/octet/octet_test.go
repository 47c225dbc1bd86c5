package octet

import (
	"bytes"
	"strings"
	"testing"
)

func TestClassesFollowTheGrammar(t *testing.T) {
	t.Parallel()
	for i := range 256 {
		c := byte(i)
		alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		check := func(class Class, want bool) {
			if Is(c, class) != want {
				t.Errorf("byte %#02x, class %b: %v, want %v", c, class, !want, want)
			}
		}
		check(TokenByte, alnum || c != 0 && strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0)
		check(ValueByte, c == '\t' || c >= 0x20 && c <= 0x7e || c >= 0x80)
		check(TargetByte, c >= 0x21 && c <= 0x7e && c != '#' || c >= 0x80)
		check(HostByte, alnum || c != 0 && strings.IndexByte("-._~!$&'()*+,;=", c) >= 0)
		check(HexByte, c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F')
	}
}

// Every byte value, at every place of a run long enough for the wide loop and its tail.
func TestValueEndStopsAtTheFirstControl(t *testing.T) {
	t.Parallel()
	for length := 1; length <= 19; length++ {
		for at := range length {
			for c := range 256 {
				p := bytes.Repeat([]byte{'a'}, length)
				p[at] = byte(c)
				want := length
				if !Is(byte(c), ValueByte) {
					want = at
				}
				if got := ValueEnd(p, 0); got != want {
					t.Fatalf("byte %#02x at %d of %d: end %d, want %d", c, at, length, got, want)
				}
			}
		}
	}
}

func TestValueEndWithNeighbouringControls(t *testing.T) {
	t.Parallel()
	for a := range 256 {
		for b := range 256 {
			p := []byte{'x', byte(a), byte(b), 0x80, ' ', 0x21, 0xff, 0x20, 'x'}
			want := 0
			for want < len(p) && Is(p[want], ValueByte) {
				want++
			}
			if got := ValueEnd(p, 0); got != want {
				t.Fatalf("%x: end %d, want %d", p, got, want)
			}
		}
	}
}

func TestNextElement(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"a":           "a|",
		" a , b":      "a|b|",
		"a,,b,":       "a||b||",
		",":           "||",
		"close\t,x=1": "close|x=1|",
	} {
		got := ""
		for e, rest, ok := NextElement([]byte(list)); ok; e, rest, ok = NextElement(rest) {
			got += string(e) + "|"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
}

func TestTargetEnd(t *testing.T) {
	t.Parallel()
	for length := 1; length <= 19; length++ {
		for at := range length {
			for c := range 256 {
				p := bytes.Repeat([]byte{'a'}, length)
				p[at] = byte(c)
				end, percent := TargetEnd(p, 0)
				if want := Run(p, 0, TargetByte); end != want || percent != (c == '%') {
					t.Fatalf("byte %#02x at %d of %d: end %d, percent %v, want end %d", c, at, length, end, percent, want)
				}
			}
		}
	}
	for a := range 256 {
		for b := range 256 {
			p := []byte{'x', byte(a), byte(b), 0x80, '$', 0x21, 0xff, '&', 'x'}
			if end, _ := TargetEnd(p, 0); end != Run(p, 0, TargetByte) {
				t.Fatalf("%x: end %d", p, end)
			}
		}
	}
}
