package multipart

import (
	"bytes"
	"unicode/utf8"

	"millrace.dev/buffer/hex"
	"millrace.dev/buffer/text"
)

// disposition is what a Content-Disposition says, RFC 7578 section 4.2. The slices are views
// of the header, or of scratch.
type disposition struct {
	kind           []byte // form-data, or attachment and others in nested parts
	name, filename []byte // nil: there is none
	scratch        []byte
}

// parse reads the value of the field. For the file's name, the extended parameter of RFC
// 8187 wins over the plain one (RFC 6266 section 4.3), though RFC 7578 wants no sender to
// use it. A parameter that comes twice, or in RFC 2231's pieces, is refused.
func (d *disposition) parse(value []byte) error {
	p := params{rest: value, scratch: d.scratch[:0]}
	d.kind, d.name, d.filename = p.word(), nil, nil
	var extended [2][]byte
	for {
		name, value, ok := p.next()
		if !ok {
			return ErrDisposition
		}
		if name == nil {
			break
		}
		var at *[]byte
		switch {
		case text.EqualFold(name, "name"):
			at = &d.name
		case text.EqualFold(name, "filename"):
			at = &d.filename
		case text.EqualFold(name, "name*"):
			at = &extended[0]
		case text.EqualFold(name, "filename*"):
			at = &extended[1]
		case isContinued(name):
			return ErrDisposition
		default:
			continue
		}
		if *at != nil {
			return ErrDisposition
		}
		*at = notNil(value)
	}
	d.scratch = p.scratch
	for i, at := range []*[]byte{&d.name, &d.filename} {
		if extended[i] == nil {
			continue
		}
		var ok bool
		if *at, ok = d.decode(extended[i]); !ok {
			return ErrDisposition
		}
	}
	return nil
}

// isContinued reports whether a parameter is a piece of a name, RFC 2231 section 3.
func isContinued(name []byte) bool {
	base, _, star := bytes.Cut(name, []byte("*"))
	return star && (text.EqualFold(base, "name") || text.EqualFold(base, "filename"))
}

// notNil tells an empty name from none.
func notNil(p []byte) []byte {
	if p == nil {
		return []byte{}
	}
	return p
}

// decode reads an extended value, RFC 8187 section 3.2: charset ' language ' text. The result
// is UTF-8 without controls.
func (d *disposition) decode(value []byte) (decoded []byte, ok bool) {
	charset, rest, ok1 := bytes.Cut(value, []byte("'"))
	_, rest, ok2 := bytes.Cut(rest, []byte("'"))
	latin1 := text.EqualFold(charset, "iso-8859-1")
	if !ok1 || !ok2 || !latin1 && !text.EqualFold(charset, "utf-8") {
		return nil, false
	}
	from := len(d.scratch)
	for i := 0; i < len(rest); i++ {
		c := rest[i]
		if c == '%' {
			if i+2 >= len(rest) {
				return nil, false
			}
			var ok bool
			if c, ok = hex.Pair(rest[i+1], rest[i+2]); !ok {
				return nil, false
			}
			i += 2
		}
		if c < ' ' || c == 0x7f {
			return nil, false
		}
		if latin1 {
			d.scratch = utf8.AppendRune(d.scratch, rune(c))
		} else {
			d.scratch = append(d.scratch, c)
		}
	}
	decoded = d.scratch[from:len(d.scratch):len(d.scratch)]
	return notNil(decoded), utf8.Valid(decoded)
}
