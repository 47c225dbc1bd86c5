package httpserver

import (
	"context"
	"time"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http1"
	"millrace.dev/codec/http2"
	"millrace.dev/handler/tls"
	"millrace.dev/loop"
)

// conn is the last handler of a connection: it gives requests to their handlers. It is
// small and holds no memory while the connection is idle: what belongs to a request is in
// its Exchange.
type conn struct {
	shard  *shard
	ctx    *channel.Context
	proto  protocol  // nil after a hijack
	first  *Exchange // those unanswered, or with content to come, oldest first
	newest *Exchange
	std    *stdConn           // what net/http requests share; nil until there is one
	tls    *tls.HandshakeDone // nil on a plain connection
	timer  loop.Timer
	due    time.Duration // when the timer fires
	paused int32         // those who want no input
	flags  connFlags
}

type connFlags uint8

const (
	cReading   connFlags = 1 << iota // a read batch is being passed on; its end flushes
	cFlush                           // there is something to flush then
	cServed                          // there was a request
	cLingering                       // this side has ended; what comes is thrown away
	cIdled                           // it has been idle for too long and is being drained
	cDrains                          // the server is being drained
)

// Added is for the pipeline.
func (c *conn) Added(ctx *channel.Context) {
	c.ctx = ctx
	c.timer.Init(ctx.Loop(), c)
}

// Removed is for the pipeline.
func (c *conn) Removed(*channel.Context) {
	c.timer.Stop()
	c.over()
}

// OnActive starts the timeouts.
func (c *conn) OnActive(ctx *channel.Context) {
	c.arm(ctx.Loop().Now(), c.shard.server.Timeouts.first())
	ctx.FireActive()
}

// OnRead takes requests and their content; after a hijack, bytes.
func (c *conn) OnRead(ctx *channel.Context, msg any) {
	switch m := msg.(type) {
	case *http.Request:
		c.flags |= cReading
		c.request(m)
	case *http.Content:
		c.flags |= cReading
		c.content(m)
	default:
		if b, ok := msg.(*buffer.Buffer); ok && c.std != nil && c.std.hijacked != nil {
			c.std.hijacked.receive(b)
			return
		}
		ctx.FireRead(msg)
	}
}

func (c *conn) request(m *http.Request) {
	if c.flags&cLingering != 0 {
		m.Close()
		return
	}
	if m.Upgrade && c.upgradeHTTP2(m) {
		return
	}
	sh := c.shard
	sh.requests.inc()
	x := sh.acquire()
	x.conn, x.req, x.id, x.length = c, m, m.ID, m.ContentLength
	if m.End {
		x.state = sBodyEnd
	} else {
		x.lastIn = c.ctx.Loop().Now()
		if m.Expect == http.ExpectContinue {
			x.state = sExpects
		}
		c.armWithin(x.lastIn, sh.server.Timeouts.Body)
	}
	if m.Method == http.MethodConnect {
		x.state |= sConnect
	}
	c.flags |= cServed
	if c.newest == nil {
		c.first = x
	} else {
		c.newest.next, x.prev = x, c.newest
	}
	c.newest = x
	c.proto.arrived(x)
	c.serve(x)
	x.settle()
}

// serve finds the request's handler.
func (c *conn) serve(x *Exchange) {
	s := c.shard.server
	if s.Native != nil && x.serveNative(s.Native) {
		c.shard.native.inc()
		if x.reader == nil && x.state&(sPaused|sBodyEnd) == 0 {
			x.state |= sUnwanted
		}
		return
	}
	x.dropReader()
	x.ResumeBody()
	switch {
	case x.state&(sStarted|sOver) != 0: // it has answered what it says is not its own
	case s.Handler != nil:
		c.serveStd(x)
	default:
		x.RespondFixed(notFound)
	}
}

var notFound = fixed(404, "404 Not Found\n")

func fixed(status int, text string) *http.Fixed {
	f, err := http.NewFixed(status, []byte(text), "Content-Type", "text/plain; charset=utf-8")
	if err != nil {
		panic(err) // only for a status that has no content
	}
	return f
}

func (c *conn) content(m *http.Content) {
	if x := c.proto.find(c, m.ID); x != nil {
		x.lastIn = c.ctx.Loop().Now()
		generation := x.generation
		err := m.Err
		x.receive(m)
		if err != nil && x.generation == generation && !x.is(sOver) {
			c.proto.failed(x, err)
		}
	}
	m.Close()
}

// OnReadComplete flushes the answers of the batch.
func (c *conn) OnReadComplete(ctx *channel.Context) {
	c.flags &^= cReading
	if c.flags&cFlush != 0 {
		c.flags &^= cFlush
		ctx.Flush()
	}
	if c.proto != nil {
		c.proto.readComplete(c)
	}
	ctx.FireReadComplete()
}

// write gives a part of an answer to the codec; it is flushed at the end of the batch.
func (c *conn) write(msg any) channel.Future {
	f := c.ctx.Write(msg)
	if c.flags&cReading != 0 {
		c.flags |= cFlush
	} else {
		c.ctx.Flush()
	}
	return f
}

// askForContent sends a 100 for the client that waits for one.
func (c *conn) askForContent(x *Exchange) {
	r := http.NewResponse(100)
	r.ID = x.id
	c.write(r)
	x.lastIn = c.ctx.Loop().Now()
}

// remove takes an exchange off the list, if it is there.
func (c *conn) remove(x *Exchange) {
	if x.prev == nil && c.first != x {
		return
	}
	if x.prev != nil {
		x.prev.next = x.next
	} else {
		c.first = x.next
	}
	if x.next != nil {
		x.next.prev = x.prev
	} else {
		c.newest = x.prev
	}
	x.prev, x.next = nil, nil
	if c.proto != nil {
		c.proto.gone(x)
	}
}

// drop ends an exchange that can't be answered any more.
func (c *conn) drop(x *Exchange, err error) {
	c.remove(x)
	x.state |= sOver // so that nothing can be written, nor x dropped again, by who is told
	if x.std != nil {
		x.std.lost(err)
	} else if x.onClose != nil && !x.is(sAnswered) {
		x.call(x.onClose)
	}
	x.recycle()
}

// pause and resume count those who want no input from the connection.
func (c *conn) pause() {
	c.paused++
	if c.paused == 1 {
		c.ctx.Channel().SetAutoRead(false)
	}
}

func (c *conn) resume() {
	c.paused--
	if c.paused == 0 {
		c.listensAgain()
		c.ctx.Channel().SetAutoRead(true)
	}
}

// listensAgain is called when the server reads again: the client's time begins anew.
func (c *conn) listensAgain() {
	if c.proto != nil {
		c.proto.listensAgain(c, c.ctx.Loop().Now())
	}
}

// OnWritability lets writers of long answers go on.
func (c *conn) OnWritability(ctx *channel.Context, writable bool) {
	if writable {
		c.listensAgain()
		if c.proto != nil && !c.proto.multiplexes() {
			c.eachExchange((*Exchange).writableAgain)
		}
		if c.std != nil && c.std.hijacked != nil {
			c.std.hijacked.writable()
		}
	}
	ctx.FireWritability(writable)
}

// eachExchange calls fn for each exchange; fn may end any of them.
func (c *conn) eachExchange(fn func(x *Exchange)) {
	type one struct {
		x          *Exchange
		generation uint32
	}
	var room [8]one
	all := room[:0]
	for x := c.first; x != nil; x = x.next {
		all = append(all, one{x, x.generation})
	}
	for _, o := range all {
		if o.x.generation == o.generation && !o.x.is(sOver) {
			fn(o.x)
			o.x.settle()
		}
	}
}

// OnEvent takes the server's Drain, and what the codecs have to say.
func (c *conn) OnEvent(ctx *channel.Context, event any) {
	if c.proto == nil {
		ctx.FireEvent(event)
		return
	}
	switch e := event.(type) {
	case *http2.Writable:
		if x := c.proto.find(c, e.ID); x != nil {
			x.writableAgain()
			x.settle()
		}
		return
	case *http1.Preface:
		c.becomeHTTP2((*channel.Pipeline).AddAfter)
		return
	case *tls.HandshakeDone:
		c.tls = e
		c.negotiated(e.NegotiatedProtocol())
	case Negotiated:
		c.negotiated(e.NegotiatedProtocol())
	case bootstrap.Drain:
		c.flags |= cDrains
		c.proto.Drain()
	}
	ctx.FireEvent(event)
}

// writableAgain lets the writer of a long answer go on.
func (x *Exchange) writableAgain() {
	if x.std != nil {
		x.std.writable()
	} else if x.onWritable != nil && !x.is(sAnswered) {
		x.call(x.onWritable)
	}
}

// OnShutdown is told that the client has ended its direction.
func (c *conn) OnShutdown(ctx *channel.Context, d channel.Direction) {
	if d == channel.Inbound {
		c.clientGone(context.Canceled)
	}
	ctx.FireShutdown(d)
}

// OnError is told why the connection is about to be lost.
func (c *conn) OnError(ctx *channel.Context, err error) {
	if c.tls == nil && c.shard.server.tls != nil {
		c.answerPlain(err)
	}
	c.clientGone(err)
	ctx.FireError(err)
}

// clientGone cancels the contexts of net/http requests, as net/http does even where the
// client might still read the answer.
func (c *conn) clientGone(err error) {
	for x := c.first; x != nil; x = x.next {
		if x.std != nil {
			x.std.clientGone(err)
		}
	}
	if c.std != nil && c.std.hijacked != nil {
		if err == context.Canceled {
			err = nil // its own direction only
		}
		c.std.hijacked.inputEnded(err)
	}
}

// OnInactive is told that the channel has closed.
func (c *conn) OnInactive(ctx *channel.Context) {
	c.timer.Stop()
	c.over()
	ctx.FireInactive()
}

// over ends every exchange: the connection is lost, or no longer HTTP's.
func (c *conn) over() {
	for c.first != nil {
		c.drop(c.first, errConnLost)
	}
	if c.std != nil && c.std.hijacked != nil {
		c.std.hijacked.lost()
	}
}
