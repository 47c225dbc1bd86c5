package httpserver

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	nethttp "net/http"
	"net/url"
	"sync"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
)

// stdExchange is a request on its way through a net/http.Handler, on two goroutines: the
// loop receives content and sends the answer, a worker runs the handler. What both touch is
// under mu. It never waits for the other but in three places, all on the worker: the
// handler reads content that hasn't come, writes more than the client takes, or hijacks.
//
// It is one allocation, and is seen by the handler as the request's context, body and URL,
// and as the ResponseWriter. It is not recycled: handlers may keep any of those.
type stdExchange struct {
	url  url.URL
	conn *conn

	// The loop's, until the request is handed over.
	req *nethttp.Request // nil if the target is none that a URL can hold

	// The loop's.
	x      *Exchange // nil once that is over; it has the head until the handler is started
	worker *worker

	mu      sync.Mutex
	waiters *sync.Cond // for what the worker may wait for; made when it does
	flags   stdFlags
	queued  int32         // bytes of content that wait for the loop
	err     error         // why nothing more can be sent; the first reason stays
	first   any           // the first message for the loop: usually it is the whole answer
	ctxDone chan struct{} // made when somebody asks

	// The content of the request.
	in      *buffer.Buffer // arrived, and not taken by the reader
	readMu  sync.Mutex     // held by a Read, which may wait; taken before mu
	cur     *buffer.Buffer // taken; under readMu
	bodyErr error          // what follows it: io.EOF, an error, or nil: more

	// The answer.
	header nethttp.Header
	msg    *http.Response // the head from WriteHeader on, until it is given to the loop
	buf    *buffer.Buffer // content that may become a whole small answer
	left   int64          // of the declared length, -1 if none is

	rare *stdRare
}

// stdRare is what few requests need, in an allocation of its own.
type stdRare struct {
	more           []any // messages for the loop after the first
	after          *afterFunc
	stopBase       func() bool
	requestTrailer *http.Header // until the reader has come to the end of the content
	trailer        []string     // names announced in the answer's Trailer field
	hijacked       *netConn
	hijackErr      error
	deadlines
}

// seldom returns the rare things; mu is held.
func (e *stdExchange) seldom() *stdRare {
	if e.rare == nil {
		e.rare = &stdRare{}
	}
	return e.rare
}

// wait waits for a notify; mu is held.
func (e *stdExchange) wait() {
	if e.waiters == nil {
		e.waiters = sync.NewCond(&e.mu)
	}
	e.waiters.Wait()
}

// notify wakes those who wait; mu is held.
func (e *stdExchange) notify() {
	if e.waiters != nil {
		e.waiters.Broadcast()
	}
}

type stdFlags uint32

const (
	// For the loop, when it runs the exchange as a task.
	fPosted   stdFlags = 1 << iota // the task is queued
	fResume                        // the content has room again
	fContinue                      // the handler wants content that the client holds back
	fHijack                        // the handler wants the connection
	fAbort                         // close it without another word
	fDone                          // the handler has returned
	fGone                          // and its goroutine has ended
	fPanicked                      // by a panic

	// States.
	fStream      // the connection has streams: its exchanges are independent
	fBlocked     // and the client takes no more of this one now
	fExpects     // the client waits for a 100
	fPaused      // reading is paused because of much content
	fBodyClosed  // the content isn't wanted any more
	fBodyFailed  // the reader has seen an error: the connection can't be used again
	fWroteHeader // WriteHeader was called
	fSentHead    // the loop has the head
	fIsHead      // the method is HEAD
	fNoBody      // the status allows no content
	fOwnType     // the handler has set the content type, or wants none
	fTrailers    // there are, or will be, trailers
	fTooLong     // more content was written than declared
	fHijacked
	fCancelled // the context is
	fEnded     // the answer is complete; the ResponseWriter has no effect any more
)

// stdConn is what the net/http requests of a connection share.
type stdConn struct {
	ctx      context.Context // of which those of the requests are made
	remote   string
	tls      *tls.ConnectionState
	running  *stdExchange // the one that a worker has; the others wait
	handlers int          // with streams: how many a worker has
	hijacked *netConn
}

// errConnLost is what the ResponseWriter of a lost connection returns.
var errConnLost error = connLost("httpserver: the connection was closed")

// errAborted is what a handler that goes on gets behind its own panic.
var errAborted error = connLost("httpserver: the handler has aborted the answer")

type connLost string

func (e connLost) Error() string      { return string(e) }
func (connLost) Is(target error) bool { return target == net.ErrClosed }

// bodyWindow is how many bytes of content may wait for the handler before the server stops
// reading from the connection. What the codec has received by then comes on top.
const bodyWindow = 64 << 10

// serveStd gives a request to Handler: at once, or when those before it on the connection
// have been answered.
func (c *conn) serveStd(x *Exchange) {
	if c.std == nil {
		c.std = c.newStdConn()
	}
	if p, ok := c.proto.(over2); ok && c.std.handlers >= c.shard.server.maxHandlers {
		p.refuse(x)
		return
	}
	e := &stdExchange{conn: c, x: x, left: -1}
	if x.is(sBodyEnd) {
		e.bodyErr = io.EOF
	}
	if x.is(sExpects) {
		e.flags |= fExpects
	}
	if x.req.Method == http.MethodHead {
		e.flags |= fIsHead
	}
	x.std = e
	if c.proto.multiplexes() {
		e.flags |= fStream
		c.std.handlers++
		c.start(e)
	} else if c.std.running == nil {
		c.start(e)
	}
}

func (c *conn) newStdConn() *stdConn {
	s := c.shard.server
	ch := c.ctx.Channel()
	sc := &stdConn{ctx: context.Background(), tls: c.tlsState()}
	if s.BaseContext != nil {
		sc.ctx = s.BaseContext(ch.Parent())
	}
	if s.ConnContext != nil {
		sc.ctx = s.ConnContext(sc.ctx, ch)
	}
	if sc.ctx == nil {
		panic("httpserver: BaseContext or ConnContext has returned a nil context")
	}
	if a := ch.RemoteAddr(); a != nil {
		sc.remote = a.String()
	}
	return sc
}

// start hands a request to a worker.
func (c *conn) start(e *stdExchange) {
	c.std.running = e
	e.build()
	c.shard.handOver(e)
}

// startNext goes on with the connection's next request, unless the answer before it was the
// connection's last, or was broken off with the connection, whose end is told a little later.
func (c *conn) startNext() {
	if c.first == nil || c.proto == nil || c.proto.over() || !c.ctx.Channel().IsOpen() {
		return
	}
	for x := c.first; x != nil; x = x.next {
		if x.std != nil && !x.std.started() {
			c.start(x.std)
			return
		}
	}
}

// started reports whether the handler runs, or has run. It is for the loop, while there is an
// Exchange.
func (e *stdExchange) started() bool { return e.x.req == nil }

// receive takes content, and its end, from the codec.
func (e *stdExchange) receive(x *Exchange, data *buffer.Buffer) {
	e.mu.Lock()
	if x.is(sBodyEnd) && e.bodyErr == nil {
		e.bodyErr = bodyError(x.bodyErr)
		if x.trailer != nil {
			e.seldom().requestTrailer, x.trailer = x.trailer, nil
		}
	}
	unwanted := e.flags&fBodyClosed != 0
	switch {
	case data == nil || unwanted:
	case e.in == nil:
		e.in = data
	default:
		e.in.Append(data)
	}
	full := !x.is(sBodyEnd) && e.in != nil && e.in.Len() > bodyWindow
	if full {
		e.flags |= fPaused
	}
	e.notify()
	e.mu.Unlock()
	if full {
		x.pauseReading()
	}
	if unwanted {
		x.discard(data)
	}
}

// bodyError is what a reader is told about the end of content.
func bodyError(err error) error {
	switch {
	case err == nil:
		return io.EOF
	case errors.Is(err, io.ErrUnexpectedEOF):
		return io.ErrUnexpectedEOF // net/http's readers compare
	}
	return err
}

// writable wakes a writer: the client has taken enough.
func (e *stdExchange) writable() {
	e.mu.Lock()
	e.flags &^= fBlocked
	e.notify()
	e.mu.Unlock()
}

// clientGone cancels the request's context. An I/O error is what reads and writes will
// report.
func (e *stdExchange) clientGone(err error) {
	e.mu.Lock()
	if err != context.Canceled {
		e.fail(err)
	}
	e.cancel()
	e.mu.Unlock()
}

// fail makes err the outcome of what the handler does from now on.
func (e *stdExchange) fail(err error) {
	if e.err == nil {
		e.err = err
	}
	if e.bodyErr == nil {
		e.bodyErr = err
	}
	e.notify()
}

// lost is called on the loop when the connection is no more, or the stream.
func (e *stdExchange) lost(err error) {
	started := e.started()
	e.x = nil
	e.mu.Lock()
	e.fail(err)
	e.cancel()
	if !started && e.in != nil {
		e.in.Close()
	}
	e.mu.Unlock()
}

// post queues the exchange as a task of its loop, unless it is. It reports whether the loop
// runs.
func (e *stdExchange) post() bool {
	if e.flags&fPosted != 0 {
		return true
	}
	e.flags |= fPosted
	if e.conn.shard.loop.Run(e) == nil {
		return true
	}
	e.fail(errConnLost) // the loop has ended, and every connection with it
	first, more := e.takeMessages()
	for _, msg := range append(more, first) {
		channel.Dispose(msg)
	}
	return false
}

// takeMessages returns what the worker has for the loop; mu is held.
func (e *stdExchange) takeMessages() (first any, more []any) {
	first = e.first
	e.first, e.queued = nil, 0
	if e.rare != nil {
		more, e.rare.more = e.rare.more, nil
	}
	return first, more
}

// takeUnread returns the content that has arrived and that the handler has not read, or nil.
func (e *stdExchange) takeUnread() *buffer.Buffer {
	if !e.readMu.TryLock() {
		return nil // a Read that goes on beside the hijack is asking for it
	}
	defer e.readMu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	unread := e.cur
	switch {
	case unread == nil:
		unread = e.in
	case e.in != nil:
		unread.Append(e.in)
	}
	e.cur, e.in = nil, nil
	return unread
}

// RunTask does on the loop what the worker has asked for.
func (e *stdExchange) RunTask() {
	const asks = fPosted | fResume | fContinue | fHijack | fAbort | fDone
	e.mu.Lock()
	first, more := e.takeMessages()
	flags := e.flags
	e.flags &^= asks
	e.notify()
	e.mu.Unlock()
	if flags&fDone != 0 && flags&fPanicked != 0 {
		e.conn.shard.panics.inc() // first: whoever sees the connection close finds the figures right
	}
	if x := e.x; x != nil {
		x.depth++ // it is not recycled before all is done
		e.answer(x, flags, first, more)
		x.depth--
		x.settle()
	} else if first != nil {
		channel.Dispose(first)
		for _, msg := range more {
			channel.Dispose(msg)
		}
	}
	if flags&fHijack != 0 {
		e.hijack()
	}
	if flags&fDone != 0 {
		e.done(flags)
	}
}

// answer does what concerns the exchange.
func (e *stdExchange) answer(x *Exchange, flags stdFlags, first any, more []any) {
	if flags&fBodyFailed != 0 {
		x.state |= sCut
	}
	if first != nil {
		e.deliver(x, first)
		for _, msg := range more {
			e.deliver(x, msg)
		}
	}
	if x.is(sOver) || x.state&(sAnswered|sBodyEnd) == sAnswered|sBodyEnd {
		return
	}
	if flags&fStream != 0 && !x.IsWritable() {
		e.block()
	}
	if flags&fContinue != 0 && x.is(sExpects) {
		x.state &^= sExpects
		e.conn.askForContent(x)
	}
	if flags&fResume != 0 {
		x.resumeReading()
	}
	if flags&fAbort != 0 && !x.is(sOver) {
		e.conn.proto.abort(x)
	}
}

// block has the handler wait for its stream to be writable again.
func (e *stdExchange) block() {
	e.mu.Lock()
	e.flags |= fBlocked
	e.mu.Unlock()
}

// deliver writes a part of the answer.
func (e *stdExchange) deliver(x *Exchange, msg any) {
	switch m := msg.(type) {
	case *http.Response:
		if x.headRefusal(m) == ErrUpgrade && e.conn.http1() != nil {
			e.conn.switchWithout(x, m)
			return
		}
		x.send(m)
	case *http.Content:
		x.content(m)
	}
}

// switchWithout answers with a head that ends HTTP on the connection though no handler took
// the connection: it is closed.
func (c *conn) switchWithout(x *Exchange, r *http.Response) {
	r.ID, r.End = x.id, true
	x.state |= sStarted | sAnswered | sBodyEnd
	f := c.ctx.Write(r)
	c.ctx.Flush()
	f.OnCompleteWith(c.ctx.Channel(), channel.CloseOnComplete)
	x.settle()
}

// done is called once, when the handler has returned and all its answer was delivered.
func (e *stdExchange) done(flags stdFlags) {
	c := e.conn
	w := e.worker
	e.worker = nil
	if flags&fGone == 0 {
		c.shard.park(w)
	}
	if flags&fStream != 0 {
		c.std.handlers--
		return
	}
	c.std.running = nil
	c.startNext()
}
