package http1

import (
	"encoding/binary"

	"millrace.dev/codec/http"
	"millrace.dev/codec/internal/octet"
)

// maxMethod is far longer than any registered method.
const maxMethod = 64

// requestLine is the state of a request line that is being parsed, RFC 9112 section 3.
// Offsets count from the start of the head.
type requestLine struct {
	pos       uint32 // the next byte to look at
	methodEnd uint32
	targetEnd uint32
	version   http.Version
	phase     linePhase
}

type linePhase uint8

const (
	inMethod linePhase = iota
	inTarget
	inVersion
	lineDone
)

// parse goes on with p, which begins with the head's first byte. It is done behind the
// line's CRLF, where pos then stands.
func (l *requestLine) parse(p []byte, maxLine int) (done bool, err *Error) {
	if len(p) > maxLine+2 {
		p = p[:maxLine+2]
	}
	switch l.phase {
	case inMethod:
		if err := l.method(p); err != nil || l.phase == inMethod {
			return false, err
		}
		fallthrough
	case inTarget:
		i := octet.Run(p, int(l.pos), octet.TargetByte)
		l.pos = uint32(i)
		if i == len(p) {
			if i == maxLine+2 {
				return false, errTargetLong
			}
			return false, nil
		}
		if p[i] != ' ' {
			if p[i] == '\r' || p[i] == '\n' {
				return false, errVersion // an HTTP/0.9 line
			}
			return false, errTargetByte
		}
		l.targetEnd = l.pos
		l.pos++
		l.phase = inVersion
		fallthrough
	case inVersion:
		v, n, err := parseVersion(p[l.pos:])
		switch {
		case err != nil:
			return false, err
		case n == 0 && len(p) == maxLine+2:
			return false, errTargetLong
		case n == 0:
			return false, nil
		}
		l.version, l.phase = v, lineDone
		l.pos += uint32(n)
	}
	return true, nil
}

// method scans up to the space behind the method.
func (l *requestLine) method(p []byte) *Error {
	i := int(l.pos)
	if i == 0 && len(p) >= 4 && string(p[:4]) == "GET " {
		i = 3
	} else {
		i = octet.Run(p[:min(len(p), maxMethod+1)], i, octet.TokenByte)
	}
	l.pos = uint32(i)
	switch {
	case i > maxMethod:
		return errMethodLong // RFC 9112 section 3: SHOULD be 501
	case i == len(p):
		return nil
	case p[i] != ' ' || i == 0:
		return errMethod
	}
	l.methodEnd = l.pos
	l.pos++
	l.phase = inTarget
	return nil
}

const http11Word = 0x312e312f50545448 // "HTTP/1.1", little-endian

// parseVersion reads the version and the line's CRLF, RFC 9112 section 2.3; n is how
// long they are, 0 when p ends too early. The name is case-sensitive, and there is
// exactly one digit on each side of the point.
func parseVersion(p []byte) (v http.Version, n int, err *Error) {
	const pattern = "HTTP/0.0\r\n" // 0 stands for any digit
	if len(p) >= len(pattern) && binary.LittleEndian.Uint64(p) == http11Word && p[8] == '\r' && p[9] == '\n' {
		return http.HTTP11, len(pattern), nil
	}
	for i := 0; i < len(pattern); i++ {
		if i == len(p) {
			return 0, 0, nil
		}
		want, c := pattern[i], p[i]
		switch {
		case want == c, want == '0' && octet.Is(c, octet.DigitByte):
		case i == 9, i == 8 && c == '\n':
			return 0, 0, errLineEnd
		case i == 0 && c != 'h':
			return 0, 0, errNotHTTP
		default:
			return 0, 0, errVersion
		}
	}
	v = http.MakeVersion(int(p[5]-'0'), int(p[7]-'0'))
	if v.Major() != 1 {
		return 0, 0, errVersionOther // RFC 9110 section 15.6.6
	}
	return v, len(pattern), nil
}
