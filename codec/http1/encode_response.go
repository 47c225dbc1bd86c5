package http1

import (
	"strconv"

	"millrace.dev/buffer"
	"millrace.dev/codec/http"
)

// Exchange is what the framing of an answer depends on: the request that it answers.
type Exchange struct {
	// Head says that the method was HEAD, so that content is not sent.
	Head bool
	// Connect says that the method was CONNECT: a 2xx turns the connection into a tunnel.
	Connect bool
	// HTTP10 says that the client is older than HTTP/1.1: it knows no chunked coding
	// and no interim answers, and has to be told that the connection persists.
	HTTP10 bool
	// KeepAlive says that the client is willing to use the connection again.
	KeepAlive bool
}

// ExchangeOf returns what an encoder has to know of a request.
func ExchangeOf(r *http.Request) Exchange {
	return Exchange{
		Head:      r.Method == http.MethodHead,
		Connect:   r.Method == http.MethodConnect,
		HTTP10:    r.Version < http.HTTP11,
		KeepAlive: r.KeepAlive,
	}
}

// ResponseEncoder writes the answers of one connection, RFC 9112, one after the other.
// It validates everything that it writes and frames contents as their answer announced.
// The zero ResponseEncoder is ready. It belongs to one goroutine.
type ResponseEncoder struct {
	contentWriter
	closing bool
}

// Closing reports whether the answer written last was announced to be the connection's
// last, or can only be ended by closing it.
func (e *ResponseEncoder) Closing() bool { return e.closing }

// AppendResponse appends r to dst: the head, and Body copied behind it. If r.End is not
// set, or after an interim answer, more follows. dateLine is what Date.Line gives; it is
// written unless r has a Date of its own, and nil leaves it out. It does not close r.
func (e *ResponseEncoder) AppendResponse(dst *buffer.Buffer, r *http.Response, x Exchange, dateLine []byte) error {
	if r.Body == nil {
		return e.appendHead(dst, r, x, dateLine, nil, 0)
	}
	n := r.Body.Len()
	if p := r.Body.Readable(); r.End && len(p) == n {
		return e.appendHead(dst, r, x, dateLine, p, n)
	}
	if err := e.appendHead(dst, r, x, dateLine, nil, n); err != nil || n == 0 || !e.Open() {
		return err
	}
	c := http.Content{Data: r.Body, End: r.End}
	e.AppendContentHead(dst, &c)
	if !e.Drops() {
		appendData(dst, r.Body)
	}
	e.AppendContentTail(dst, &c)
	return nil
}

// AppendResponseHead is AppendResponse without the Body, for callers that send a large
// one without copying it: AppendContentHead, the data and AppendContentTail come next,
// with a Content of that Body, if Open then says so.
func (e *ResponseEncoder) AppendResponseHead(dst *buffer.Buffer, r *http.Response, x Exchange, dateLine []byte) error {
	n := 0
	if r.Body != nil {
		n = r.Body.Len()
	}
	return e.appendHead(dst, r, x, dateLine, nil, n)
}

// appendHead writes the head of an answer whose Body has n bytes, and behind it all, its
// whole content, if that is given.
func (e *ResponseEncoder) appendHead(dst *buffer.Buffer, r *http.Response, x Exchange, dateLine, all []byte, n int) error {
	if e.Open() {
		return ErrUnfinished
	}
	h := &r.Header
	if r.Status < 100 || r.Status > 999 || r.Reason != "" && !http.IsFieldValue(r.Reason) {
		return ErrInvalidMessage
	}
	if err := h.Err(); err != nil {
		return err
	}
	plan, content, err := planResponse(r, x, int64(n))
	if err != nil {
		return err
	}
	dst.Ensure(responseRoom(r) + len(all))
	p := appendStatusLine(dst.Writable()[:0], r)
	p = appendHeadFields(p, h, plan)
	if r.Status >= 200 && !h.HasField(http.FieldDate) {
		p = append(p, dateLine...)
	}
	p = append(p, "\r\n"...)
	if content.mode == contentLength && len(all) > 0 {
		p = append(p, all...)
		content.mode = contentDone
	}
	commit(dst, p)
	e.contentWriter = content
	e.closing = plan.close
	return nil
}

// responseRoom is the most bytes that the head of r needs.
func responseRoom(r *http.Response) int {
	return len("HTTP/1.1 200 \r\n") + maxReason + len(r.Reason) + fieldsLen(&r.Header) + maxAddedLines
}

// planResponse decides how an answer is framed, RFC 9112 section 6.3, and whether the
// connection persists, section 9.3.
func planResponse(r *http.Response, x Exchange, n int64) (plan headPlan, w contentWriter, err error) {
	declared, err := declaredIn(&r.Header)
	if err != nil {
		return plan, w, err
	}
	if declared == undeclared {
		declared = r.ContentLength
	} else if r.ContentLength >= 0 && r.ContentLength != declared && r.Body == nil {
		return plan, w, ErrFraming
	}
	plan.length = undeclared
	if r.Status < 200 {
		// Interim answers say nothing about the connection, and 101 ends HTTP on it.
		if n > 0 {
			err = ErrContentNotAllowed
		} else if r.Status == 101 && !r.Header.HasField(http.FieldUpgrade) {
			err = ErrInvalidMessage
		}
		return plan, w, err
	}
	switch {
	case r.Status == 204 || x.Connect && r.Status < 300: // RFC 9112 section 6.3: no framing at all
		err = w.without(n, r.End)
	case r.Status == 205: // RFC 9110 section 15.3.6: content of length 0
		if plan.length = 0; declared > 0 {
			return plan, w, ErrContentNotAllowed
		}
		err = w.without(n, r.End)
	case r.Status == 304:
		plan.length = declared // what the content of a 200 would have
		err = w.without(n, r.End)
	case x.Head:
		plan.length = declared
		if r.End && r.Body != nil {
			plan.length = n
		}
		plan.chunked = !r.End && plan.length < 0 && !x.HTTP10
		w.mode = contentDropped
		if r.End {
			w.mode = contentDone
		}
	default:
		err = w.framed(&plan, r, declared, n, x.HTTP10)
	}
	if x.Connect && r.Status < 300 {
		return plan, w, err // a tunnel is not closed
	}
	plan.close = !x.KeepAlive || r.CloseConn || w.mode == contentRest || asksClose(&r.Header)
	plan.keepAlive = x.HTTP10
	return plan, w, err
}

// without is for answers that must not have content.
func (w *contentWriter) without(n int64, end bool) error {
	if n > 0 {
		return ErrContentNotAllowed
	}
	if !end {
		w.mode = contentNever
	}
	return nil
}

// framed is for answers that have content, possibly empty.
func (w *contentWriter) framed(plan *headPlan, r *http.Response, declared, n int64, http10 bool) error {
	if r.End {
		if declared != undeclared && r.Body == nil && declared > 0 || r.Header.HasField(http.FieldContentLength) && declared != n {
			return ErrContentShort
		}
		declared = n
	}
	switch {
	case declared != undeclared:
		plan.length = declared
		w.mode, w.left = contentLength, declared
		if n > declared {
			return ErrContentLong
		}
	case http10:
		w.mode = contentRest
	default:
		plan.chunked = true
		w.mode = contentChunked
	}
	if r.End && n == 0 {
		w.mode = contentDone
	}
	return nil
}

// maxReason is longer than every reason phrase that StatusText knows.
const maxReason = 40

var statusLines = buildStatusLines()

func buildStatusLines() (t [512]string) {
	for i := range t {
		if text := http.StatusText(100 + i); text != "" {
			t[i] = "HTTP/1.1 " + strconv.Itoa(100+i) + " " + text + "\r\n"
		}
	}
	return t
}

// appendStatusLine writes the status line, RFC 9112 section 4. The version is the
// server's own, whatever the client's (RFC 9110 section 6.2).
func appendStatusLine(p []byte, r *http.Response) []byte {
	if i := r.Status - 100; r.Reason == "" && i < len(statusLines) && statusLines[i] != "" {
		return append(p, statusLines[i]...)
	}
	p = append(p, "HTTP/1.1 "...)
	p = strconv.AppendInt(p, int64(r.Status), 10)
	p = append(p, ' ')
	p = append(p, r.Reason...)
	return append(p, "\r\n"...)
}
