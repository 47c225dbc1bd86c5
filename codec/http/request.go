package http

import (
	"bytes"
	"sync"

	"millrace.dev/buffer"
)

// Expectation is what the Expect field of a request asks for, RFC 9110 section 10.1.1.
type Expectation uint8

const (
	// ExpectNothing: there is no Expect field, or the request has no content, or it is
	// HTTP/1.0, whose recipients have to ignore the field.
	ExpectNothing Expectation = iota
	// ExpectContinue: the client waits for a 100 before it sends the content.
	ExpectContinue
	// ExpectUnknown: something else, which may be answered with 417.
	ExpectUnknown
)

// Request is the head of a request, and its whole content once something has aggregated
// it. A decoder makes one for every request that it reads; content follows as Contents.
//
// Requests are recycled: whoever has one last calls Close, and after that neither the
// Request nor any view of it may be touched. A Request belongs to one goroutine at a time.
type Request struct {
	// ID numbers the requests of a connection from 1; answers and contents carry it.
	ID uint64
	// Method is any token; the usual ones compare equal to their constants.
	Method Method
	// Target is the request target as it stands in the request line, a view that lasts
	// until Close. Path, RawQuery and Authority look inside.
	Target []byte
	// ContentLength is the declared length of the content, 0 when there is none, -1
	// when it is not declared (chunked). NewRequest sets -1; a client sets it for
	// Contents that follow if it knows. Beside a Body it is not looked at.
	ContentLength int64
	// Header has all fields, framing ones included, as they were received.
	Header Header
	// Trailer has the fields behind chunked content once the request was aggregated;
	// nil if there are none. It belongs to the Request.
	Trailer *Header
	// Body is all the content when it was aggregated or when a client sends it at once;
	// nil otherwise. Close closes it.
	Body *buffer.Buffer
	// Version is what the request line says.
	Version Version
	// Expect is what the client waits for.
	Expect Expectation
	// End says that no Content follows.
	End bool
	// KeepAlive says whether the sender is willing to use the connection again (RFC
	// 9112 section 9.3). A client sets it false to have "Connection: close" sent.
	KeepAlive bool
	// Upgrade says that the request offers to change protocol: Connection lists
	// upgrade and there is an Upgrade field, RFC 9110 section 7.8.
	Upgrade bool

	closed bool
}

var requests = sync.Pool{New: func() any { return &Request{closed: true} }}

// NewRequest returns a recycled or new Request, ready to be sent without content: an
// HTTP/1.1 request that keeps the connection. Set Body to send content at once, or End to
// false to let Contents follow. Its target is a URL, http://host/path?query, or a path and
// query; then the Header needs a Host field.
func NewRequest(method Method, target string) *Request {
	r := requests.Get().(*Request)
	r.closed = false
	r.Method, r.Version = method, HTTP11
	r.End, r.KeepAlive, r.ContentLength = true, true, -1
	if target != "" {
		r.SetTarget(target)
	}
	return r
}

// SetTarget makes a copy of target the request's target.
func (r *Request) SetTarget(target string) {
	h := &r.Header
	at := len(h.arena)
	h.arena = append(h.arena, target...)
	r.Target = h.arena[at:len(h.arena):len(h.arena)]
	if len(h.fields) == 0 {
		h.base = uint32(len(h.arena)) // the lines begin behind it
	} else {
		h.scattered = true
	}
}

// Path returns the target's path without the query, as a view: "*" for the asterisk
// form, "/" for an absolute form without one, nil for CONNECT's authority.
func (r *Request) Path() []byte {
	path := r.pathAndQuery()
	if i := bytes.IndexByte(path, '?'); i >= 0 {
		path = path[:i:i]
	}
	if len(path) == 0 && r.Method != MethodConnect {
		return slash
	}
	return path
}

// RawQuery returns what follows the first '?' of the target, still encoded, as a view;
// nil if there is none.
func (r *Request) RawQuery() []byte {
	path := r.pathAndQuery()
	if i := bytes.IndexByte(path, '?'); i >= 0 {
		return path[i+1:]
	}
	return nil
}

var slash = []byte("/")

func (r *Request) pathAndQuery() []byte {
	switch {
	case r.Method == MethodConnect:
		return nil
	case len(r.Target) > 0 && (r.Target[0] == '/' || r.Target[0] == '*'):
		return r.Target
	}
	_, path := splitAbsolute(r.Target)
	return path
}

// Authority returns the host and port that the request is for, as a view: the target's
// own in absolute form (RFC 9112 section 3.2.2 has it win over Host) and for CONNECT,
// otherwise the Host field's; nil if there is none.
func (r *Request) Authority() []byte {
	if r.Method == MethodConnect {
		return r.Target
	}
	if len(r.Target) > 0 && r.Target[0] != '/' {
		if authority, _ := splitAbsolute(r.Target); len(authority) > 0 {
			return authority
		}
	}
	return r.Header.ValueOf(FieldHost)
}

// Respond returns a Response of that status for this request: its ID is set, so that the
// connection's codec knows which request it answers, even after the Request was closed.
func (r *Request) Respond(status int) *Response {
	resp := NewResponse(status)
	resp.ID = r.ID
	return resp
}

// IsClosed reports whether Close was called, until the Request is handed out again.
func (r *Request) IsClosed() bool { return r.closed }

// Close recycles the Request and closes its Body. Closing it twice panics.
func (r *Request) Close() {
	if r.closed {
		panic("http: Request closed twice")
	}
	r.closed = true
	if r.Body != nil {
		r.Body.Close()
		r.Body = nil
	}
	if r.Trailer != nil {
		ReleaseHeader(r.Trailer)
		r.Trailer = nil
	}
	r.Header.recycle()
	r.ID, r.Method, r.Target, r.ContentLength = 0, "", nil, 0
	r.Version, r.Expect, r.End, r.KeepAlive, r.Upgrade = 0, 0, false, false, false
	requests.Put(r)
}
