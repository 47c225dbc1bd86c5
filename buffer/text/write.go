package text

import (
	"errors"
	"math"
	"unicode/utf8"

	"millrace.dev/buffer"
)

var (
	// ErrInvalid says that a string is not valid UTF-8.
	ErrInvalid = errors.New("text: not valid UTF-8")
	// ErrTooLong says that a string is longer than what its length is written in can say.
	ErrTooLong = errors.New("text: a string of more than 65,535 bytes")
)

// WriteRune writes r as UTF-8, or U+FFFD if r is no character, and returns the number of bytes.
func WriteRune(b *buffer.Buffer, r rune) int {
	if uint32(r) < utf8.RuneSelf {
		b.WriteUint8(uint8(r))
		return 1
	}
	b.Ensure(utf8.UTFMax)
	n := utf8.EncodeRune(b.Writable()[:utf8.UTFMax], r)
	b.Advance(n)
	return n
}

// WriteString16 writes s with its length in 2 bytes, big-endian, before it, as MQTT (version 5
// section 1.5.4) and others have strings. It returns ErrTooLong or ErrInvalid for what can't
// be written, and writes nothing then.
func WriteString16(b *buffer.Buffer, s string) error {
	if len(s) > math.MaxUint16 {
		return ErrTooLong
	}
	if !utf8.ValidString(s) {
		return ErrInvalid
	}
	b.Ensure(2 + len(s))
	room := b.Writable()
	room[0], room[1] = byte(len(s)>>8), byte(len(s))
	copy(room[2:], s)
	b.Advance(2 + len(s))
	return nil
}

// WriteValid writes s with U+FFFD for what is not valid UTF-8, by the rule of Repairer, and
// returns the number of bytes written.
func WriteValid(b *buffer.Buffer, s string) int {
	if utf8.ValidString(s) {
		n, _ := b.WriteString(s)
		return n
	}
	written := 0
	put := func(s string) {
		n, _ := b.WriteString(s)
		written += n
	}
	valid := 0 // s[valid:i] is valid
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r != utf8.RuneError || n > 1 {
			i += n
			continue
		}
		put(s[valid:i])
		put(replacement)
		i += badLen(s[i:])
		valid = i
	}
	put(s[valid:])
	return written
}

// badLen returns how many bytes at the start of s, which doesn't begin with a valid character,
// are replaced as one.
func badLen(s string) int {
	var open sequence
	if !open.begin(s[0]) {
		return 1
	}
	n := 1
	for n < len(s) && open.goOn(s[n]) {
		n++
	}
	return n
}
