package http1

import (
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
)

// ServerCodec is the handler that makes a connection an HTTP/1.1 server's: it passes on
// *http.Request and *http.Content messages, and takes *http.Response and *http.Content
// messages as answers. One codec serves one connection, and Close of the channel ends it.
//
// Requests are numbered by ID. Handlers may answer them in any order, each answer with the
// ID of its request: what comes too early is kept until its turn (and counts as pending
// bytes of the channel), so answers leave in the order of the requests. The write's future
// succeeds once the transport has taken the bytes. ID 0 is the oldest unanswered request.
// While the channel is not writable nothing more is decoded or read: a client that takes
// no answers gets to send no requests, and no content either.
// Flushing is left to the handlers, except for what the codec says itself.
//
// A malformed request is answered here, with its status and "Connection: close", after
// everything before it has been answered; handlers don't see it. If its head was passed
// on and the content turns out malformed, or the peer's end comes inside of it, a Content
// with Err set and without End is passed on instead of the rest, and writes that answer it
// fail with ErrRefused.
//
// "Expect: 100-continue" is answered with a 100 when the request has been passed on, unless
// it was answered there and then, its content is arriving already, or
// ServerOptions.ManualContinue leaves it to the handlers. An unknown expectation is
// answered with 417.
//
// The connection is closed when the client or the answer asks for it, or when the answer
// cannot end otherwise. Contents of a request go on arriving after it was answered, up to
// their end; a handler that doesn't want to wait for it sets CloseConn.
//
// After a request that offers an upgrade, and after CONNECT, nothing is decoded until it is
// answered. A 101, or a 2xx to CONNECT, makes the codec step aside: buffers pass both ways
// as they are, beginning with what had already been received. To have that handled by
// other handlers, change the pipeline in the same call that writes the answer; the codec
// may also be removed then, and passes on what it holds. A CONNECT that is refused closes
// the connection.
//
// When the channel allows half-closure (it should), a client that ends its direction still
// gets its answers.
type ServerCodec struct {
	codecs    *ServerCodecs
	o         *ServerOptions
	ctx       *channel.Context
	in        *buffer.Buffer // received and not decoded; nil between read batches
	memo      *memo
	next      uint64 // the ID of the oldest unanswered request
	since     time.Duration
	*work     // nil while the connection is idle
	state     serverState
	decoding  bool // the decode loop runs; it sees to whatever changes
	noInput   bool // nothing more is interpreted: refused, ended or the last request
	surplus   bool // there was input after that
	lastClose bool // the newest request wants the connection closed
	ended     bool // the peer has ended its direction while input waited
	finishing bool // close when everything is answered
	holdsRead bool // a Read waits until the codec wants input
	resuming  bool // a task to go on decoding is queued
	releasing bool // held answers are being written
	draining  bool
	partial   bool // a head has begun to arrive
}

type serverState uint8

const (
	serving   serverState = iota
	tunnel                // bytes pass both ways
	closing               // the last answer is written; close once it is sent
	lingering             // this side has ended; what comes is thrown away
)

// Phase is what a connection is doing, for timeouts.
type Phase uint8

const (
	// PhaseIdle: no request is unanswered or arriving.
	PhaseIdle Phase = iota
	// PhaseHead: a request's head has begun to arrive.
	PhaseHead
	// PhaseContent: a request's content is arriving.
	PhaseContent
	// PhaseAnswer: requests have arrived and wait for their answers.
	PhaseAnswer
	// PhaseOther: the connection is closing, or has left HTTP.
	PhaseOther
)

// Phase returns what the connection is doing and, for PhaseIdle and PhaseHead, since when
// on the loop's clock: a timer that looks now and then costs nothing per request. While the
// channel is not writable the codec does not read, whatever the phase, and PhaseHead begins
// anew when it is writable again. On the loop only.
func (c *ServerCodec) Phase() (p Phase, since time.Duration) {
	switch {
	case c.state != serving:
		return PhaseOther, c.since
	case c.work == nil:
		return PhaseIdle, c.since
	case c.dec.body.phase != noBody:
		return PhaseContent, c.since
	case c.partial:
		return PhaseHead, c.since
	case c.exchanges.len() > 0:
		return PhaseAnswer, c.since
	}
	return PhaseIdle, c.since
}

// InFlight returns the number of unanswered requests; on the loop only.
func (c *ServerCodec) InFlight() int {
	if c.work == nil {
		return 0
	}
	return c.exchanges.len()
}

// Added is for the pipeline.
func (c *ServerCodec) Added(ctx *channel.Context) {
	mustBeNew(c.ctx)
	c.ctx = ctx
	c.memo = c.codecs.memos.of(ctx.Loop()).of(ctx.Channel().ID())
	c.since = ctx.Loop().Now()
}

// Removed is for the pipeline. What has been received and not decoded is passed on, and so
// is a Read that was held back.
func (c *ServerCodec) Removed(ctx *channel.Context) {
	had := c.in != nil
	if c.work != nil {
		had = had || c.dec.req != nil
		c.dropHeld(ErrClosing)
		c.passHead(ctx)
		c.dec.Close()
		if c.linger != nil {
			c.linger.timer.Stop()
		}
	}
	if c.in != nil && !c.decoding {
		c.passOn(ctx)
	}
	if had && !c.decoding {
		ctx.FireReadComplete()
	}
	if c.holdsRead {
		c.holdsRead = false
		ctx.Read()
	}
}

// passHead passes on the bytes of a head that has not arrived whole.
func (c *ServerCodec) passHead(ctx *channel.Context) {
	if c.dec.req == nil || c.state != serving || !ctx.Channel().IsOpen() {
		return
	}
	head := c.dec.req.Header.Arena()
	b := ctx.Allocator().Allocate(len(head))
	b.Write(head)
	ctx.FireRead(b)
}

// passOn gives what is left of the input to the next handler.
func (c *ServerCodec) passOn(ctx *channel.Context) {
	in := c.in
	c.in = nil
	if in.IsEmpty() || c.state > tunnel || !ctx.Channel().IsOpen() {
		in.Close()
		return
	}
	ctx.FireRead(in)
}

// OnRead takes received buffers; other messages pass.
func (c *ServerCodec) OnRead(ctx *channel.Context, msg any) {
	b, ok := msg.(*buffer.Buffer)
	switch {
	case !ok, c.state == tunnel && c.in == nil:
		ctx.FireRead(msg)
		return
	case c.noInput || c.state > tunnel:
		c.discard(b)
		return
	case c.in != nil:
		c.in.Append(b)
	default:
		c.in = b
	}
	if !c.decoding && !c.resuming {
		c.decode(ctx)
	}
}

// OnReadComplete passes on.
func (c *ServerCodec) OnReadComplete(ctx *channel.Context) {
	if c.state == lingering && !ctx.Channel().AutoRead() {
		c.Read(ctx)
	}
	ctx.FireReadComplete()
}

// Read is the request for input. It is held back while the codec can't use any.
func (c *ServerCodec) Read(ctx *channel.Context) {
	if c.in != nil || c.work != nil && c.discarded > c.o.LingerBytes {
		c.holdsRead = true
		return
	}
	ctx.Read()
}

// resumeRead releases the Read that was held back, if input is welcome again.
func (c *ServerCodec) resumeRead(ctx *channel.Context) {
	if c.holdsRead && c.in == nil {
		c.holdsRead = false
		c.Read(ctx)
	}
}

// wantsMore reports whether the next message may be decoded. A client that does not take
// its answers is not listened to, so that they don't pile up; contents may come whatever
// is unanswered, as their request has been counted.
func (c *ServerCodec) wantsMore(ctx *channel.Context) bool {
	if !ctx.Channel().IsWritable() {
		return false
	}
	if c.dec.body.phase != noBody {
		return true
	}
	n := c.exchanges.len()
	return n == 0 || n < c.o.MaxInFlight && *c.exchanges.last()&(exUpgrade|exConnect) == 0
}

// decode passes on what c.in holds, as far as wantsMore goes. Handlers may do anything
// meanwhile: answer, close, remove the codec.
func (c *ServerCodec) decode(ctx *channel.Context) {
	c.begin()
	c.decoding = true
	defer c.panicked()
	for c.in != nil && !c.noInput && c.state == serving && !ctx.Removed() && ctx.Channel().IsOpen() {
		if c.in.IsEmpty() {
			c.noteHead(ctx)
			c.in.Close()
			c.in = nil
			break
		}
		if !c.wantsMore(ctx) {
			c.decoding = false
			return // advance or OnWritability goes on
		}
		inBody := c.dec.body.phase != noBody
		msg, err := c.dec.Next(c.in)
		if err != nil {
			if !c.leavesHTTP1(ctx, err.(*Error)) {
				c.refuse(ctx, err.(*Error), inBody)
			}
			break
		}
		switch m := msg.(type) {
		case *http.Request:
			c.request(ctx, m)
		case *http.Content:
			c.expect = 0 // the client did not wait, or has waited enough
			end := m.End
			c.noInput = end && c.lastClose
			ctx.FireRead(m)
			if end && c.draining {
				c.contentDrained(ctx)
			}
		}
	}
	c.decoding = false
	switch {
	case c.in == nil:
	case ctx.Removed() || c.state == tunnel:
		c.passOn(ctx)
	default:
		in := c.in
		c.in = nil
		c.discard(in)
	}
	if c.ended && c.state == serving {
		c.inputEnded(ctx)
	}
	c.rest()
	c.resumeRead(ctx)
}

// panicked is deferred by decode. When a handler has panicked, which is for the pipeline
// to deal with, what is left of the input must not be forgotten.
func (c *ServerCodec) panicked() {
	if c.decoding {
		c.decoding = false
		c.resume(c.ctx)
	}
}

// OnWritability lets decoding go on when the client has taken enough of its answers. Until
// then nothing of its next head was read, so that the clock for that begins anew.
func (c *ServerCodec) OnWritability(ctx *channel.Context, writable bool) {
	if writable && c.partial {
		c.since = ctx.Loop().Now()
	}
	if writable && c.in != nil {
		c.resume(ctx)
	}
	ctx.FireWritability(writable)
}

// noteHead notes since when a head has been arriving.
func (c *ServerCodec) noteHead(ctx *channel.Context) {
	if partial := c.dec.req != nil; partial != c.partial {
		c.partial = partial
		c.since = ctx.Loop().Now()
	}
}

// request passes a request on.
func (c *ServerCodec) request(ctx *channel.Context, r *http.Request) {
	c.partial = false
	id, expect := r.ID, r.Expect
	x := flagsOf(r)
	c.exchanges.push(x)
	// RFC 9112 section 9.6: nothing after a request that says close is interpreted.
	c.lastClose = !r.KeepAlive && x&(exUpgrade|exConnect) == 0
	c.noInput = c.lastClose && r.End
	if expect == http.ExpectUnknown {
		r.Close()
		c.dec.Close()
		c.refuseWith(ctx, errExpectation)
		return
	}
	if expect == http.ExpectContinue {
		c.expect = id
	}
	ctx.FireRead(r)
	if c.expect == id && c.in != nil && c.in.IsEmpty() {
		c.continueIfDue(ctx)
	}
}

// continueIfDue sends a 100 to a client that waits for one, if it is its turn.
func (c *ServerCodec) continueIfDue(ctx *channel.Context) {
	if c.expect != c.next || c.o.ManualContinue || c.enc.Open() || c.state != serving {
		return
	}
	c.expect = 0
	b := ctx.Allocator().Allocate(len(continueHead))
	b.WriteString(continueHead)
	ctx.Write(b)
	ctx.Flush()
}

const continueHead = "HTTP/1.1 100 Continue\r\n\r\n"

// resume lets decoding go on once the caller, which may be deep inside a handler, has
// returned.
func (c *ServerCodec) resume(ctx *channel.Context) {
	if c.decoding || c.resuming {
		return
	}
	if c.in == nil && !c.holdsRead {
		return
	}
	c.resuming = true
	if ctx.Loop().Run((*resumeTask)(c)) != nil {
		c.resuming = false // the loop has ended, and the channel with it
	}
}

// resumeTask is a codec that can go on decoding.
type resumeTask ServerCodec

// RunTask is for the loop.
func (t *resumeTask) RunTask() { t.ctx.Contain((*ServerCodec)(t).goOn) }

// goOn is a read batch of its own, of what had to wait.
func (c *ServerCodec) goOn() {
	c.resuming = false
	ctx := c.ctx
	if c.in != nil {
		switch c.state {
		case serving:
			c.decode(ctx)
		case tunnel:
			c.passOn(ctx)
		}
		ctx.FireReadComplete()
	}
	c.resumeRead(ctx)
}
