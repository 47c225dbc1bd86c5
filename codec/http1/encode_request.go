package http1

import (
	"millrace.dev/buffer"
	"millrace.dev/codec/http"
)

// RequestEncoder writes the requests of one client connection, RFC 9112, one after the
// other. It validates everything that it writes and frames contents as their request
// announced. The zero RequestEncoder is ready. It belongs to one goroutine.
type RequestEncoder struct {
	contentWriter
}

// AppendRequest appends r to dst: the head, and Body copied behind it. If r.End is not
// set, contents follow. It does not close r.
//
// Of the framing fields it writes Content-Length or Transfer-Encoding, and Connection. Host has
// to be among the fields, unless the target says it: http://a/b, or a:443 with CONNECT. Content
// of unknown length needs HTTP/1.1.
func (e *RequestEncoder) AppendRequest(dst *buffer.Buffer, r *http.Request) error {
	n := dataLen(r.Body)
	if err := e.appendHead(dst, r, int(n)); err != nil {
		return err
	}
	if n > 0 {
		c := http.Content{Data: r.Body, End: r.End}
		e.AppendContentHead(dst, &c)
		appendData(dst, r.Body)
		e.AppendContentTail(dst, &c)
	}
	return nil
}

// AppendRequestHead is AppendRequest without the Body, for callers that send a large one
// without copying it: AppendContentHead, the data and AppendContentTail come next, with
// a Content of that Body.
func (e *RequestEncoder) AppendRequestHead(dst *buffer.Buffer, r *http.Request) error {
	return e.appendHead(dst, r, 0)
}

// requestRoom is the most bytes that the head of r needs.
func requestRoom(r *http.Request) int {
	return len(r.Method) + 2*len(r.Target) + len("  HTTP/1.1\r\nHost: \r\n") + fieldsLen(&r.Header) + maxAddedLines
}

// appendHead writes the head and makes room for extra bytes more.
func (e *RequestEncoder) appendHead(dst *buffer.Buffer, r *http.Request, extra int) error {
	if e.Open() {
		return ErrUnfinished
	}
	h := &r.Header
	http10 := r.Version == http.HTTP10
	var host []byte
	if !h.HasField(http.FieldHost) {
		host = r.Authority() // RFC 9112 section 3.2.2: the target's own
	}
	switch {
	case !r.Method.IsValid(), !http.ValidTarget(r.Method, r.Target),
		!http10 && r.Version != http.HTTP11,
		!http10 && !h.HasField(http.FieldHost) && len(host) == 0, // RFC 9112 section 3.2
		h.Repeated(http.FieldHost),
		h.HasField(http.FieldHost) && !http.ValidHost(h.ValueOf(http.FieldHost)):
		return ErrInvalidMessage
	}
	if err := h.Err(); err != nil {
		return err
	}
	plan, content, err := planRequest(r, http10)
	if err != nil {
		return err
	}
	dst.Ensure(requestRoom(r) + extra)
	p := append(dst.Writable()[:0], r.Method...)
	p = append(p, ' ')
	p = append(p, r.Target...)
	if http10 {
		p = append(p, " HTTP/1.0\r\n"...)
	} else {
		p = append(p, " HTTP/1.1\r\n"...)
	}
	if len(host) > 0 {
		p = append(p, "Host: "...)
		p = append(p, host...)
		p = append(p, "\r\n"...)
	}
	p = appendHeadFields(p, h, plan)
	commit(dst, append(p, "\r\n"...))
	e.contentWriter = content
	return nil
}

// planRequest decides how a request is framed, RFC 9112 section 6 and RFC 9110 section
// 8.6.
func planRequest(r *http.Request, http10 bool) (plan headPlan, w contentWriter, err error) {
	n := dataLen(r.Body)
	declared, err := declaredIn(&r.Header)
	if err != nil {
		return plan, w, err
	}
	plan.length = undeclared
	plan.close = !r.KeepAlive || asksClose(&r.Header)
	plan.keepAlive = http10
	switch {
	case r.End && r.Body == nil && declared <= 0:
		// Section 8.6: methods that anticipate content say that there is none.
		if declared == 0 || r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
			plan.length = 0
		}
		return plan, w, nil
	case r.End:
		if declared != undeclared && declared != n {
			return plan, w, ErrContentShort
		}
		declared = n
	case declared == undeclared:
		declared = r.ContentLength
	case r.ContentLength >= 0 && r.ContentLength != declared:
		return plan, w, ErrFraming
	}
	switch {
	case declared > undeclared:
		plan.length = declared
		w.mode, w.left = contentLength, declared
		if n > declared {
			return plan, w, ErrContentLong
		}
	case http10:
		return plan, w, ErrFraming // RFC 9112 section 6.1: no chunked before HTTP/1.1
	default:
		plan.chunked = true
		w.mode = contentChunked
	}
	if r.End && n == 0 {
		w.mode = contentDone
	}
	return plan, w, nil
}
