package http1

import (
	"fmt"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/loop"
)

// linger is what a codec needs while it waits for the peer to close.
type linger struct {
	timer loop.Timer
	codec *ServerCodec
}

// RunTimer ends the wait. The peer's time begins when it has taken everything: one that takes
// its answer slowly gets all of it.
func (l *linger) RunTimer(*loop.Timer) {
	c := l.codec
	blocked, since := c.ctx.Channel().OutputBlocked()
	left := c.o.LingerTime
	if !blocked {
		left -= c.ctx.Loop().Now() - since
	}
	if left > 0 {
		l.timer.Reset(left)
		return
	}
	c.ctx.Close()
}

// refuse is called when the decoder has failed: nothing more is interpreted.
func (c *ServerCodec) refuse(ctx *channel.Context, err *Error, inBody bool) {
	c.surplus = true
	if !inBody {
		c.exchanges.push(0) // a request that no handler has seen
		c.refuseWith(ctx, err)
		return
	}
	c.cut(ctx, err)
	if c.state != serving {
		return
	}
	if c.dec.id < c.next {
		// It was answered before its content was complete.
		c.finishWhenAnswered(ctx)
		return
	}
	c.refuseWith(ctx, err)
}

// cut tells the handlers that the rest of a request's content will not come, and lets no
// handler answer it any more.
func (c *ServerCodec) cut(ctx *channel.Context, err *Error) {
	c.noInput = true
	if c.dec.id >= c.next && c.exchanges.len() > 0 {
		*c.exchanges.last() |= exRefused
		c.dropHeldFor(c.dec.id, ErrRefused)
	}
	c.expect = 0
	m := http.NewContent(nil, false)
	m.ID, m.Err = c.dec.id, err
	ctx.FireRead(m)
}

// refuseWith answers the newest request, after all before it, with an error's status, and
// closes.
func (c *ServerCodec) refuseWith(ctx *channel.Context, err *Error) {
	c.noInput, c.surplus = true, true
	c.expect = 0
	x := c.exchanges.last()
	*x = *x&^exKeepAlive | exRefused | exError
	id := c.next + uint64(c.exchanges.len()) - 1
	r := errorResponse(ctx, id, err.Status, err.Rule)
	switch {
	case id != c.next:
		c.hold(ctx, id, r, responseSize(r))
	case c.enc.Open():
		r.Close()
		c.abort(ctx) // it is being answered: an answer that ends too early has to do
	default:
		c.writeResponse(ctx, r)
	}
}

// answerFault answers for a handler whose own answer could not be written, and says why: few
// listen to the futures of writes.
func (c *ServerCodec) answerFault(ctx *channel.Context, err error) {
	ctx.Channel().Logger().Warn("answer can't be sent; the client gets a 500", "channel", ctx.Channel(), "error", err)
	c.exchanges.flags[0] |= exRefused | exError
	c.dropHeldFor(c.next, ErrRefused)
	c.writeResponse(ctx, errorResponse(ctx, c.next, 500, ""))
}

// errorResponse returns an answer that closes the connection.
func errorResponse(ctx *channel.Context, id uint64, status int, rule string) *http.Response {
	r := http.NewResponse(status)
	r.ID, r.CloseConn = id, true
	r.Header.AddField(http.FieldContentType, "text/plain; charset=utf-8")
	r.Body = ctx.Allocator().Allocate(128)
	fmt.Fprintf(r.Body, "%d %s", status, http.StatusText(status))
	if rule != "" {
		r.Body.WriteString(": ")
		r.Body.WriteString(rule)
	}
	r.Body.WriteString("\n")
	return r
}

// finishWhenAnswered closes once the requests that are in flight have been answered.
func (c *ServerCodec) finishWhenAnswered(ctx *channel.Context) {
	c.finishing, c.noInput = true, true
	switch {
	case c.state != serving:
	case c.exchanges.len() == 0:
		c.finish(ctx, channel.Future{})
	default:
		*c.exchanges.last() &^= exKeepAlive
		if x := c.exchanges.flags[0]; x&exRefused != 0 && x&exError == 0 {
			c.abort(ctx)
		}
	}
}

// finish ends the connection after the write f, or if that is the zero Future behind what
// waits to be sent. If the peer may still be sending, this side ends its direction and waits
// for the peer to do so too; otherwise it just closes.
func (c *ServerCodec) finish(ctx *channel.Context, f channel.Future) {
	c.state = closing
	c.noInput = true
	more := c.surplus || !c.dec.Idle() || c.in != nil && !c.in.IsEmpty()
	c.exchanges.flags = c.exchanges.flags[:0]
	c.dropHeld(ErrClosing)
	ctx.Flush()
	ch := ctx.Channel()
	switch {
	case ch.InputClosed():
		ctx.Shutdown(channel.Outbound) // the channel closes once everything is sent
	case more:
		c.lingerOn(ctx)
	default:
		if (f == channel.Future{}) && ch.PendingBytes() > 0 {
			f = ctx.Shutdown(channel.Outbound)
		}
		f.OnCompleteWith(ch, channel.CloseOnComplete)
	}
}

// abort ends the connection in the middle of an answer, or instead of one: what has been
// written is sent, and the missing end tells the client that it isn't whole.
func (c *ServerCodec) abort(ctx *channel.Context) {
	c.state = closing
	c.noInput = true
	c.exchanges.flags = c.exchanges.flags[:0]
	c.dropHeld(ErrClosing)
	ctx.Flush()
	c.lingerOn(ctx)
}

// lingerOn ends this direction, and throws away what the peer sends until it has ended
// its own or the time is over. RFC 9112 section 9.6.
func (c *ServerCodec) lingerOn(ctx *channel.Context) {
	c.state = lingering
	ctx.Shutdown(channel.Outbound)
	ch := ctx.Channel()
	if !ch.IsOpen() {
		return
	}
	if ch.InputClosed() {
		return // the channel closes once everything is sent
	}
	c.linger = &linger{codec: c}
	c.linger.timer.Init(ctx.Loop(), c.linger)
	c.linger.timer.Reset(c.o.LingerTime)
	c.discarded = 0
	if c.holdsRead || !ch.AutoRead() {
		c.holdsRead = false
		ctx.Read()
	}
}

// discard throws input away. Of a peer that sends on and on no more is read at some point,
// but the connection stays until the time is over: closed at once it would be reset, perhaps
// before the peer has looked for the answer.
func (c *ServerCodec) discard(b *buffer.Buffer) {
	n := int64(b.Len())
	b.Close()
	if n == 0 || c.work == nil { // without work the channel has closed
		return
	}
	c.surplus = true
	c.discarded += n
}

// Drain ends the connection gracefully: at once if it is idle, otherwise behind the answer
// to the last request that has arrived or begun to. On the loop only.
func (c *ServerCodec) Drain() {
	if c.state != serving || c.draining {
		return
	}
	c.draining = true
	c.begin()
	if c.exchanges.len() == 0 && c.dec.Idle() && c.quiet() {
		c.finish(c.ctx, channel.Future{})
	}
}

// contentDrained is called when the content of a request has ended while the connection
// drains. If the request was answered before that, it was the last.
func (c *ServerCodec) contentDrained(ctx *channel.Context) {
	if c.state == serving && c.exchanges.len() == 0 && !c.enc.Open() {
		c.finish(ctx, channel.Future{})
	}
}

// quiet reports whether no request has begun to arrive.
func (c *ServerCodec) quiet() bool { return c.dec.req == nil && (c.in == nil || c.in.IsEmpty()) }

// OnShutdown is told that the peer has ended its direction: nothing more comes, but what
// has come is answered. What it leads to is a read batch of its own.
func (c *ServerCodec) OnShutdown(ctx *channel.Context, d channel.Direction) {
	if d == channel.Inbound {
		switch c.state {
		case serving:
			c.inputEnded(ctx)
			ctx.FireReadComplete()
		case tunnel:
			if c.in != nil && !c.decoding {
				c.passOn(ctx)
				ctx.FireReadComplete()
			}
		} // lingering: the channel closes once everything is sent
	}
	ctx.FireShutdown(d)
}

// inputEnded deals with the end of the input after what was received before it.
func (c *ServerCodec) inputEnded(ctx *channel.Context) {
	if c.in != nil {
		c.ended = true // decode comes back
		return
	}
	c.ended = false
	c.begin()
	inBody := c.dec.body.phase != noBody
	if err := c.dec.Finish(); err != nil && inBody {
		c.cut(ctx, err.(*Error))
	}
	if c.state == serving {
		c.finishWhenAnswered(ctx)
	}
}

// OnInactive is told that the channel has closed.
func (c *ServerCodec) OnInactive(ctx *channel.Context) {
	if c.work != nil && c.dec.body.phase != noBody {
		c.dec.Close()
		c.cut(ctx, errCut)
	}
	if c.state != tunnel {
		c.state = lingering
	}
	ctx.FireInactive()
}
