package httpserver

import (
	"errors"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
)

// NativeHandler answers requests on the connection's loop.
type NativeHandler interface {
	// ServeNative runs on the loop and must not block. It reports whether the request is
	// its own; if not, the server's Handler gets it. An own request may be answered now or
	// later: from another call on the loop, such as a timer's or OnBody's, or from
	// elsewhere through Exchange.Async. Without an answer the connection, or stream, waits for
	// ever.
	ServeNative(x *Exchange) bool
}

// NativeFunc is a function as a NativeHandler.
type NativeFunc func(x *Exchange) bool

// ServeNative calls f.
func (f NativeFunc) ServeNative(x *Exchange) bool { return f(x) }

// Exchange is a request and its answer. It is for the connection's loop only, but for what
// Async returns.
//
// Exchanges are recycled. Once the answer has ended, the Exchange, its Request and every
// view of it may be used no more, other than in the call of the handler that ended it.
//
// The exchanges of one connection may be answered in any order; the answers leave in the
// order of the requests. With HTTP/2 each has a stream of its own, and they are independent.
type Exchange struct {
	// Value is for the handler, to find its state again in callbacks.
	Value any

	conn       *conn
	next       *Exchange // the one that arrived after it; or the next free one
	prev       *Exchange
	req        *http.Request
	reader     BodyReader
	onWritable func(x *Exchange)
	onClose    func(x *Exchange)
	waiting    *buffer.Buffer // content that waits while paused
	trailer    *http.Header   // of the request
	bodyErr    error          // why the content ended early
	std        *stdExchange   // it is a net/http request
	id         uint64
	length     int64         // declared length of the content, -1 if it isn't
	received   int64         // bytes of content so far
	discarded  int64         // of those, the ones that nobody wanted
	lastIn     time.Duration // when content came last, while it comes
	generation uint32
	depth      int16 // calls of the handler that are on the stack
	state      exchangeState
}

type exchangeState uint16

const (
	sStarted    exchangeState = 1 << iota // the final answer's head is written
	sAnswered                             // the answer has ended
	sBodyEnd                              // no more content comes
	sBodyTold                             // and the reader knows
	sPaused                               // the reader wants no content now
	sStopped                              // too much unwanted content: reading stopped
	sUnwanted                             // nobody reads the content
	sExpects                              // the client waits for a 100
	sReadPaused                           // counted in conn.paused
	sDelivering                           // the reader is being called
	sCut                                  // this side has given the content up
	sConnect                              // the method is CONNECT
	sOver                                 // out of the connection's list
)

func (x *Exchange) is(s exchangeState) bool { return x.state&s != 0 }

// Errors of answers.
var (
	// ErrAnswered fails an answer, or a part of one, after the answer has ended.
	ErrAnswered = errors.New("httpserver: the request was answered already")
	// ErrStarted fails a second head of an answer.
	ErrStarted = errors.New("httpserver: the answer was started already")
	// ErrUpgrade fails an answer that ends HTTP on the connection, a 101 or a 2xx to
	// CONNECT, other than by Upgrade. The request is answered with 501.
	ErrUpgrade = errors.New("httpserver: this answer changes the protocol: use Upgrade")
	// ErrNotStarted fails content before the answer's head.
	ErrNotStarted = errors.New("httpserver: the answer was not started")
	// ErrBodyTimeout ends the content of a request of which nothing came for
	// Timeouts.Body.
	ErrBodyTimeout error = timeoutError("httpserver: no request content came in time")
	// ErrBodyTooLarge is what Collect reports for content above its limit.
	ErrBodyTooLarge = errors.New("httpserver: request content above the handler's limit")
)

// timeoutError is a net.Error.
type timeoutError string

func (e timeoutError) Error() string { return string(e) }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

// Request returns the request's head. It belongs to the Exchange: views of it are valid
// until the answer has ended, and nobody else closes it.
func (x *Exchange) Request() *http.Request { return x.req }

// Context returns the server's place in the channel's pipeline.
func (x *Exchange) Context() *channel.Context { return x.conn.ctx }

// Channel returns the connection's channel.
func (x *Exchange) Channel() *channel.Channel { return x.conn.ctx.Channel() }

// Allocator returns the buffer allocator of the connection's loop.
func (x *Exchange) Allocator() buffer.Allocator { return x.conn.ctx.Allocator() }

// Server returns the server.
func (x *Exchange) Server() *Server { return x.conn.shard.server }

// Started reports whether the head of the final answer was written.
func (x *Exchange) Started() bool { return x.is(sStarted) }

// OnClose has fn called, on the loop, if the connection or stream is lost before the answer has
// ended. Nothing can be written then. fn may be nil.
func (x *Exchange) OnClose(fn func(x *Exchange)) { x.onClose = fn }

// serveNative asks h, with panics contained: one that went through the codec would leave
// it in the middle of a message.
func (x *Exchange) serveNative(h NativeHandler) (own bool) {
	x.depth++
	defer x.leave(&own)
	return h.ServeNative(x)
}

// call runs a callback of the handler as serveNative does.
func (x *Exchange) call(fn func(x *Exchange)) {
	var own bool
	x.depth++
	defer x.leave(&own)
	fn(x)
}

// leave is deferred by what calls the handler.
func (x *Exchange) leave(own *bool) {
	if v := recover(); v != nil {
		*own = true
		x.panicked(v)
	}
	x.depth--
}

// settle is called when a call of the handler has returned: what it has left to do is done,
// and an Exchange that is over is recycled.
func (x *Exchange) settle() {
	if x.depth > 0 {
		return
	}
	x.drainBody()
	switch {
	case x.is(sOver):
		x.recycle()
	case x.state&(sAnswered|sBodyEnd) == sAnswered|sBodyEnd:
		x.conn.remove(x)
		x.recycle()
	}
}

// recycle gives back everything that an Exchange out of the list holds; not while the
// handler runs, who then sees that it is over.
func (x *Exchange) recycle() {
	x.state |= sOver
	if x.depth > 0 {
		return
	}
	if x.waiting != nil {
		x.waiting.Close()
	}
	x.dropReader()
	if x.trailer != nil {
		http.ReleaseHeader(x.trailer)
	}
	if x.req != nil {
		x.req.Close()
	}
	if x.std != nil {
		x.std.x = nil
	}
	x.conn.shard.release(x)
}
