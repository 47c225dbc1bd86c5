package multipart

import (
	"bytes"

	"millrace.dev/codec/internal/octet"
)

// params reads the parameters behind the first word of a Content-Type or
// Content-Disposition, RFC 9110 section 5.6.6.
type params struct {
	rest    []byte
	scratch []byte // for values with escapes; grows, and what was cut from it stays valid
}

// word cuts off what is before the first semicolon: a media or disposition type.
func (p *params) word() []byte {
	w := p.rest
	if i := bytes.IndexByte(w, ';'); i >= 0 {
		w = w[:i]
	}
	p.rest = p.rest[len(w):]
	return octet.Trim(w)
}

// next returns the next parameter; a name of nil says that there is none. ok is false for
// anything that isn't one. Empty parameters are passed over.
func (p *params) next() (name, value []byte, ok bool) {
	for {
		p.rest = octet.TrimLeft(p.rest)
		if len(p.rest) == 0 {
			return nil, nil, true
		}
		if p.rest[0] != ';' {
			return nil, nil, false
		}
		p.rest = octet.TrimLeft(p.rest[1:])
		if len(p.rest) > 0 && p.rest[0] != ';' {
			break
		}
	}
	n := octet.Run(p.rest, 0, octet.TokenByte)
	if n == 0 || n == len(p.rest) || p.rest[n] != '=' {
		return nil, nil, false
	}
	name, p.rest = p.rest[:n], p.rest[n+1:]
	if len(p.rest) > 0 && p.rest[0] == '"' {
		value, ok = p.quoted()
		return name, value, ok
	}
	n = unquotedEnd(p.rest)
	value, p.rest = p.rest[:n], p.rest[n:]
	return name, value, n > 0
}

// quoted reads a quoted string. A backslash escapes the quote and itself, and stands for
// itself before everything else: in the paths that some clients send as file names.
func (p *params) quoted() (value []byte, ok bool) {
	s := p.rest[1:]
	end := bytes.IndexByte(s, '"')
	if end < 0 {
		return nil, false
	}
	if bytes.IndexByte(s[:end], '\\') < 0 {
		p.rest = s[end+1:]
		return s[:end:end], true
	}
	from := len(p.scratch)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"':
			p.rest = s[i+1:]
			return p.scratch[from:len(p.scratch):len(p.scratch)], true
		case c == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
			c = s[i]
		}
		p.scratch = append(p.scratch, c)
	}
	return nil, false
}

// unquotedEnd returns how long a value without quotes is. Besides those of a token it takes
// bytes that senders leave unquoted and that no receiver takes for an end: boundaries have
// some, and file names others.
func unquotedEnd(s []byte) int {
	for i, c := range s {
		if !octet.Is(c, octet.TokenByte) && c < 0x80 && c != '/' && c != ':' && c != '=' && c != '?' {
			return i
		}
	}
	return len(s)
}
