package http

import (
	"sync"

	"millrace.dev/buffer"
)

// Response is the head of an answer, with its whole content if Body is set. A server's
// handler makes one with Request.Respond and writes it; a client's decoder makes one for
// every answer that it reads, and content follows as Contents.
//
// Responses are recycled: writing one gives it away, and whoever reads one last calls
// Close. A Response belongs to one goroutine at a time.
type Response struct {
	// ID says which request is answered; 0 stands for the oldest one unanswered.
	ID uint64
	// Reason is the reason phrase; left empty, the usual one of the status is sent. A
	// decoder sets it only if it is another one, as it costs an allocation.
	Reason string
	// ContentLength is the declared length of the content, -1 if it is not declared.
	// NewResponse sets -1. A sender may set it for contents that follow, and for an
	// answer without content to HEAD; beside a Body it is not looked at.
	ContentLength int64
	// Header has the fields. A sender need not add Content-Length, Transfer-Encoding,
	// Connection or Date: the encoder does.
	Header Header
	// Trailer has the fields behind chunked content once the response was aggregated;
	// nil if there are none. It belongs to the Response.
	Trailer *Header
	// Body is all the content, or nil. Close closes it.
	Body *buffer.Buffer
	// Status is the status code, 100 to 999. Those below 200 are interim: the final
	// answer to the same request is yet to come (except after 101).
	Status int
	// Version is what the status line says; an encoder writes HTTP/1.1 whatever it is.
	Version Version
	// End says that no Content follows. NewResponse sets it.
	End bool
	// CloseConn says that the connection is not used for another request after this
	// answer: a server sets it to have the connection closed, a decoder sets it when
	// the server announced that.
	CloseConn bool

	closed  bool
	fixed   *Fixed
	content []byte // behind the head of fixed; whoever called RespondHead owns it
}

var responses = sync.Pool{New: func() any { return &Response{closed: true} }}

// NewResponse returns a recycled or new Response that is complete without content. Set
// Body to send content at once, or End to false to let Contents follow.
func NewResponse(status int) *Response {
	r := responses.Get().(*Response)
	r.closed = false
	r.Status, r.Version, r.ContentLength, r.End = status, HTTP11, -1, true
	return r
}

// IsClosed reports whether Close was called, until the Response is handed out again.
func (r *Response) IsClosed() bool { return r.closed }

// Close recycles the Response and closes its Body. Closing it twice panics.
func (r *Response) Close() {
	if r.closed {
		panic("http: Response closed twice")
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
	r.ID, r.Reason, r.Status, r.CloseConn, r.fixed, r.content = 0, "", 0, false, nil, nil
	responses.Put(r)
}
