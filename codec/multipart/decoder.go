package multipart

import (
	"millrace.dev/buffer"
	"millrace.dev/codec/internal/octet"
)

// Decoder finds the parts in the body of a multipart/form-data request. It is pure: it does
// no I/O, holds no Buffer, and what it keeps of the body is at most one part's header.
//
// A Decoder is for one body, and for one goroutine at a time. It needs no closing.
type Decoder struct {
	h       Handler
	l       Limits
	err     error // what ended the decoding
	state   state
	closing bool // the delimiter in the tail states is the last one
	afterCR bool // in a preamble
	kind    kind // of the part
	finder  finder
	outer   []level // multiparts around the present one, the outermost first
	part    Part
	head    []byte // a header of which a part is missing
	folded  []byte // scratch for folded lines

	total, skipped, size, fieldBytes int64
	parts, fields, files             int
}

// level is a multipart while a nested one is decoded.
type level struct {
	finder finder
	name   []byte // of the part that holds the nested one
}

type state uint8

const (
	inPreamble  state = iota // before a multipart's first delimiter, or behind a nested one
	inContent                // of a part
	inTail                   // behind a delimiter
	inTailDash               // behind one dash there
	inPadding                // behind white space, or both dashes
	inLineEnd                // behind the CR that ends the line
	inHeadStart              // where a header may begin, or a delimiter follow
	inHead                   // of which head has the beginning
	inEpilogue               // behind the form
)

type kind uint8

const (
	skippedPart kind = iota
	fieldPart
	filePart
)

// NewDecoder returns a Decoder that tells h what it finds. ErrBoundary says that RFC 2046
// doesn't allow the boundary, which Boundary finds in a Content-Type.
func NewDecoder(boundary string, h Handler, l Limits) (*Decoder, error) {
	b := []byte(boundary)
	if !validBoundary(b) {
		return nil, ErrBoundary
	}
	d := &Decoder{h: h, l: l.Effective()}
	d.finder.init(b)
	return d, nil
}

// Decode reads all of b, which it doesn't close. The error is one of this package's or the
// Handler's; every later call returns it again.
func (d *Decoder) Decode(b *buffer.Buffer) error {
	if _, err := b.WriteTo(d); err != nil {
		return err
	}
	return d.err
}

// Write is Decode for bytes in a slice, which may be used again when it returns. It returns
// len(p), or an error.
func (d *Decoder) Write(p []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	if d.total += int64(len(p)); d.total > d.l.MaxTotal {
		d.err = ErrTooLarge
		return 0, d.err
	}
	for rest := p; len(rest) > 0; {
		if rest, d.err = d.step(rest); d.err != nil {
			return 0, d.err
		}
	}
	return len(p), nil
}

// Finish says that the body has ended. Where it must not, the error is ErrTruncated.
func (d *Decoder) Finish() error {
	if d.err != nil {
		return d.err
	}
	if d.state != inEpilogue && !(d.state == inPadding && d.closing && len(d.outer) == 0) {
		d.err = ErrTruncated
		return d.err
	}
	d.err = ErrFinished
	return nil
}

// step takes at least one byte of p, which isn't empty, and returns the rest.
func (d *Decoder) step(p []byte) ([]byte, error) {
	switch d.state {
	case inContent, inPreamble:
		return d.content(p)
	case inHeadStart:
		return d.headStart(p)
	case inHead:
		return d.header(p)
	case inEpilogue:
		return nil, d.skip(len(p))
	}
	return d.tail(p)
}

// content looks for the delimiter behind content, or behind what isn't any.
func (d *Decoder) content(p []byte) ([]byte, error) {
	held, data, rest, found := d.finder.step(p)
	if len(held) > 0 {
		if err := d.give(held); err != nil {
			return nil, err
		}
	}
	if len(data) > 0 {
		if err := d.give(data); err != nil {
			return nil, err
		}
	}
	if !found {
		return nil, nil
	}
	if d.state == inContent && d.kind != skippedPart {
		if err := d.h.EndPart(); err != nil {
			return nil, err
		}
	}
	d.state = inTail
	return rest, nil
}

// give hands bytes on to whom they belong, up to where an outer delimiter has come among
// them.
func (d *Decoder) give(data []byte) error {
	whole := len(data)
	for i := range d.outer {
		data = d.outer[i].upTo(data)
	}
	if len(data) > 0 {
		if err := d.pass(data); err != nil {
			return err
		}
	}
	if len(data) < whole {
		return ErrNested
	}
	return nil
}

func (d *Decoder) pass(data []byte) error {
	if d.state == inPreamble {
		return d.preamble(data)
	}
	d.size += int64(len(data))
	switch d.kind {
	case skippedPart:
		return nil // MaxTotal bounds it
	case fieldPart:
		d.fieldBytes += int64(len(data))
		switch {
		case d.size > d.l.MaxField:
			return ErrFieldTooLarge
		case d.fieldBytes > d.l.MaxFieldBytes:
			return ErrFieldsTooLarge
		}
	case filePart:
		if d.size > d.l.MaxFile {
			return ErrFileTooLarge
		}
	}
	return d.h.PartData(data)
}

// upTo returns data, which belongs to an inner multipart, as far as the last byte but one of
// an outer one's delimiter. RFC 2046 section 5.1.2 has that end the inner one; not every
// receiver looks.
func (l *level) upTo(data []byte) []byte {
	if _, _, rest, found := l.finder.step(data); found {
		return data[:len(data)-len(rest)-1]
	}
	return data
}

// preamble looks at what is before a multipart's first delimiter or behind a nested one. A
// bare LF there is refused: receivers that take it for a line end may see a delimiter.
func (d *Decoder) preamble(data []byte) error {
	for _, c := range data {
		if c == '\n' && !d.afterCR {
			return ErrDelimiter
		}
		d.afterCR = c == '\r'
	}
	return d.skip(len(data))
}

// skip counts bytes that no part has.
func (d *Decoder) skip(n int) error {
	if d.skipped += int64(n); d.skipped > d.l.MaxPreamble {
		return ErrPreambleTooLarge
	}
	return nil
}

// tail reads what follows a delimiter, RFC 2046 section 5.1.1: two dashes if it is the last,
// white space, and the line's end. Anything else is refused: the boundary was promised not
// to occur in content, and receivers differ in what they take a longer line for.
func (d *Decoder) tail(p []byte) ([]byte, error) {
	for i, c := range p {
		switch {
		case d.state == inLineEnd && c == '\n':
			return p[i+1:], d.lineEnd()
		case d.state == inLineEnd:
			return nil, ErrDelimiter
		case d.state == inTailDash:
			if c != '-' {
				return nil, ErrDelimiter
			}
			d.state, d.closing = inPadding, true
		case c == '\r':
			d.state = inLineEnd
		case c == '-' && d.state == inTail:
			d.state = inTailDash
		case octet.IsBlank(c):
			d.state = inPadding
			if err := d.skip(1); err != nil {
				return nil, err
			}
		default:
			return nil, ErrDelimiter
		}
	}
	return nil, nil
}

// lineEnd goes on behind a delimiter line.
func (d *Decoder) lineEnd() error {
	if !d.closing {
		d.state = inHeadStart
		d.finder.afterLine()
		d.parts++
		if d.parts > d.l.MaxParts {
			return ErrTooManyParts
		}
		return nil
	}
	d.closing = false
	if len(d.outer) == 0 {
		d.state = inEpilogue
		return nil
	}
	last := len(d.outer) - 1
	d.finder = d.outer[last].finder
	d.outer = d.outer[:last]
	d.state, d.afterCR = inPreamble, false
	d.finder.afterLine()
	d.resetOuter()
	return nil
}
