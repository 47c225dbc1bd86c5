package multipart

import (
	"bytes"

	"millrace.dev/buffer/text"
	"millrace.dev/codec/http"
	"millrace.dev/codec/internal/octet"
)

// headStart looks whether a delimiter follows a delimiter line at once: a part without as
// much as the empty line behind its header. It is skipped.
func (d *Decoder) headStart(p []byte) ([]byte, error) {
	f := &d.finder
	n := commonPrefix(f.delimiter[f.matched:], p)
	f.matched += n
	switch {
	case f.matched == len(f.delimiter):
		d.state = inTail
		return p[n:], nil
	case n == len(p):
		return nil, nil
	}
	d.head = append(d.head[:0], f.delimiter[f.given:f.matched]...)
	d.state = inHead
	return d.header(p[n:])
}

var headEnd = []byte("\r\n\r\n")

// header finds the end of a header. One that lies in p as a whole is read there.
func (d *Decoder) header(p []byte) ([]byte, error) {
	if len(d.head) == 0 {
		window := p[:min(len(p), d.l.MaxHeader)]
		if n := headLen(window, 0); n > 0 {
			return p[n:], d.begin(p[:n-2])
		}
	}
	from := len(d.head)
	window := p[:min(len(p), d.l.MaxHeader-from)]
	if i := bytes.Index(window, headEnd); i >= 0 { // it ends there at the latest
		window = window[:i+len(headEnd)]
	}
	d.head = append(d.head, window...)
	end := headLen(d.head, from)
	switch {
	case end > 0:
		return p[end-from:], d.begin(d.head[:end-2])
	case len(window) < len(p):
		return nil, ErrHeaderTooLarge
	}
	return nil, nil
}

// headLen returns the length of the header at the beginning of p, with the empty line that
// ends it; 0: that hasn't come. The first seen bytes have been looked at.
func headLen(p []byte, seen int) int {
	if bytes.HasPrefix(p, headEnd[:2]) {
		return 2
	}
	from := max(0, seen-len(headEnd)+1)
	i := bytes.Index(p[from:], headEnd)
	if i < 0 {
		return 0
	}
	return from + i + len(headEnd)
}

// begin begins a part with the lines of its header.
func (d *Decoder) begin(lines []byte) error {
	d.state, d.size = inContent, 0
	d.finder.afterLine()
	d.resetOuter()
	if err := d.readHeader(lines); err != nil {
		return err
	}
	p := &d.part
	p.ContentType = p.Header.ValueOf(http.FieldContentType)
	p.Depth = len(d.outer)
	if err := d.disposition(); err != nil {
		return err
	}
	if d.kind == fieldPart && d.l.MaxDepth > 0 {
		boundary, mixed, err := isMixed(p.ContentType)
		if err != nil {
			return err
		}
		if mixed {
			return d.nest(boundary)
		}
	}
	return d.tell()
}

// resetOuter tells outer multiparts that a line has begun in the inner one.
func (d *Decoder) resetOuter() {
	for i := range d.outer {
		d.outer[i].finder.afterLine()
	}
}

// readHeader parses a part's header: lines as in HTTP, which may be folded (RFC 5322 section
// 2.2.3) as mail has them.
func (d *Decoder) readHeader(lines []byte) error {
	h := &d.part.Header
	h.Reset()
	for len(lines) > 0 {
		if h.Len() == d.l.MaxHeaderFields {
			return ErrTooManyHeaderFields
		}
		var line []byte
		if line, lines = cutLine(lines); line == nil {
			return ErrHeader
		}
		if len(lines) > 0 && octet.IsBlank(lines[0]) {
			d.folded = append(d.folded[:0], line...)
			for len(lines) > 0 && octet.IsBlank(lines[0]) {
				if line, lines = cutLine(lines); line == nil {
					return ErrHeader
				}
				d.folded = append(append(d.folded, ' '), octet.Trim(line)...)
			}
			line = d.folded
		}
		colon := bytes.IndexByte(line, ':')
		if colon <= 0 {
			return ErrHeader
		}
		h.AddBytes(line[:colon], line[colon+1:])
	}
	// Of two fields that say the same thing, receivers take either.
	if h.Err() != nil || h.Repeated(http.FieldContentDisposition) || h.Repeated(http.FieldContentType) {
		return ErrHeader
	}
	return nil
}

// cutLine cuts the first line off, nil if it isn't ended by CRLF.
func cutLine(p []byte) (line, rest []byte) {
	i := bytes.IndexByte(p, '\n')
	if i < 1 || p[i-1] != '\r' {
		return nil, nil
	}
	return p[:i-1], p[i+1:]
}

// disposition decides what the part is.
func (d *Decoder) disposition() error {
	p := &d.part
	p.Name, p.FileName, p.IsFile = nil, nil, false
	d.kind = skippedPart
	v := p.Header.ValueOf(http.FieldContentDisposition)
	s := &p.disposition
	if v == nil {
		if len(d.outer) == 0 {
			return nil
		}
		s.name, s.filename = nil, nil
	} else if err := s.parse(v); err != nil {
		return err
	}
	switch {
	case len(d.outer) > 0:
		p.Name = d.outer[len(d.outer)-1].name
	case s.name == nil || !text.EqualFold(s.kind, "form-data"):
		return nil
	default:
		p.Name = s.name
	}
	d.kind = fieldPart
	if s.filename != nil {
		d.kind = filePart
		p.FileName, p.IsFile = s.filename, true
	}
	if len(p.Name) > d.l.MaxName {
		return ErrNameTooLong
	}
	return nil
}

// nest goes on with the multipart inside of a part. If an outer boundary begins with the inner
// one, it depends on the receiver which of them a delimiter line is for.
func (d *Decoder) nest(boundary []byte) error {
	if len(d.outer) == d.l.MaxDepth {
		return ErrNesting
	}
	d.outer = append(d.outer, level{d.finder, bytes.Clone(d.part.Name)})
	for i := range d.outer {
		outer := d.outer[i].finder.delimiter[len("\r\n--"):]
		if bytes.HasPrefix(outer, boundary) {
			return ErrNested
		}
	}
	d.finder.init(boundary)
	d.state, d.afterCR = inPreamble, false
	d.resetOuter()
	return nil
}

// tell tells the Handler of a part that isn't skipped.
func (d *Decoder) tell() error {
	switch d.kind {
	case skippedPart:
		return nil
	case fieldPart:
		d.fields++
		d.fieldBytes += int64(len(d.part.Name))
		switch {
		case d.fields > d.l.MaxFields:
			return ErrTooManyFields
		case d.fieldBytes > d.l.MaxFieldBytes:
			return ErrFieldsTooLarge
		}
	case filePart:
		d.files++
		if d.files > d.l.MaxFiles {
			return ErrTooManyFiles
		}
	}
	return d.h.BeginPart(&d.part)
}
