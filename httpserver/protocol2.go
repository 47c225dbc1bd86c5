package httpserver

import (
	"time"

	"millrace.dev/codec/http"
	"millrace.dev/codec/http2"
)

// over2 has the rules of HTTP/2: each exchange has a stream, which is held, reset and timed
// by itself.
type over2 struct{ *http2.ServerCodec }

func (over2) multiplexes() bool { return true }

func (p over2) arrived(x *Exchange) { p.SetValue(x.id, x) }

func (p over2) gone(x *Exchange) { p.SetValue(x.id, nil) }

func (p over2) find(_ *conn, id uint64) *Exchange {
	x, _ := p.Value(id).(*Exchange)
	return x
}

// failed: the stream is no more.
func (over2) failed(x *Exchange, err error) { x.conn.drop(x, err) }

// head has the stream reset behind an answer that content is cut off behind. A handler that
// wants the connection closed with its answer has it drained.
func (p over2) head(x *Exchange, r *http.Response) {
	if r.CloseConn || r.Header.HasField(http.FieldConnection) && r.Header.HasToken("Connection", "close") {
		p.Drain()
	}
	r.CloseConn = x.cutsContent(r)
	if r.CloseConn {
		p.cut(x)
	}
}

// cut gives up the content that is to come. Until the answer is sent, and the stream reset,
// the client may wait: it gets no more window.
func (p over2) cut(x *Exchange) {
	x.state |= sBodyEnd | sCut
	p.Pause(x.id)
}

// refused answers in the place of a handler whose answer can't be sent, or resets the stream
// if a part was.
func (p over2) refused(x *Exchange, head bool, err error) {
	if head {
		ch := x.conn.ctx.Channel()
		ch.Logger().Warn("answer can't be sent; the client gets a 500", "channel", ch, "error", err)
		r := http.NewResponse(500)
		r.ID, r.End, r.CloseConn = x.id, true, true
		x.conn.write(r)
	} else {
		p.Reset(x.id, http2.InternalError)
	}
	if !x.is(sOver) {
		x.conn.drop(x, err)
	}
}

// answered: a client that has not much more to send may end its request in order, even if it
// has been waiting for a 100, which won't come any more.
func (p over2) answered(x *Exchange) {
	switch {
	case x.leavesMuch():
		p.giveUp(x)
	case !x.is(sBodyEnd):
		x.state &^= sExpects
		x.lastIn = x.conn.ctx.Loop().Now()
		x.conn.armWithin(x.lastIn, x.Server().Timeouts.Body)
	}
}

func (p over2) giveUp(x *Exchange) {
	p.cut(x)
	p.GiveUp(x.id)
}

// refuse tells the client to try again: streams that it has reset no longer count as open,
// but too many of their handlers are still running.
func (p over2) refuse(x *Exchange) {
	p.end(x, http2.RefusedStream, errConnLost)
}

func (p over2) abort(x *Exchange) { p.end(x, http2.InternalError, errAborted) }

// end resets the stream of x; err is what the handler gets if it goes on.
func (p over2) end(x *Exchange, code http2.ErrCode, err error) {
	id := x.id
	x.conn.drop(x, err)
	p.Reset(id, code)
}

func (p over2) pause(x *Exchange) { p.Pause(x.id) }

func (p over2) resume(x *Exchange) {
	if x.is(sCut) {
		return
	}
	x.lastIn = x.conn.ctx.Loop().Now()
	x.conn.armWithin(x.lastIn, x.Server().Timeouts.Body)
	p.Resume(x.id) // the last, as it may lead to anything
}

func (p over2) writable(x *Exchange) bool { return p.Writable(x.id) }

func (over2) listensAgain(c *conn, now time.Duration) {
	for x := c.first; x != nil; x = x.next {
		x.lastIn = now
	}
	c.armWithin(now, c.shard.server.Timeouts.Body)
}

func (over2) readComplete(*conn) {} // the codec times heads itself

// left looks at the client's content only: the codec has timeouts for the rest.
func (p over2) left(c *conn, t *Timeouts, now time.Duration) time.Duration {
	switch phase, since := p.Phase(); {
	case phase == http2.PhaseIdle && c.flags&cIdled != 0:
		return never // the codec closes
	case phase == http2.PhaseIdle && c.flags&cServed == 0:
		return remaining(since, t.Header, now)
	case phase == http2.PhaseIdle:
		return remaining(since, t.Idle, now)
	case phase != http2.PhaseActive || !c.ctx.Channel().IsWritable():
		return never
	}
	left := never
	for x := c.first; x != nil; x = x.next {
		if x.awaitsContent() {
			left = min(left, remaining(x.lastIn, t.Body, now))
		}
	}
	return left
}

func remaining(since, limit, now time.Duration) time.Duration {
	if limit == never {
		return never
	}
	return since + limit - now
}

// awaitsContent reports whether it is the client's turn to send content. In a tunnel, which
// CONNECT has opened, it need not.
func (x *Exchange) awaitsContent() bool {
	tunnel := x.state&(sConnect|sStarted|sAnswered) == sConnect|sStarted
	return x.state&(sExpects|sBodyEnd|sReadPaused) == 0 && !tunnel
}

func (p over2) expire(c *conn, now time.Duration) {
	if phase, _ := p.Phase(); phase == http2.PhaseIdle {
		c.flags |= cIdled
		p.Drain() // takes a request that is on its way, and then closes
		return
	}
	c.eachExchange(func(x *Exchange) {
		switch {
		case !x.awaitsContent() || remaining(x.lastIn, x.Server().Timeouts.Body, now) > 0:
		case x.is(sAnswered):
			p.giveUp(x)
		default:
			x.giveUpBody(ErrBodyTimeout)
		}
	})
}

func (p over2) over() bool {
	phase, _ := p.Phase()
	return phase == http2.PhaseOther
}
