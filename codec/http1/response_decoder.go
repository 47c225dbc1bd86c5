package http1

import (
	"millrace.dev/buffer"
	"millrace.dev/codec/http"
	"millrace.dev/codec/internal/octet"
)

// ResponseDecoder turns the bytes that a client receives on one connection into Responses
// and Contents, RFC 9112. A response can only be understood beside the request that it
// answers, so Sent has to be called for each request, in order. It does no I/O and keeps
// no bytes but those of a head that has not arrived whole.
//
// The zero ResponseDecoder is ready, with default limits. It belongs to one goroutine.
type ResponseDecoder struct {
	limits  *http.Limits
	resp    *http.Response // whose head is being parsed, or nil
	failed  *Error
	id      uint64 // of the last response whose head is complete
	await   awaited
	linePos uint32 // end of the status line, or how far it was looked at
	inLine  bool   // the status line is not complete
	tunnel  bool
	body    body
}

// awaited is the queue of kinds of requests that have not been answered: a few bits each.
type awaited struct {
	kinds []uint8
	head  int
}

const (
	kindOrdinary uint8 = iota
	kindHead
	kindConnect
	kindUpgrade
)

// NewResponseDecoder returns a decoder with the given limits. MaxLine bounds the status
// line.
func NewResponseDecoder(limits http.Limits) *ResponseDecoder {
	l := limits.Effective()
	return &ResponseDecoder{limits: &l}
}

// Sent records that a request has been sent: the responses that come are numbered and
// understood in that order. upgrade says that it offered to change protocol.
func (d *ResponseDecoder) Sent(method http.Method, upgrade bool) {
	kind := kindOrdinary
	switch {
	case method == http.MethodHead:
		kind = kindHead
	case method == http.MethodConnect:
		kind = kindConnect
	case upgrade:
		kind = kindUpgrade
	}
	a := &d.await
	if a.head > 0 && len(a.kinds) == cap(a.kinds) {
		a.kinds = a.kinds[:copy(a.kinds, a.kinds[a.head:])]
		a.head = 0
	}
	a.kinds = append(a.kinds, kind)
}

// Awaiting returns how many requests have no final response head yet.
func (d *ResponseDecoder) Awaiting() int { return len(d.await.kinds) - d.await.head }

// Tunnel reports whether the connection has stopped to be HTTP/1, after a 101 or a 2xx to
// CONNECT: Next leaves all further bytes alone.
func (d *ResponseDecoder) Tunnel() bool { return d.tunnel }

// Next takes the next message off the front of in: a *http.Response, or a *http.Content
// of the Response before it, which the caller then has to close. It returns nil, nil when
// it needs more bytes; in is empty then, unless Tunnel reports true. Interim responses
// (1xx) come out like others, with End set; the final one follows.
//
// An error is an *Error, and final.
func (d *ResponseDecoder) Next(in *buffer.Buffer) (msg any, err error) {
	if d.failed != nil {
		return nil, d.failed
	}
	if d.tunnel {
		return nil, nil
	}
	if d.body.phase != noBody {
		c, fault := d.body.next(in, d.limits)
		if fault != nil {
			return nil, d.fail(fault)
		}
		if c != nil {
			c.ID = d.id
		}
		return orNil(c), nil
	}
	r, fault := d.head(in)
	if fault != nil {
		return nil, d.fail(fault)
	}
	return orNil(r), nil
}

// Finish says what the end of the connection's input means, once the peer has sent its
// last byte. Content without a declared length ends with the connection (RFC 9112 section
// 6.3): a last *http.Content with End comes out then. Otherwise the error is nil between
// two messages, and wraps io.ErrUnexpectedEOF inside of one. The decoder is done then.
func (d *ResponseDecoder) Finish() (msg any, err error) {
	switch {
	case d.failed != nil:
		return nil, d.failed
	case d.body.phase == inRest:
		c := http.NewContent(nil, true)
		c.ID = d.id
		d.body.phase = noBody
		d.failed = errCut
		return c, nil
	case d.resp != nil || d.body.phase != noBody:
		return nil, d.fail(errCut)
	}
	return nil, nil
}

// Close gives back what an unfinished message holds. It may be called at any time.
func (d *ResponseDecoder) Close() {
	if d.failed == nil {
		_ = d.fail(errCut)
	}
}

func (d *ResponseDecoder) fail(err *Error) error {
	d.failed = err
	if d.resp != nil {
		d.resp.Close()
		d.resp = nil
	}
	d.body.release()
	return err
}

// head parses a response's head; it returns nil when that isn't complete yet.
func (d *ResponseDecoder) head(in *buffer.Buffer) (*http.Response, *Error) {
	if d.resp == nil {
		p := in.Readable()
		if len(p) == 0 {
			return nil, nil
		}
		if d.Awaiting() == 0 {
			return nil, errUnsolicited
		}
		if d.limits == nil {
			d.limits = &defaultLimits
		}
		d.resp = http.NewResponse(0)
		d.linePos, d.inLine = 0, true
		d.body.sec.phase = lineStart
		done, err := beginHead(d, &d.resp.Header, in, p)
		if err != nil {
			return nil, err
		}
		if done {
			return d.finishHead()
		}
	}
	done, err := gatherHead(d, &d.resp.Header, in)
	if err != nil || !done {
		return nil, err
	}
	return d.finishHead()
}

// parse implements headParser.
func (d *ResponseDecoder) parse(p []byte) (int, *Error) {
	if d.inLine {
		done, err := d.statusLine(p)
		if err != nil || !done {
			return 0, err
		}
		d.inLine = false
		d.body.sec.pos = d.linePos
		d.resp.Header.SetLines(int(d.linePos))
	}
	most := int(d.linePos) + d.limits.MaxHeader
	if len(p) > most {
		p = p[:most]
	}
	done, err := d.body.sec.fields(&d.resp.Header, p, d.limits.MaxFields)
	switch {
	case err != nil:
		return 0, err
	case done:
		return int(d.body.sec.pos), nil
	case len(p) == most:
		return 0, errHeaderLong
	}
	return 0, nil
}

// statusLine parses the status line, RFC 9112 section 4. It is done behind its CRLF,
// where linePos then stands; before, linePos is how far it has looked.
func (d *ResponseDecoder) statusLine(p []byte) (done bool, err *Error) {
	most := d.limits.MaxLine + 2
	if len(p) > most {
		p = p[:most]
	}
	const pattern = "HTTP/1.0 000" // 0 stands for any digit
	for i := int(d.linePos); i < min(len(p), len(pattern)); i++ {
		if want := pattern[i]; want != p[i] && (want != '0' || !octet.Is(p[i], octet.DigitByte)) {
			return false, errStatusLine
		}
		d.linePos = uint32(i + 1)
	}
	if len(p) <= len(pattern) {
		return false, nil
	}
	i := octet.ValueEnd(p, int(d.linePos))
	d.linePos = uint32(i)
	switch {
	case i == most:
		return false, errResponseLong
	case i == len(p):
		return false, nil
	case p[i] != '\r':
		return false, errStatusLine
	case i+1 == len(p):
		return false, nil
	case p[i+1] != '\n':
		return false, errLineEnd
	}
	d.linePos = uint32(i + 2)
	// The space behind the code belongs to the line even if no reason follows, but
	// servers that leave both out are common, and it leaves nothing unclear.
	code := int(p[9]-'0')*100 + int(p[10]-'0')*10 + int(p[11]-'0')
	if code < 100 || i > len(pattern) && p[len(pattern)] != ' ' {
		return false, errStatusLine
	}
	r := d.resp
	r.Version, r.Status = http.MakeVersion(1, int(p[7]-'0')), code
	if i > len(pattern) {
		if reason := p[len(pattern)+1 : i]; len(reason) > 0 && string(reason) != http.StatusText(code) {
			r.Reason = string(reason)
		}
	}
	return true, nil
}

// finishHead finds out how the content is framed, RFC 9112 section 6.3.
func (d *ResponseDecoder) finishHead() (*http.Response, *Error) {
	r := d.resp
	h := &r.Header
	kind := d.await.kinds[d.await.head]
	interim := r.Status < 200 && r.Status != 101
	if r.Status == 101 && kind != kindUpgrade {
		return nil, errSwitch // RFC 9110 section 15.2.2
	}
	f, err := framingOf(h, r.Version)
	if err != nil {
		return nil, err
	}
	d.tunnel = r.Status == 101 || kind == kindConnect && r.Status >= 200 && r.Status < 300
	bodyless := kind == kindHead || !http.BodyAllowed(r.Status) || d.tunnel
	r.ContentLength = max(int64(f), -1)
	if bodyless {
		f = 0
	}
	hasBody, err := d.body.start(f, d.limits)
	if err != nil {
		return nil, err
	}
	if f == framingNone {
		d.body.phase, d.body.total, hasBody = inRest, 0, true
	}
	r.End = !hasBody
	r.CloseConn = !interim && !d.tunnel && (!persistent(h, r.Version) || f == framingNone)
	r.ID = d.id + 1
	if !interim {
		d.id++
		if d.await.head++; d.await.head == len(d.await.kinds) {
			d.await.kinds, d.await.head = d.await.kinds[:0], 0
		}
	}
	d.resp = nil
	return r, nil
}
