package text

import (
	"unicode/utf8"

	"millrace.dev/buffer"
)

// Validator checks UTF-8 that comes in runs of any size, which may cut characters: a message
// in several frames, a body in several buffers. Anything wrong is found in the run that has
// its first wrong byte, even if the character isn't complete by then. The zero Validator is
// ready; it belongs to one goroutine at a time.
type Validator struct {
	open   sequence
	broken bool
}

// Feed takes the next run, and reports whether everything so far is valid or the beginning of
// something valid. Once it is not, all that follows isn't either.
func (v *Validator) Feed(run []byte) bool {
	if v.broken {
		return false
	}
	for len(run) > 0 && v.open.missing > 0 {
		if !v.open.goOn(run[0]) {
			return v.fail()
		}
		run = run[1:]
	}
	whole := len(run) - unfinished(run)
	if !utf8.Valid(run[:whole]) {
		return v.fail()
	}
	if run = run[whole:]; len(run) > 0 && !v.open.begin(run[0]) {
		return v.fail()
	}
	for i := 1; i < len(run); i++ {
		if !v.open.goOn(run[i]) {
			return v.fail()
		}
	}
	return true
}

func (v *Validator) fail() bool {
	v.broken = true
	return false
}

// Complete reports whether everything so far is valid and no character is unfinished.
func (v *Validator) Complete() bool { return !v.broken && v.open.missing == 0 }

// Reset forgets what has come.
func (v *Validator) Reset() { *v = Validator{} }

// Valid reports whether all readable bytes of b are valid UTF-8, also where characters lie
// across the borders of parts. Nothing in b is changed.
func Valid(b *buffer.Buffer) bool {
	run := b.Readable()
	if len(run) == b.Len() {
		return utf8.Valid(run)
	}
	var v Validator
	start := b.ReaderIndex()
	for ; len(run) > 0 && v.Feed(run); run = b.Readable() {
		b.Skip(len(run))
	}
	b.SetReaderIndex(start)
	return v.Complete()
}

// unfinished returns how many bytes at the end of run are the beginning of a character, or may
// be, that has more. What comes before them can be judged without what follows run.
func unfinished(run []byte) int {
	for n := 1; n <= min(3, len(run)); n++ {
		c := run[len(run)-n]
		switch {
		case c < 0x80:
			return 0
		case c >= 0xc0: // the first byte of a character of two bytes, three or four
			if n == 1 || n == 2 && c >= 0xe0 || n == 3 && c >= 0xf0 {
				return n
			}
			return 0
		}
	}
	return 0
}

// sequence is a character of several bytes that is coming in: table 3-7 of the Unicode
// Standard, RFC 3629 section 4.
type sequence struct {
	missing   uint8 // how many bytes are to come
	low, high byte  // what the next one has to lie between
}

// begin takes the first byte of a character of several bytes, and reports whether it is one.
func (s *sequence) begin(c byte) bool {
	s.low, s.high = 0x80, 0xbf
	switch {
	case c < 0xc2 || c > 0xf4:
		return false
	case c < 0xe0:
		s.missing = 1
		return true
	case c < 0xf0:
		s.missing = 2
	default:
		s.missing = 3
	}
	switch c {
	case 0xe0:
		s.low = 0xa0 // what is below has a shorter form
	case 0xed:
		s.high = 0x9f // surrogates
	case 0xf0:
		s.low = 0x90 // what is below has a shorter form
	case 0xf4:
		s.high = 0x8f // beyond Unicode
	}
	return true
}

// goOn takes a further byte, and reports whether the character can have it.
func (s *sequence) goOn(c byte) bool {
	if c < s.low || c > s.high {
		return false
	}
	s.low, s.high = 0x80, 0xbf
	s.missing--
	return true
}
