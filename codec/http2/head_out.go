package http2

import (
	"bytes"
	"strconv"
	"sync"

	"millrace.dev/buffer/text"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http2/hpack"
)

// blocks are header blocks that are being encoded.
var blocks = sync.Pool{New: func() any { b := make([]byte, 0, 1<<10); return &b }}

// keptBlock bounds the memory that is kept for header blocks.
const keptBlock = 16 << 10

func releaseBlock(b *[]byte, used []byte) {
	if cap(used) <= keptBlock {
		*b = used[:0]
		blocks.Put(b)
	}
}

// writeBlock writes a header block as HEADERS and CONTINUATION frames.
func (c *Conn) writeBlock(id uint32, block []byte, end bool) {
	most := int(min(c.peer.maxFrame, maxQuantum))
	frames := 1 + len(block)/most
	out := c.room(len(block) + frames*FrameHeaderLen)
	c.commit(AppendHeaders(out.Writable()[:0], id, block, end, most))
}

// headPlan is what a head needs beside the fields that it has.
type headPlan struct {
	length int64 // Content-Length, -1 for none
	date   bool
}

// dropped are the fields that are never sent: those of the connection, and those that are
// written from elsewhere.
const dropped http.FieldSet = connectionFields | 1<<http.FieldHost | 1<<http.FieldContentLength

// appendFields encodes fields that Header.Err has let through. Those that HTTP/2 has no place
// for are left out: the message may have come by HTTP/1.
func (c *Conn) appendFields(p []byte, h *http.Header, drop http.FieldSet) []byte {
	hops := h.HasField(http.FieldConnection)
	for i := range h.Len() {
		known := h.FieldAt(i)
		name, value := h.At(i)
		if hops && h.HasToken("Connection", string(name)) {
			continue // RFC 9110 section 7.6.1: for the connection that the message came by
		}
		if known == http.FieldOther {
			p = c.enc.AppendAs(p, hpack.Incremental, name, value)
			continue
		}
		if 1<<known&drop != 0 || known == http.FieldTE && !text.EqualFold(value, "trailers") {
			continue
		}
		p = c.enc.AppendKnown(p, known, value)
	}
	return p
}

func (c *Conn) appendLength(p []byte, n int64) []byte {
	if n < 0 {
		return p
	}
	var digits [20]byte
	return c.enc.AppendKnown(p, http.FieldContentLength, strconv.AppendInt(digits[:0], n, 10))
}

// appendResponse encodes the head of an answer.
func (c *Conn) appendResponse(p []byte, r *http.Response, plan headPlan) []byte {
	p = c.enc.AppendStatus(p, r.Status)
	p = c.appendFields(p, &r.Header, dropped)
	p = c.appendLength(p, plan.length)
	if plan.date && c.date != nil && !r.Header.HasField(http.FieldDate) {
		line := c.date.Line(c.now)
		p = c.enc.AppendKnown(p, http.FieldDate, line[len("Date: "):len(line)-len("\r\n")])
	}
	return p
}

// target is a request's target as HTTP/2 writes it.
type target struct {
	scheme, authority, path []byte
}

var (
	schemeHTTP  = []byte("http")
	schemeHTTPS = []byte("https")
	slash       = []byte("/")
)

// targetOf takes a request's target apart. Origin and asterisk form need a Host field.
func (c *Conn) targetOf(r *http.Request) (t target, err error) {
	t.authority = r.Header.ValueOf(http.FieldHost)
	t.path = r.Target
	t.scheme = schemeHTTP
	if c.is(secure) {
		t.scheme = schemeHTTPS
	}
	method := r.Method
	switch {
	case method == http.MethodConnect && !r.Header.HasField(http.FieldUpgrade):
		if !http.ValidAuthority(r.Target) {
			return t, ErrInvalidMessage
		}
		return target{authority: r.Target}, nil
	case method == http.MethodConnect:
		method = http.MethodGet
	}
	if !method.IsValid() || !http.ValidTarget(method, r.Target) {
		return t, ErrInvalidMessage
	}
	if first := r.Target[0]; first != '/' && first != '*' {
		i := bytes.Index(r.Target, []byte("://"))
		t.scheme, t.path = r.Target[:i], r.Target[i+3:]
		n := bytes.IndexAny(t.path, "/?")
		if n < 0 {
			n = len(t.path)
		}
		t.authority, t.path = t.path[:n], t.path[n:]
		if len(t.path) == 0 {
			t.path = slash
		} else if t.path[0] == '?' {
			t.path = append([]byte("/"), t.path...)
		}
	}
	if len(t.authority) == 0 || !http.ValidHost(t.authority) || r.Header.Repeated(http.FieldHost) {
		return t, ErrInvalidMessage
	}
	return t, nil
}

// appendRequest encodes the head of a request.
func (c *Conn) appendRequest(p []byte, r *http.Request, t target, length int64) []byte {
	p = c.enc.AppendPseudo(p, hpack.Method, []byte(r.Method))
	if t.scheme != nil {
		p = c.enc.AppendPseudo(p, hpack.Scheme, t.scheme)
	}
	p = c.enc.AppendPseudo(p, hpack.Authority, t.authority)
	if t.path != nil {
		p = c.enc.AppendPseudo(p, hpack.Path, t.path)
		if r.Method == http.MethodConnect {
			p = c.enc.AppendPseudo(p, hpack.Protocol, r.Header.ValueOf(http.FieldUpgrade))
		}
	}
	p = c.appendFields(p, &r.Header, dropped)
	return c.appendLength(p, length)
}

// checkTrailer refuses what must not be written behind content.
func checkTrailer(h *http.Header) error {
	if h == nil {
		return nil
	}
	if h.HasAny(framingFields | connectionFields) {
		return ErrTrailer
	}
	return h.Err()
}

// writeTrailer writes fields behind content, and ends a stream with them.
func (c *Conn) writeTrailer(id uint32, h *http.Header) {
	b := blocks.Get().(*[]byte)
	block := c.appendFields(*b, h, 0)
	c.writeBlock(id, block, true)
	releaseBlock(b, block)
}
