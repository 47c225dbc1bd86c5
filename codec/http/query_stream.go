package http

import (
	"unicode/utf8"

	"millrace.dev/buffer/text"
	"millrace.dev/codec/internal/octet"
)

// FormDecoder reads a form, application/x-www-form-urlencoded, from bytes that arrive in
// pieces of any size, and gives its values on in pieces too: it keeps no more than a name
// and one piece, so that neither a large value nor many of them need memory. It does no I/O.
//
// The zero FormDecoder is ready, with the WHATWG's rules and default limits. It belongs to
// one goroutine.
type FormDecoder struct {
	// Options says how the form is read. Set it before the first Next.
	Options QueryOptions

	plan    queryPlan
	piece   FormPiece
	name    []byte
	decoded []byte // the piece, if something in it had to be decoded
	fixed   []byte // the piece, if something in it was not UTF-8
	repair  text.Repairer
	held    [3]byte // an escape that has not arrived whole
	holds   int     // how much of it
	state   formState
	count   int64 // parameters
	bytes   int64 // of the form
	length  int64 // of the value
	failed  *QueryError
}

type formState uint8

const (
	formStart formState = iota // nothing has arrived, there is no plan
	formBetween
	formName
	formValue
)

// FormPiece is a piece of a form's value. It is the decoder's: it and what it shows stay
// valid until the decoder's next call, and as long as the input is left alone.
type FormPiece struct {
	// Name is the field's name, whole.
	Name []byte
	// Value is the next bytes of its value: at most 16 KiB, or three times that where bytes
	// had to be replaced.
	Value []byte
	// Last says that the value ends with this piece: the next one is of another field.
	// Every field has one such piece; its Value may be empty, and no other's is.
	Last bool
}

// maxFormPiece is the most input that goes into a piece, and so bounds what is kept for it.
const maxFormPiece = 16 << 10

// Next reads on from p and returns the next piece and how many bytes of p it has used, all
// of them if there is no piece among them: then it is nil, and more has to come. The error
// is a *QueryError; it is final.
func (d *FormDecoder) Next(p []byte) (piece *FormPiece, n int, err error) {
	if d.state == formStart && d.failed == nil {
		d.plan = d.Options.plan()
		d.state = formBetween
	}
	for n < len(p) && d.failed == nil {
		used, piece := d.step(p[n:])
		n += used
		if d.bytes += int64(used); d.bytes > d.plan.maxBytes {
			d.failed = ErrQuerySize
		}
		if piece && d.failed == nil {
			return &d.piece, n, nil
		}
	}
	if d.failed != nil {
		return nil, n, d.failed
	}
	return nil, n, nil
}

// step uses some of p, which is not empty, and reports how much and whether there is a piece.
func (d *FormDecoder) step(p []byte) (n int, piece bool) {
	p = p[:min(len(p), maxFormPiece)]
	switch d.state {
	case formBetween:
		if queryClasses[p[0]]&d.plan.value != 0 {
			d.separated(p[0])
			return 1, false
		}
		d.beginField()
		return 0, false
	case formName:
		n, seen := queryRun(p, 0, d.plan.name)
		ends := n < len(p)
		d.addName(d.decode(p[:n], seen, ends))
		switch {
		case !ends:
			return n, false
		case p[n] == '=':
			d.state = formValue
			return n + 1, false
		}
		d.separated(p[n])
		d.piece = FormPiece{Name: d.name, Last: true}
		return n + 1, true
	default:
		n, seen := queryRun(p, 0, d.plan.value)
		ends := n < len(p)
		d.setPiece(d.decode(p[:n], seen, ends), ends)
		if !ends {
			return n, len(d.piece.Value) > 0
		}
		d.separated(p[n])
		return n + 1, true
	}
}

func (d *FormDecoder) fail(err *QueryError) {
	if d.failed == nil {
		d.failed = err
	}
}

// beginField is for the first byte of a field.
func (d *FormDecoder) beginField() {
	if d.count == d.plan.maxParameters {
		d.fail(ErrQueryParameters)
	}
	d.count++
	d.name, d.length = d.name[:0], 0
	d.state = formName
}

// separated is for the byte that separates two fields.
func (d *FormDecoder) separated(c byte) {
	if c == ';' && d.plan.rules&QueryRefuseSemicolons != 0 {
		d.fail(ErrQuerySemicolon)
	}
	d.state = formBetween
}

// addName adds decoded bytes to the name.
func (d *FormDecoder) addName(p []byte) {
	if int64(len(d.name)+len(p)) > d.plan.maxName {
		d.fail(ErrQueryName)
		return
	}
	d.name = append(d.name, p...)
}

// setPiece makes decoded bytes of the value the piece.
func (d *FormDecoder) setPiece(p []byte, last bool) {
	if d.length += int64(len(p)); d.length > d.plan.maxValue {
		d.fail(ErrQueryValue)
	}
	d.piece = FormPiece{Name: d.name, Value: p, Last: last}
}

// decode decodes p, the next bytes of a name or value, which ends with them or goes on. The
// result is a view of p or of what the decoder keeps.
func (d *FormDecoder) decode(p []byte, seen queryClass, ends bool) []byte {
	coded := d.holds > 0 || seen&d.plan.coded != 0
	if coded {
		p = d.unescape(p, ends)
	}
	if d.plan.rules&QueryKeepBytes != 0 {
		return p
	}
	if d.repair.Unfinished() || (coded || seen&queryHigh != 0) && !utf8.Valid(p) {
		d.fixed = d.repair.Append(d.fixed[:0], p)
		if ends {
			d.fixed = d.repair.End(d.fixed)
		}
		return d.fixed
	}
	return p
}

// unescape is decode where there are escapes, of which p may have parts only.
func (d *FormDecoder) unescape(p []byte, ends bool) []byte {
	for d.holds > 0 && d.holds < len(d.held) && len(p) > 0 && octet.Is(p[0], octet.HexByte) {
		d.held[d.holds] = p[0]
		d.holds++
		p = p[1:]
	}
	if 0 < d.holds && d.holds < len(d.held) && len(p) == 0 && !ends {
		return nil
	}
	// It is whole now, or malformed.
	out, _, ok := d.plan.unescape(d.decoded[:0], d.held[:d.holds], 0, 0)
	d.holds = 0
	if !ends {
		whole := len(p) - unfinishedEscape(p)
		d.holds = copy(d.held[:], p[whole:])
		p = p[:whole]
	}
	if ok {
		out, _, ok = d.plan.unescape(out, p, 0, 0)
	}
	if !ok {
		d.fail(ErrQueryEscape)
	}
	d.decoded = out
	return out
}

// unfinishedEscape returns how many bytes at the end of p may be the beginning of an escape.
func unfinishedEscape(p []byte) int {
	n := len(p)
	switch {
	case n > 0 && p[n-1] == '%':
		return 1
	case n > 1 && p[n-2] == '%' && octet.Is(p[n-1], octet.HexByte):
		return 2
	}
	return 0
}

// Finish says that the form has ended. It returns the last field's last piece, nil if the
// form has none or ends with a separator, and makes the decoder ready for another form
// unless there is an error.
func (d *FormDecoder) Finish() (*FormPiece, error) {
	var piece *FormPiece
	switch d.state {
	case formName:
		d.addName(d.decode(nil, 0, true))
		d.piece = FormPiece{Name: d.name, Last: true}
		piece = &d.piece
	case formValue:
		d.setPiece(d.decode(nil, 0, true), true)
		piece = &d.piece
	}
	if d.failed != nil {
		return nil, d.failed
	}
	d.state, d.count, d.bytes = formStart, 0, 0
	return piece, nil
}
