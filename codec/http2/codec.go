package http2

import (
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/future"
	"millrace.dev/loop"
)

// codec is the handler around a Conn, the same for both roles.
type codec struct {
	o         *Options
	date      *http.Date
	conn      *Conn
	ctx       *channel.Context
	in        *buffer.Buffer // received and not decoded; nil between read batches
	timer     loop.Timer
	last      channel.Future // of what was written last
	event     Writable
	due       time.Duration // when the timer fires
	lastID    uint64        // a client's: the stream of the request written last
	discarded int64         // bytes of input thrown away
	state     codecState
	flags     codecFlags
}

type codecFlags uint16

const (
	decoding       codecFlags = 1 << iota // the decode loop runs
	resuming                              // a task to go on decoding is queued
	pumping                               // content is being written
	pumpAgain                             // and there is more to do
	dirty                                 // something was written since the last flush
	holdsRead                             // a Read waits until the codec wants input
	inputOver                             // the peer has ended its direction while input waited
	toldAway                              // the handlers know that the peer is going away
	manualContinue                        // "Expect: 100-continue" is left to them
)

func (c *codec) is(f codecFlags) bool { return c.flags&f != 0 }

type codecState uint8

const (
	serving   codecState = iota
	lingering            // this side has ended; what comes is thrown away
	ended
)

// Writable is the event (channel.EventHandler) that tells the producer of a stream's content
// to go on: less than Options.WriteLow bytes wait, after the stream had become unwritable.
// The pointer that the event is must not be kept.
type Writable struct{ ID uint64 }

// GoingAway is the event, a *GoingAway, that tells that the peer has sent a GOAWAY: a client
// opens no more streams. Requests that the server has not processed fail by themselves.
type GoingAway struct{}

var goingAwayEvent GoingAway

// maxOwed is how many bytes beyond the channel's high watermark may wait to be sent before
// nothing more is decoded. Content is held back by the watermark already, and is not what
// this is for: a peer that has answers and control frames made, and takes none.
const maxOwed = 256 << 10

// lingerTime bounds how long a connection stays after this side has ended, and lingerBytes what
// is read and thrown away meanwhile: closed at once it would be reset, and the peer might never
// see why it was ended.
const (
	lingerTime  = 2 * time.Second
	lingerBytes = 256 << 10
)

func (c *codec) setUp(ctx *channel.Context) {
	if c.ctx != nil { // it would mix the streams of two connections
		panic("http2: codec: was added before, and one is for one connection")
	}
	c.ctx = ctx
	c.conn = newConn(c.o, ctx.Allocator())
	c.conn.ex = ctx.Loop()
	c.conn.date = c.date
	c.timer.Init(ctx.Loop(), c)
	c.conn.now = ctx.Loop().Now()
	c.conn.timing.idle = c.conn.now
}

func (c *codec) start() {
	if c.ctx.Channel().IsActive() {
		c.conn.Start(c.ctx.Loop().Now())
		c.flush()
	}
}

// OnActive sends what a connection begins with.
func (c *codec) OnActive(ctx *channel.Context) {
	c.start()
	ctx.FireActive()
}

// Removed is for the pipeline. Streams that are left are dropped.
func (c *codec) Removed(*channel.Context) {
	c.state = ended
	c.timer.Stop()
	c.conn.Close()
	c.settle(channel.Future{})
	if c.in != nil && !c.is(decoding) {
		c.in.Close()
		c.in = nil
	}
	if c.is(holdsRead) {
		c.flags &^= holdsRead
		c.ctx.Read()
	}
}

// OnRead takes received buffers; other messages pass.
func (c *codec) OnRead(ctx *channel.Context, msg any) {
	b, ok := msg.(*buffer.Buffer)
	switch {
	case !ok:
		ctx.FireRead(msg)
		return
	case c.state != serving:
		c.discard(b)
		return
	case c.in != nil:
		c.in.Append(b)
	default:
		c.in = b
	}
	if !c.is(decoding) && !c.is(resuming) {
		c.decode(ctx)
	}
}

// owes reports whether the peer has to take answers before it gets more.
func (c *codec) owes() bool {
	ch := c.ctx.Channel()
	return !ch.IsWritable() && ch.PendingBytes() > int64(ch.Config().WriteBufferHigh+maxOwed)
}

// decode passes on what c.in holds. Handlers may do anything meanwhile: answer, close, remove
// the codec.
func (c *codec) decode(ctx *channel.Context) {
	c.flags |= decoding
	defer c.panicked()
	for c.state == serving && ctx.Channel().IsOpen() {
		if c.owes() {
			c.flags &^= decoding
			return // OnWritability goes on
		}
		msg, err := c.conn.Next(c.in, ctx.Loop().Now())
		if msg == nil || c.conn.answers > 0 {
			c.writeOut()
		}
		if msg == nil {
			if err != nil {
				c.finish()
			}
			break
		}
		c.pass(ctx, msg)
	}
	c.flags &^= decoding
	in := c.in
	c.in = nil
	if c.state == serving || in.IsEmpty() {
		in.Close()
	} else {
		c.discard(in)
	}
	if c.is(inputOver) && c.state == serving {
		c.inputEnded()
	}
	c.resumeRead()
}

// pass gives a message to the next handler.
func (c *codec) pass(ctx *channel.Context, msg any) {
	r, ok := msg.(*http.Request)
	if !ok {
		ctx.FireRead(msg)
		return
	}
	id, expect := r.ID, r.Expect
	ctx.FireRead(r)
	if expect == http.ExpectContinue && !c.is(manualContinue) && c.state == serving {
		c.conn.Continue(id)
		c.writeOut()
	}
}

// panicked is deferred by decode. When a handler has panicked, which is for the pipeline
// to deal with, what is left of the input must not be forgotten.
func (c *codec) panicked() {
	if c.is(decoding) {
		c.flags &^= decoding
		c.resume()
	}
}

// resume lets decoding go on once the caller, which may be deep inside a handler, has
// returned.
func (c *codec) resume() {
	if c.in == nil || c.is(decoding) || c.is(resuming) {
		return
	}
	c.flags |= resuming
	if c.ctx.Loop().Run((*resumeTask)(c)) != nil {
		c.flags &^= resuming // the loop has ended, and the channel with it
	}
}

// resumeTask is a codec that can go on decoding.
type resumeTask codec

// RunTask is for the loop.
func (t *resumeTask) RunTask() { t.ctx.Contain((*codec)(t).goOn) }

// goOn is a read batch of its own, of what had to wait.
func (c *codec) goOn() {
	c.flags &^= resuming
	if c.in == nil {
		return
	}
	if c.state != serving {
		c.in.Close()
		c.in = nil
		return
	}
	c.decode(c.ctx)
	c.OnReadComplete(c.ctx)
}

// OnReadComplete sends what the batch has led to.
func (c *codec) OnReadComplete(ctx *channel.Context) {
	ctx.FireReadComplete()
	if c.state == serving {
		c.flush()
	} else if !ctx.Channel().AutoRead() && ctx.Channel().IsOpen() {
		c.Read(ctx)
	}
}

// Read is the request for input. It is held back while the codec can't use any, and for good
// when enough was thrown away.
func (c *codec) Read(ctx *channel.Context) {
	if c.in != nil || c.discarded > lingerBytes {
		c.flags |= holdsRead
		return
	}
	ctx.Read()
}

func (c *codec) resumeRead() {
	if c.is(holdsRead) && c.in == nil {
		c.flags &^= holdsRead
		c.Read(c.ctx)
	}
}

// OnWritability sends more content, and lets decoding go on, when the peer has taken enough.
func (c *codec) OnWritability(ctx *channel.Context, writable bool) {
	if writable && c.state == serving {
		c.flush()
		c.resume()
	}
	ctx.FireWritability(writable)
}

// Flush sends what was written, and content of all streams in turn.
func (c *codec) Flush(ctx *channel.Context) {
	if c.state == serving {
		c.pump()
	}
	c.flags &^= dirty
	ctx.Flush()
}

// flush is Flush if there is anything to send.
func (c *codec) flush() {
	c.pump()
	if c.is(dirty) {
		c.flags &^= dirty
		c.ctx.Flush()
	}
}

// writeOut hands what the Conn has put out to the channel, content that waits in streams
// excepted.
func (c *codec) writeOut() channel.Future {
	for b := c.conn.Pull(false); b != nil; b = c.conn.Pull(false) {
		c.write(b)
	}
	return c.last
}

// smallOutput is up to how many bytes are copied behind what was written before.
const smallOutput = 1 << 10

func (c *codec) write(b *buffer.Buffer) {
	c.flags |= dirty
	if n := b.Len(); n <= smallOutput {
		if tail := c.ctx.Tail(n); tail != nil {
			for run := b.Readable(); len(run) > 0; run = b.Readable() {
				tail.Write(run)
				b.Skip(len(run))
			}
			c.conn.giveBack(b)
			c.last = c.ctx.Appended(n)
			return
		}
	}
	c.last = c.ctx.Write(b)
}

// pump writes content as far as the peer's windows and the channel's watermark allow.
func (c *codec) pump() {
	if c.is(pumping) {
		c.flags |= pumpAgain
		return
	}
	c.flags |= pumping
	defer func() { c.flags &^= pumping }()
	ch := c.ctx.Channel()
	for {
		c.flags &^= pumpAgain
		c.conn.now = c.ctx.Loop().Now()
		for b := c.conn.Pull(ch.IsWritable()); b != nil; b = c.conn.Pull(ch.IsWritable()) {
			c.write(b)
		}
		c.conn.dropOut()
		c.settle(c.last)
		c.tell()
		c.deliver()
		if !c.is(pumpAgain) {
			break
		}
	}
	c.wantTick()
	if c.state == serving && c.conn.Done() {
		c.finish()
	}
}

// settle tells the outcome of writes that had to wait; f is the write that has their last
// bytes.
func (c *codec) settle(f channel.Future) {
	for len(c.conn.settled) > 0 {
		all := c.conn.settled
		c.conn.settled = nil
		for _, s := range all {
			if s.err != nil {
				s.promise.TryFail(s.err)
			} else {
				f.CascadeTo(s.promise)
			}
		}
	}
}

// tell passes on what is not a message.
func (c *codec) tell() {
	if c.conn.is(peerGoingAway) && !c.is(toldAway) {
		c.flags |= toldAway
		c.ctx.FireEvent(&goingAwayEvent)
	}
	for id := c.conn.NextWritable(); id != 0; id = c.conn.NextWritable() {
		c.event.ID = id
		c.ctx.FireEvent(&c.event)
	}
}

// deliver passes on messages that did not come out of input: a stream was reset here. They
// are a read batch of their own unless they come amid one.
func (c *codec) deliver() {
	delivered := false
	for m := c.conn.nextMessage(); m != nil; m = c.conn.nextMessage() {
		c.ctx.FireRead(m)
		delivered = true
	}
	if delivered && !c.is(decoding) {
		c.conn.partedAll()
		c.ctx.FireReadComplete()
	}
}

// done returns the future of a message: it succeeds once the transport has taken it.
func (c *codec) done(wait *future.Promise[future.Void], err error) channel.Future {
	f := c.writeOut()
	if len(c.conn.settled) > 0 {
		c.settle(f)
	}
	switch {
	case err != nil:
		return failed(c.ctx, err)
	case wait != nil:
		return wait.Future()
	}
	return f
}

func failed(ctx *channel.Context, err error) channel.Future {
	return future.Failed[future.Void](ctx.Loop(), err)
}
