package http1

import (
	"millrace.dev/buffer"
	"millrace.dev/buffer/text"
	"millrace.dev/codec/http"
)

// maxBlankLines is how many empty lines may stand before a request line. RFC 9112
// section 2.2: at least one should be ignored.
const maxBlankLines = 4

// RequestDecoder turns the bytes that a server receives on one connection into Requests
// and Contents, RFC 9112. It does no I/O and keeps no bytes but those of a head that has
// not arrived whole; between messages it holds no memory of its own.
//
// The zero RequestDecoder is ready, with default limits. It belongs to one goroutine.
type RequestDecoder struct {
	limits *http.Limits
	memo   *memo         // or nil
	req    *http.Request // whose head is being parsed, or nil
	failed *Error
	id     uint64 // of the last request
	line   requestLine
	blank  uint8 // bytes of empty lines before the request line so far
	taken  int   // with errPreface, the bytes of it that are not in the input any more
	body   body
}

var defaultLimits = http.Limits{}.Effective()

// NewRequestDecoder returns a decoder with the given limits.
func NewRequestDecoder(limits http.Limits) *RequestDecoder {
	l := limits.Effective()
	return &RequestDecoder{limits: &l}
}

// Next takes the next message off the front of in: a *http.Request, or a *http.Content
// of the Request before it, which the caller then has to close. It returns nil, nil when
// it needs more bytes; in is empty then. Bytes that it has taken are no longer in in,
// but a Content's Data shares in's memory.
//
// An error is an *Error. It is final: whatever follows on the connection must not be
// interpreted, so Next returns the same error from then on and leaves in as it is.
func (d *RequestDecoder) Next(in *buffer.Buffer) (msg any, err error) {
	if d.failed != nil {
		return nil, d.failed
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

// Finish says how the connection's input ended, once the peer has sent its last byte:
// nil when that was between two messages, otherwise an error that wraps
// io.ErrUnexpectedEOF, or the error that Next has returned. The decoder is done then.
func (d *RequestDecoder) Finish() error {
	if d.failed != nil {
		return d.failed
	}
	if d.req != nil || d.body.phase != noBody {
		return d.fail(errCut)
	}
	return nil
}

// Idle reports whether the decoder is between two messages, empty lines apart.
func (d *RequestDecoder) Idle() bool {
	return d.req == nil && d.body.phase == noBody && d.failed == nil
}

// Close gives back what an unfinished message holds. It may be called at any time.
func (d *RequestDecoder) Close() {
	if d.failed == nil {
		_ = d.fail(errCut)
	}
}

func (d *RequestDecoder) fail(err *Error) error {
	d.failed = err
	if d.req != nil {
		d.taken = len(d.req.Header.Arena())
		d.req.Close()
		d.req = nil
	}
	d.body.release()
	return err
}

// head parses a request's head; it returns nil when that isn't complete yet.
func (d *RequestDecoder) head(in *buffer.Buffer) (*http.Request, *Error) {
	if d.req == nil {
		p, err := d.skipBlankLines(in)
		if len(p) == 0 || err != nil {
			return nil, err
		}
		if d.limits == nil {
			d.limits = &defaultLimits
		}
		d.req = http.NewRequest("", "")
		// Usually the head is all there: it is parsed where it lies, and copied once.
		if n, v := d.quick(p); n > 0 {
			in.Skip(n)
			return d.finishHead(v)
		}
		d.req.Header.Reset()
		d.line.pos, d.line.phase = 0, inMethod
		d.body.sec.phase = lineStart
		done, err := beginHead(d, &d.req.Header, in, p)
		if err != nil {
			return nil, err
		}
		if done {
			return d.judgeHead()
		}
	}
	done, err := gatherHead(d, &d.req.Header, in)
	if err != nil || !done {
		return nil, err
	}
	return d.judgeHead()
}

// skipBlankLines drops empty lines and returns the first run behind them, empty when
// there is nothing yet.
func (d *RequestDecoder) skipBlankLines(in *buffer.Buffer) ([]byte, *Error) {
	for {
		p := in.Readable()
		switch {
		case len(p) == 0:
			return nil, nil
		case d.blank&1 == 0 && p[0] != '\r':
			if p[0] == '\n' {
				return nil, errLineEnd
			}
			d.blank = 0
			return p, nil
		case d.blank&1 == 1 && p[0] != '\n':
			return nil, errLineEnd
		case d.blank == 2*maxBlankLines:
			return nil, errBlankLines
		}
		d.blank++
		in.Skip(1)
	}
}

// parse implements headParser.
func (d *RequestDecoder) parse(p []byte) (int, *Error) {
	if d.line.phase != lineDone {
		done, err := d.line.parse(p, d.limits.MaxLine)
		if err == errVersionOther && isPreface(p) {
			err = errPreface
		}
		if err != nil || !done {
			return 0, err
		}
		d.req.Method = http.MethodOf(p[:d.line.methodEnd])
		d.body.sec.pos = d.line.pos
		d.req.Header.SetLines(int(d.line.pos))
		if !http.ValidTargetForm(d.req.Method, p[d.line.methodEnd+1:d.line.targetEnd]) {
			return 0, errTarget
		}
	}
	most := int(d.line.pos) + d.limits.MaxHeader
	if len(p) > most {
		p = p[:most]
	}
	done, err := d.body.sec.fields(&d.req.Header, p, d.limits.MaxFields)
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

// judgeHead finishes a head that parse has read.
func (d *RequestDecoder) judgeHead() (*http.Request, *Error) {
	v, err := judge(&d.req.Header, d.line.version)
	if err != nil {
		return nil, err
	}
	return d.finishHead(v)
}

// finishHead makes a Request of a head that is in the arena, without its empty line, so
// that adding fields continues the lines.
func (d *RequestDecoder) finishHead(v verdict) (*http.Request, *Error) {
	r := d.req
	from, to := d.line.methodEnd+1, d.line.targetEnd
	r.Target = r.Header.Arena()[from:to:to]
	r.Version = d.line.version
	hasBody, err := d.body.start(v.framing, d.limits)
	if err != nil {
		return nil, err
	}
	r.End = !hasBody
	r.ContentLength = max(int64(v.framing), -1)
	if v.framing == framingNone {
		r.ContentLength = 0 // RFC 9112 section 6.3: a request without framing has no content
	}
	r.KeepAlive, r.Upgrade, r.Expect = v.keepAlive, v.upgrade, v.expect
	d.id++
	r.ID = d.id
	d.req = nil
	return r, nil
}

// verdict is what a header section means for the message and the connection.
type verdict struct {
	framing   framing
	keepAlive bool
	upgrade   bool
	expect    http.Expectation
}

// consequential are the fields that a verdict depends on, besides Host.
var consequential = http.FieldTransferEncoding.Set() | http.FieldContentLength.Set() | http.FieldConnection.Set() |
	http.FieldExpect.Set() | http.FieldUpgrade.Set()

// judge applies the rules that concern a header section as a whole.
func judge(h *http.Header, version http.Version) (v verdict, err *Error) {
	if err := checkHost(h, version); err != nil {
		return v, err
	}
	if !h.HasAny(consequential) {
		return verdict{framing: framingNone, keepAlive: version >= http.HTTP11}, nil
	}
	if v.framing, err = framingOf(h, version); err != nil {
		return v, err
	}
	v.keepAlive = persistent(h, version)
	if version >= http.HTTP11 {
		if (v.framing == framingChunked || v.framing > 0) && h.HasField(http.FieldExpect) {
			v.expect = expectation(h)
		}
		v.upgrade = h.HasField(http.FieldUpgrade) && h.HasToken("Connection", "upgrade")
	}
	return v, nil
}

// checkHost applies RFC 9112 section 3.2: one Host field in HTTP/1.1, and never two or a
// malformed one.
func checkHost(h *http.Header, v http.Version) *Error {
	switch {
	case !h.HasField(http.FieldHost):
		if v >= http.HTTP11 {
			return errHostMissing
		}
	case h.Repeated(http.FieldHost):
		return errHostTwice
	case !http.ValidHost(h.ValueOf(http.FieldHost)):
		return errHost
	}
	return nil
}

// expectation reads the Expect field, RFC 9110 section 10.1.1.
func expectation(h *http.Header) http.Expectation {
	if !h.Repeated(http.FieldExpect) && text.EqualFold(h.ValueOf(http.FieldExpect), "100-continue") {
		return http.ExpectContinue
	}
	return http.ExpectUnknown
}
