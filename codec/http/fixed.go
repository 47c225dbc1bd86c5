package http

import (
	"errors"
	"strconv"

	"millrace.dev/buffer"
)

// Fixed is a complete answer that is always the same, put together and validated once: an
// encoder copies it and adds the date. Nothing of it changes, so all connections and
// goroutines of a server can share one.
type Fixed struct {
	status int
	header Header
	body   []byte
	http1  []byte
	dated  bool
	head   bool // the content is given for each answer, and its length is not in http1
}

// ErrInvalidFixed says that an answer cannot be fixed: its status has no answer of its own
// (below 200), allows no content or is out of range, or its fields are left to encoders.
var ErrInvalidFixed = errors.New("http: not a complete answer, or with fields that depend on the connection")

// NewFixed puts an answer together: a status, fields, given as names and values in turn, and
// the content, of which it makes a copy.
func NewFixed(status int, body []byte, fields ...string) (*Fixed, error) {
	f := &Fixed{status: status, body: append([]byte(nil), body...)}
	if err := f.prepare(fields); err != nil {
		return nil, err
	}
	if BodyAllowed(status) {
		f.http1 = AppendContentLength(f.http1, len(body))
	}
	return f, nil
}

// NewFixedHead is NewFixed for answers that differ in their content only, which
// Request.RespondHead gives. The status has to allow content.
func NewFixedHead(status int, fields ...string) (*Fixed, error) {
	f := &Fixed{status: status, head: true}
	if !BodyAllowed(status) || status == 205 {
		return nil, ErrInvalidFixed
	}
	return f, f.prepare(fields)
}

// AppendContentLength appends a Content-Length field line.
func AppendContentLength(dst []byte, n int) []byte {
	dst = append(dst, "Content-Length: "...)
	dst = strconv.AppendInt(dst, int64(n), 10)
	return append(dst, "\r\n"...)
}

// prepare validates the answer and puts the lines together that don't depend on content.
func (f *Fixed) prepare(fields []string) error {
	status, body := f.status, f.body
	if len(fields)%2 != 0 || !BodyAllowed(status) && len(body) > 0 || status < 200 || status > 999 || status == 205 && len(body) > 0 {
		return ErrInvalidFixed
	}
	for i := 0; i < len(fields); i += 2 {
		f.header.Add(fields[i], fields[i+1])
	}
	if err := f.header.Err(); err != nil {
		return err
	}
	if f.header.HasAny(FieldContentLength.Set() | FieldTransferEncoding.Set() | FieldConnection.Set() | FieldUpgrade.Set()) {
		return ErrInvalidFixed
	}
	f.dated = f.header.HasField(FieldDate)
	f.http1 = append(f.http1, "HTTP/1.1 "...)
	f.http1 = strconv.AppendInt(f.http1, int64(status), 10)
	f.http1 = append(f.http1, ' ')
	f.http1 = append(f.http1, StatusText(status)...)
	f.http1 = append(f.http1, "\r\n"...)
	lines, _ := f.header.Lines() // nothing was replaced
	f.http1 = append(f.http1, lines...)
	return nil
}

// Status returns the status code.
func (f *Fixed) Status() int { return f.status }

// Body returns the content, which must not be changed.
func (f *Fixed) Body() []byte { return f.body }

// HTTP1Head returns, for the HTTP/1 encoder, the status line and the field lines as they
// answer an ordinary request on a connection that goes on, without the empty line, and for
// a Fixed of NewFixedHead without Content-Length; and whether there is a Date among them. It
// must not be changed.
func (f *Fixed) HTTP1Head() (head []byte, dated bool) { return f.http1, f.dated }

// RespondFixed is Respond for an answer that is always the same. Fields may still be added
// to the Response, at the cost of what was saved.
func (r *Request) RespondFixed(f *Fixed) *Response {
	resp := r.Respond(f.status)
	resp.fixed = f
	return resp
}

// RespondHead is Respond for an answer whose head is from NewFixedHead. The content is not
// copied yet: it must not be changed before the Response was written, and a handler that
// keeps the Response for longer than that calls Expand.
func (r *Request) RespondHead(f *Fixed, content []byte) *Response {
	resp := r.RespondFixed(f)
	resp.content = content
	return resp
}

// FixedContent returns the content of a Response from RespondFixed or RespondHead, and
// whether its length is yet to be said.
func (r *Response) FixedContent() (content []byte, addLength bool) {
	if r.fixed.head {
		return r.content, true
	}
	return r.fixed.body, false
}

// Fixed returns what RespondFixed has set, until Expand; nil in other Responses. Header
// and Body have nothing of it.
func (r *Response) Fixed() *Fixed { return r.fixed }

// Expand turns a Response from RespondFixed or RespondHead into an ordinary one with the same meaning:
// the fields in Header, the content in a Body from the allocator. It does nothing to
// others. Handlers that look into answers, or change them, call it first.
func (r *Response) Expand(a buffer.Allocator) {
	f := r.fixed
	if f == nil {
		return
	}
	content, _ := r.FixedContent()
	r.fixed, r.content = nil, nil
	r.Header.CopyFrom(&f.header)
	if len(content) > 0 {
		r.Body = a.Allocate(len(content))
		r.Body.Write(content)
	}
}
