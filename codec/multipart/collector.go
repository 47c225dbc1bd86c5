package multipart

import (
	"io"

	"millrace.dev/buffer"
	"millrace.dev/buffer/text"
)

// FormOptions say how a form is collected. The zero value is a good default.
type FormOptions struct {
	Limits  Limits
	Storage Storage
}

// MayBlock reports whether a Collector for a body with that Content-Type may wait for the
// disk: not if the body, of length bytes or -1 if that isn't known, stays in memory.
func (o FormOptions) MayBlock(contentType string, length int64) bool {
	s := o.Storage.effective()
	switch {
	case s.Kind == Memory, IsURLEncoded(contentType):
		return false
	case s.Kind == Disk:
		return true
	}
	return length < 0 || length > min(s.Threshold, s.MaxMemory)
}

// IsURLEncoded reports whether a Content-Type is application/x-www-form-urlencoded.
func IsURLEncoded(contentType string) bool {
	p := params{rest: []byte(contentType)}
	return text.EqualFold(p.word(), urlencodedType)
}

// Collector makes a Form of a request's body, multipart/form-data or
// application/x-www-form-urlencoded. With Memory it never blocks; otherwise its methods may
// wait for the disk, so it is not for event loops then.
//
// Close it, unless Finish has returned the Form or a method has returned an error: nothing
// is left of the form then.
type Collector struct {
	storage Storage
	form    *Form
	body    bodyDecoder
	err     error // what every later call returns
	file    *File // that is coming in
	text    []byte
	nameLen int // of text; the rest is the value of the field that is coming in
	mime    string
	used    int64 // bytes of memory that files have
}

// bodyDecoder is what the kinds of bodies have in common.
type bodyDecoder interface {
	io.Writer
	Finish() error
}

// IsForm reports whether a Content-Type is one that a Collector takes.
func IsForm(contentType string) bool {
	p := params{rest: []byte(contentType)}
	return IsURLEncoded(contentType) || text.EqualFold(p.word(), formDataType)
}

// NewCollector returns a Collector for a body with that Content-Type. The error is
// ErrContentType if it is no form's, or ErrBoundary.
func NewCollector(contentType string, o FormOptions) (*Collector, error) {
	c := &Collector{storage: o.Storage.effective(), form: &Form{}}
	if IsURLEncoded(contentType) {
		c.body = newURLEncoded(c, o.Limits)
		return c, nil
	}
	boundary, err := Boundary(contentType)
	if err != nil {
		return nil, err
	}
	d, err := NewDecoder(boundary, (*partCollector)(c), o.Limits)
	if err != nil {
		return nil, err
	}
	c.body = d
	return c, nil
}

// Decode takes the next bytes of the body, all of b, which it doesn't close. After an error
// the Collector is closed.
func (c *Collector) Decode(b *buffer.Buffer) error {
	if _, err := b.WriteTo(c); err != nil {
		return err
	}
	return c.err
}

// Write is Decode for bytes in a slice, which may be used again when it returns. It returns
// len(p), or an error.
func (c *Collector) Write(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.body.Write(p)
	if err != nil {
		c.fail(err)
	}
	return n, err
}

// Finish says that the body has ended, and returns the Form, which the caller closes. After
// an error the Collector is closed.
func (c *Collector) Finish() (*Form, error) {
	if c.err != nil {
		return nil, c.err
	}
	if err := c.body.Finish(); err != nil {
		c.fail(err)
		return nil, err
	}
	form := c.form
	c.form, c.err = nil, ErrFinished
	return form, nil
}

// Close gives the form up: all of it is removed. After Finish, and after an error, it does
// nothing.
func (c *Collector) Close() {
	if c.err == nil {
		c.fail(ErrFinished)
	}
}

// fail removes everything. What the removing of temporary files fails with is less than what
// was wrong before.
func (c *Collector) fail(err error) {
	c.err = err
	if c.file != nil {
		_ = c.file.Close()
		c.file = nil
	}
	_ = c.form.Close()
	c.form, c.text = nil, nil
}

// addField adds the field whose name and value text has.
func (c *Collector) addField() {
	s := string(c.text)
	c.form.Entries = append(c.form.Entries, Entry{Name: s[:c.nameLen], Value: s[c.nameLen:], ContentType: c.mime})
}

// partCollector is a Collector as the Handler of a Decoder.
type partCollector Collector

// BeginPart implements Handler.
func (c *partCollector) BeginPart(p *Part) error {
	c.text = append(c.text[:0], p.Name...)
	c.nameLen = len(c.text)
	if string(p.ContentType) != c.mime { // it is mostly that of the part before
		c.mime = string(p.ContentType)
	}
	if p.IsFile {
		c.file = &File{FileName: string(p.FileName)}
		c.file.Header.CopyFrom(&p.Header)
	}
	return nil
}

// PartData implements Handler.
func (c *partCollector) PartData(data []byte) error {
	if c.file == nil {
		c.text = append(c.text, data...)
		return nil
	}
	if err := c.file.content.write(&c.storage, &c.used, c.file.size, data); err != nil {
		return err
	}
	c.file.size += int64(len(data))
	return nil
}

// EndPart implements Handler.
func (c *partCollector) EndPart() error {
	if c.file == nil {
		(*Collector)(c).addField()
		return nil
	}
	if err := c.file.content.finish(&c.storage, &c.used); err != nil {
		return err
	}
	c.form.Entries = append(c.form.Entries, Entry{Name: string(c.text), ContentType: c.mime, File: c.file})
	c.file = nil
	return nil
}

// readRoom is what ReadForm reads at once.
const readRoom = 64 << 10

// ReadForm collects the form that r has, to its end. The caller closes the Form. An error of
// r's comes as it is.
func ReadForm(r io.Reader, contentType string, o FormOptions) (*Form, error) {
	c, err := NewCollector(contentType, o)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	b := c.storage.Allocator.Allocate(readRoom)
	defer b.Close()
	room := b.Writable()
	for {
		n, err := r.Read(room)
		if _, err := c.Write(room[:n]); err != nil {
			return nil, err
		}
		switch err {
		case nil:
		case io.EOF:
			return c.Finish()
		default:
			return nil, err
		}
	}
}
