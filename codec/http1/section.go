package http1

import (
	"math"

	"millrace.dev/codec/http"
	"millrace.dev/codec/internal/octet"
)

// section parses the field lines of a header or trailer section, RFC 9112 section 5, in
// one pass and from wherever it was interrupted: no byte is looked at twice because of
// how the input was split. Offsets count from the start of the head, so they stay right
// when its bytes move from the received buffer to the Header's arena.
type section struct {
	pos   uint32 // the next byte to look at
	name  uint32 // start of the current line
	colon uint32 // its colon
	value uint32 // its value, without white space before it
	phase phase
}

type phase uint8

const (
	lineStart phase = iota // before a field line or the empty line
	inName
	beforeValue
	inValue
	valueLF // behind the CR of a field line
	endLF   // behind the CR of the empty line
)

// fields goes on parsing p, which begins with the head's first byte. It adds what it
// finds to h and is done behind the empty line, where pos then stands.
func (s *section) fields(h *http.Header, p []byte, maxFields int) (done bool, err *Error) {
	i := int(s.pos)
	for i < len(p) {
		switch s.phase {
		case lineStart:
			switch p[i] {
			case '\r':
				i++
				s.phase = endLF
				continue
			case ' ', '\t':
				// Folding, RFC 9112 section 5.2, or white space before the first field
				// line, section 2.2: both hide fields from other recipients.
				return false, errFolding
			}
			s.name = uint32(i)
			fallthrough
		case inName:
			i = octet.Run(p, i, octet.TokenByte)
			if i == len(p) {
				s.phase = inName
				break
			}
			if p[i] != ':' || i == int(s.name) {
				return false, nameError(p[i], i > int(s.name))
			}
			s.colon = uint32(i)
			i++
			fallthrough
		case beforeValue:
			for i < len(p) && (p[i] == ' ' || p[i] == '\t') {
				i++
			}
			s.value = uint32(i)
			if i == len(p) {
				s.phase = beforeValue
				break
			}
			fallthrough
		case inValue:
			i = octet.ValueEnd(p, i)
			if i == len(p) {
				s.phase = inValue
				break
			}
			if p[i] != '\r' {
				return false, valueError(p[i])
			}
			i++
			if i == len(p) {
				s.phase = valueLF
				break
			}
			fallthrough
		case valueLF:
			if p[i] != '\n' {
				return false, errLineEnd
			}
			if err := s.add(h, p[:i-1], maxFields); err != nil {
				return false, err
			}
			i++
			s.phase = lineStart
		case endLF:
			if p[i] != '\n' {
				return false, errLineEnd
			}
			s.pos = uint32(i + 1)
			return true, nil
		}
	}
	s.pos = uint32(i)
	return false, nil
}

// add records the field whose line, without CRLF, ends where p does.
func (s *section) add(h *http.Header, p []byte, maxFields int) *Error {
	end := len(p)
	for end > int(s.value) && (p[end-1] == ' ' || p[end-1] == '\t') {
		end--
	}
	name := p[s.name:s.colon]
	if h.Len() >= maxFields {
		return errFieldsMany
	}
	if len(name) > math.MaxUint16 {
		return errHeaderLong
	}
	h.AddSpan(http.FieldOfBytes(name), int(s.name), len(name), int(s.value), end-int(s.value))
	return nil
}

// nameError says what is wrong with a name that c ends.
func nameError(c byte, begun bool) *Error {
	switch {
	case c == '\n':
		return errLineEnd
	case begun && (c == ' ' || c == '\t' || c == '\r'):
		// RFC 9112 section 5.1: white space before the colon must be refused.
		return errFieldColon
	}
	return errFieldName
}

func valueError(c byte) *Error {
	if c == '\n' {
		return errLineEnd
	}
	return errFieldValue
}
