package http2

import (
	"millrace.dev/buffer/text"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http2/hpack"
	"millrace.dev/codec/internal/octet"
)

// headReader turns the fields of a header block into a message of package http, and checks
// the rules of RFC 9113 section 8: whoever gets the message sees no difference to one that
// came by HTTP/1, and nothing malformed gets that far. The first rule that is broken stays
// in err; the fields behind it are decoded all the same, for the state of HPACK's tables.
type headReader struct {
	kind      headKind
	err       *StreamError
	req       *http.Request
	resp      *http.Response
	trailer   *http.Header
	header    *http.Header // of whichever of the three it is
	authority []byte       // a view of the header's arena, as are the next two
	protocol  []byte
	scheme    bool
	path      bool
	status    int
	regular   bool   // an ordinary field has come
	connect   bool   // extended CONNECT is allowed
	cookies   []byte // the crumbs, joined
	crumbs    int
}

type headKind uint8

const (
	headNone headKind = iota
	headRequest
	headResponse
	headTrailer
	headIgnored // decoded for HPACK's sake only
)

// keptCookies is up to how much memory for cookies a connection keeps.
const keptCookies = 1 << 10

// begin starts a header block.
func (h *headReader) begin(kind headKind, connect bool) {
	cookies := h.cookies[:0]
	if cap(cookies) > keptCookies {
		cookies = nil
	}
	*h = headReader{kind: kind, connect: connect, cookies: cookies}
	switch kind {
	case headRequest:
		h.req = http.NewRequest("", "")
		h.req.Version = http.HTTP20
		h.header = &h.req.Header
	case headResponse:
		h.resp = http.NewResponse(0)
		h.resp.Version = http.HTTP20
		h.header = &h.resp.Header
	case headTrailer:
		h.trailer = http.AcquireHeader()
		h.header = h.trailer
	}
}

// drop gives up what has been read.
func (h *headReader) drop() {
	if h.req != nil {
		h.req.Close()
	}
	if h.resp != nil {
		h.resp.Close()
	}
	if h.trailer != nil {
		http.ReleaseHeader(h.trailer)
	}
	h.req, h.resp, h.trailer, h.header = nil, nil, nil, nil
	h.authority, h.protocol = nil, nil
	h.kind = headNone
}

func (h *headReader) fail(err *StreamError) {
	if h.err == nil {
		h.err = err
	}
}

// connectionFields have no place in HTTP/2, RFC 9113 section 8.2.2.
const connectionFields http.FieldSet = 1<<http.FieldConnection | 1<<http.FieldKeepAlive | 1<<http.FieldProxyConnection |
	1<<http.FieldTransferEncoding | 1<<http.FieldUpgrade

// Field takes a decoded field.
func (h *headReader) Field(f *hpack.Field) {
	switch {
	case h.kind == headIgnored || h.err != nil:
	case f.Pseudo != hpack.NotPseudo:
		h.pseudo(f)
	case !f.Valid:
		if octet.IsToken(f.Name) && !hasUpper(f.Name) {
			h.fail(errValue)
		} else {
			h.fail(errName)
		}
	case len(f.Name) > 1<<16-1:
		h.fail(errName)
	case 1<<f.Known&connectionFields != 0:
		h.fail(errConnField)
	default:
		h.ordinary(f)
	}
}

func hasUpper(name []byte) bool {
	for _, c := range name {
		if octet.Is(c, octet.UpperByte) {
			return true
		}
	}
	return false
}

// ordinary takes a field that is no pseudo-field.
func (h *headReader) ordinary(f *hpack.Field) {
	if !h.regular {
		h.firstField()
	}
	switch f.Known {
	case http.FieldTE:
		if !text.EqualFold(f.Value, "trailers") {
			h.fail(errTE)
			return
		}
	case http.FieldHost:
		if h.kind == headRequest && !h.host(f.Value) {
			return
		}
	case http.FieldCookie:
		if h.kind == headRequest {
			h.crumb(f.Value)
			return
		}
	}
	if h.kind == headTrailer && 1<<f.Known&framingFields != 0 {
		return // they say nothing there, and must not be believed
	}
	addField(h.header, f.Known, f.Name, f.Value)
}

// framingFields must not stand in a trailer, RFC 9110 section 6.5.1.
const framingFields http.FieldSet = 1<<http.FieldContentLength | 1<<http.FieldHost | 1<<http.FieldTE | 1<<http.FieldTrailer

// addField adds a field that HPACK's decoder has found valid.
func addField(h *http.Header, known http.Field, name, value []byte) {
	at := len(h.Arena())
	h.AppendArena(name)
	h.AppendArena(colonSpace)
	h.AppendArena(value)
	h.AppendArena(crlf)
	h.AddSpan(known, at, len(name), at+len(name)+2, len(value))
}

var (
	colonSpace = []byte(": ")
	crlf       = []byte("\r\n")
	hostName   = []byte("host")
	cookieName = []byte("cookie")
	upgrade    = []byte("upgrade")
)

// firstField is called when the pseudo-fields are over. What HTTP/1 says in fields comes
// first: the authority is the Host, and the protocol of extended CONNECT the Upgrade.
func (h *headReader) firstField() {
	h.regular = true
	if h.kind != headRequest {
		return
	}
	h.header.SetLines(len(h.header.Arena()))
	if h.authority != nil && (h.req.Method != http.MethodConnect || h.protocol != nil) {
		addField(h.header, http.FieldHost, hostName, h.authority)
	}
	if h.protocol != nil {
		addField(h.header, http.FieldUpgrade, upgrade, h.protocol)
	}
}

// host takes a Host field and reports whether it is to be added: RFC 9113 section 8.3.1 has
// :authority in its place, and a request that has both must not contradict itself.
func (h *headReader) host(value []byte) (add bool) {
	switch {
	case h.authority != nil:
		if !text.EqualFold(value, h.authority) {
			h.fail(errHost)
		}
		return false
	case h.header.HasField(http.FieldHost) || !http.ValidHost(value) || len(value) == 0:
		h.fail(errHost)
		return false
	}
	return true
}

// crumb joins cookies that were sent apart, RFC 9113 section 8.2.3.
func (h *headReader) crumb(value []byte) {
	if h.crumbs > 0 {
		h.cookies = append(h.cookies, "; "...)
	}
	h.cookies = append(h.cookies, value...)
	h.crumbs++
}

// pseudo takes a pseudo-field, RFC 9113 section 8.3.
func (h *headReader) pseudo(f *hpack.Field) {
	switch {
	case h.regular:
		h.fail(errPseudoLate)
	case h.kind == headRequest:
		h.requestPseudo(f)
	case h.kind == headResponse && f.Pseudo == hpack.Status:
		h.statusCode(f.Value)
	default: // a response has only :status, and a trailer none
		h.fail(errPseudo)
	}
}

func (h *headReader) requestPseudo(f *hpack.Field) {
	twice := false
	switch f.Pseudo {
	case hpack.Method:
		twice = h.req.Method != ""
		if !octet.IsToken(f.Value) {
			h.fail(errMethod)
		}
		h.req.Method = http.MethodOf(f.Value)
	case hpack.Scheme:
		twice, h.scheme = h.scheme, true
		if !validScheme(f.Value) {
			h.fail(errScheme)
		}
	case hpack.Path:
		twice, h.path = h.path, true
		h.req.Target = h.keep(f.Value)
	case hpack.Authority:
		twice = h.authority != nil
		if len(f.Value) == 0 || !http.ValidHost(f.Value) {
			h.fail(errAuthority)
		}
		h.authority = h.keep(f.Value)
	case hpack.Protocol:
		twice = h.protocol != nil
		if !octet.IsToken(f.Value) {
			h.fail(errProtocol)
		}
		h.protocol = h.keep(f.Value)
		if !h.connect {
			h.fail(errPseudo)
		}
	default:
		h.fail(errPseudo)
	}
	if twice {
		h.fail(errPseudoTwice)
	}
}

// keep copies a value to the arena of the header, in front of its lines. The view is not
// nil.
func (h *headReader) keep(value []byte) []byte {
	at := len(h.header.Arena())
	h.header.AppendArena(value)
	end := at + len(value)
	if end == at {
		return []byte{}
	}
	return h.header.Arena()[at:end:end]
}

// validScheme: RFC 3986 section 3.1.
func validScheme(s []byte) bool {
	for i, c := range s {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || !octet.Is(c, octet.DigitByte) && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return len(s) > 0
}

func (h *headReader) statusCode(value []byte) {
	if h.status != 0 {
		h.fail(errPseudoTwice)
		return
	}
	if len(value) != 3 || octet.Run(value, 0, octet.DigitByte) != 3 {
		h.fail(errStatus)
		return
	}
	h.status = int(value[0]-'0')*100 + int(value[1]-'0')*10 + int(value[2]-'0')
	if h.status < 100 || h.status == 101 { // RFC 9113 section 8.6
		h.fail(errStatus)
	}
}

// request completes a request; end says that no content follows.
func (h *headReader) request(end bool) (*http.Request, *StreamError) {
	if !h.regular {
		h.firstField()
	}
	if h.err == nil {
		h.checkRequest()
	}
	if h.err != nil {
		return nil, h.err
	}
	if h.crumbs > 0 {
		addField(h.header, http.FieldCookie, cookieName, h.cookies)
	}
	r := h.req
	length, err := contentLength(h.header)
	if err == nil && end && length > 0 {
		err = errLengthMismatch
	}
	if err != nil {
		return nil, err
	}
	r.End, r.ContentLength = end, length
	if end {
		r.ContentLength = 0
	}
	if h.protocol != nil {
		r.Upgrade = true
	}
	if e := h.header.ValueOf(http.FieldExpect); e != nil && !end {
		r.Expect = http.ExpectUnknown
		if text.EqualFold(e, "100-continue") {
			r.Expect = http.ExpectContinue
		}
	}
	h.req, h.header = nil, nil
	return r, nil
}

// checkRequest looks at what must be there, RFC 9113 sections 8.3.1 and 8.5.
func (h *headReader) checkRequest() {
	r := h.req
	if r.Method == "" {
		h.fail(errPseudoMissing)
		return
	}
	if r.Method == http.MethodConnect && h.protocol == nil {
		if h.scheme || h.path {
			h.fail(errPseudo)
		} else if !http.ValidAuthority(h.authority) {
			h.fail(errAuthority)
		}
		r.Target = h.authority
		return
	}
	switch {
	case h.protocol != nil && (r.Method != http.MethodConnect || h.authority == nil):
		h.fail(errPseudo) // RFC 8441 section 4
	case !h.scheme || !h.path:
		h.fail(errPseudoMissing)
	case h.authority == nil && !h.header.HasField(http.FieldHost):
		h.fail(errPseudoMissing)
	case !validPath(r.Method, r.Target):
		h.fail(errPath)
	}
}

func validPath(m http.Method, path []byte) bool {
	if m == http.MethodConnect {
		m = http.MethodGet // an extended one has a path like any other
	}
	return len(path) > 0 && (path[0] == '/' || path[0] == '*') && http.ValidTarget(m, path)
}

// contentLength returns the declared length, -1 if there is none.
func contentLength(h *http.Header) (int64, *StreamError) {
	if !h.HasField(http.FieldContentLength) {
		return -1, nil
	}
	n := http.ParseContentLength(h.ValueOf(http.FieldContentLength))
	if n < 0 || h.Repeated(http.FieldContentLength) {
		return 0, errLength
	}
	return n, nil
}

// response completes a response to a request that was HEAD or not.
func (h *headReader) response(end, toHead bool) (*http.Response, *StreamError) {
	if h.err == nil && h.status == 0 {
		h.err = errPseudoMissing
	}
	if h.err == nil && h.status < 200 && end {
		h.err = errStatus // an interim answer is not the last
	}
	if h.err != nil {
		return nil, h.err
	}
	length, err := contentLength(h.header)
	empty := toHead || !http.BodyAllowed(h.status)
	if err == nil && end && length > 0 && !empty {
		err = errLengthMismatch
	}
	if err != nil {
		return nil, err
	}
	r := h.resp
	r.Status, r.End, r.ContentLength = h.status, end, length
	h.resp, h.header = nil, nil
	return r, nil
}

// trailers completes a trailer.
func (h *headReader) trailers() (*http.Header, *StreamError) {
	if h.err != nil {
		return nil, h.err
	}
	t := h.trailer
	h.trailer, h.header = nil, nil
	if t.Len() == 0 {
		http.ReleaseHeader(t)
		return nil, nil
	}
	return t, nil
}
