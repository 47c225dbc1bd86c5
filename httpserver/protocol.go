package httpserver

import (
	"time"

	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http1"
)

// protocol is what depends on the version of HTTP that a connection speaks. The messages are
// the same for all, and so are conn and Exchange; versions differ in what bounds an exchange:
// the connection, on which answers stand in a line, or a stream of its own.
type protocol interface {
	// multiplexes reports whether exchanges are independent of each other.
	multiplexes() bool
	// arrived and gone tell of an exchange that has come into the list, and left it.
	arrived(x *Exchange)
	gone(x *Exchange)
	// find returns the exchange that content with this ID is for, or nil.
	find(c *conn, id uint64) *Exchange
	// failed is told that the content of x has ended with an error, or that nobody waits for
	// its answer any more.
	failed(x *Exchange, err error)

	// head completes the head of a final answer.
	head(x *Exchange, r *http.Response)
	// refused is told that the codec has not taken a part of the answer, its head or content.
	refused(x *Exchange, head bool, err error)
	// answered is told that the answer has ended, perhaps before the content.
	answered(x *Exchange)
	// giveUp is told that there is more content behind the answer than is worth reading.
	giveUp(x *Exchange)
	// abort ends an exchange in the middle.
	abort(x *Exchange)

	// pause and resume stop the content of x.
	pause(x *Exchange)
	resume(x *Exchange)
	// writable reports whether the client takes the answer of x.
	writable(x *Exchange) bool
	// listensAgain is told that the server reads again after a spell in which it did not.
	listensAgain(c *conn, now time.Duration)

	// readComplete is told of the end of a read batch.
	readComplete(c *conn)
	// left returns how long the client has for what it is to do next, never if nothing is
	// waited for. expire is called when that has become nothing.
	left(c *conn, t *Timeouts, now time.Duration) time.Duration
	expire(c *conn, now time.Duration)

	// Drain ends the connection gracefully.
	Drain()
	// over reports whether the connection is ending, so that nothing more is served.
	over() bool
}

// http1 returns the codec of a connection that speaks HTTP/1.1, otherwise nil.
func (c *conn) http1() *http1.ServerCodec {
	if p, ok := c.proto.(over1); ok {
		return p.ServerCodec
	}
	return nil
}

// over1 has the rules of HTTP/1.1: exchanges of a connection follow each other, so whatever
// holds or ends one does it to the connection.
type over1 struct{ *http1.ServerCodec }

func (over1) multiplexes() bool { return false }

func (over1) arrived(*Exchange) {}
func (over1) gone(*Exchange)    {}

// find: content is always of the request that came last.
func (over1) find(c *conn, id uint64) *Exchange {
	if x := c.newest; x != nil && x.id == id && c.flags&cLingering == 0 {
		return x
	}
	return nil
}

func (over1) failed(*Exchange, error) {} // it can't be answered any more, and the codec closes

// head has the connection closed with an answer that content is cut off behind.
func (over1) head(x *Exchange, r *http.Response) {
	if x.cutsContent(r) {
		r.CloseConn = true
	}
}

func (over1) refused(*Exchange, bool, error) {} // the codec has answered

func (over1) answered(x *Exchange) {
	if x.leavesMuch() {
		x.conn.linger()
	}
}

func (over1) giveUp(x *Exchange) { x.conn.linger() }

func (over1) abort(x *Exchange) { x.conn.ctx.Close() }

func (over1) pause(x *Exchange)  { x.conn.pause() }
func (over1) resume(x *Exchange) { x.conn.resume() }

func (over1) writable(x *Exchange) bool { return x.Channel().IsWritable() }

func (over1) listensAgain(c *conn, now time.Duration) {
	if c.newest != nil {
		c.newest.lastIn = now
	}
	if t := &c.shard.server.Timeouts; c.flags&cLingering == 0 {
		c.armWithin(now, min(t.Header, t.Body))
	}
}

func (p over1) readComplete(c *conn) {
	if phase, since := p.Phase(); phase == http1.PhaseHead {
		c.armWithin(since, c.shard.server.Timeouts.Header)
	}
}

func (p over1) left(c *conn, t *Timeouts, now time.Duration) time.Duration {
	phase, since := p.Phase()
	limit := never
	switch phase {
	case http1.PhaseIdle:
		limit = t.Idle
		if c.flags&cServed == 0 {
			limit = t.Header
		}
	case http1.PhaseHead:
		limit = t.Header
	case http1.PhaseContent:
		if x := c.newest; x != nil && x.state&(sExpects|sBodyEnd) == 0 {
			limit, since = t.Body, x.lastIn
		}
	}
	if limit == never || phase != http1.PhaseIdle && c.holdsInput() {
		return never
	}
	return since + limit - now
}

func (p over1) expire(c *conn, _ time.Duration) {
	phase, _ := p.Phase()
	if x := c.newest; phase == http1.PhaseContent && x != nil && !x.is(sAnswered) {
		x.giveUpBody(ErrBodyTimeout)
		return
	}
	c.ctx.Close()
}

func (p over1) over() bool {
	phase, _ := p.Phase()
	return phase == http1.PhaseOther
}

// holdsInput reports whether the server doesn't read for reasons of its own: a handler wants
// no content now, or the client doesn't take its answers.
func (c *conn) holdsInput() bool { return c.paused > 0 || !c.ctx.Channel().IsWritable() }

// linger ends the connection after an answer that its client may still be sending for: it
// gets the answer before the connection breaks (RFC 9112 section 9.6).
func (c *conn) linger() {
	if c.flags&cLingering != 0 || c.proto.over() { // over: the codec sees to it
		return
	}
	c.flags |= cLingering
	c.ctx.Flush()
	c.ctx.Shutdown(channel.Outbound)
	c.arm(c.ctx.Loop().Now(), http1.DefaultLingerTime)
}
