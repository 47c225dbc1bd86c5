package http2

import (
	"io"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/loop"
)

// wantTick sets the timer if something has begun to wait.
func (c *codec) wantTick() {
	if within := c.conn.TickWithin(); within > 0 && c.state == serving {
		c.arm(within)
	}
}

// arm has the timer fire d from now at the latest.
func (c *codec) arm(d time.Duration) {
	if due := c.ctx.Loop().Now() + d; !c.timer.Active() || due < c.due {
		c.due = due
		c.timer.Reset(d)
	}
}

// RunTimer looks after the timeouts.
func (c *codec) RunTimer(*loop.Timer) {
	if c.state != lingering {
		c.ctx.Contain(c.tick)
		return
	}
	if left := c.lingers(); left > 0 {
		c.timer.Reset(left)
		return
	}
	c.ctx.Close()
}

// lingers returns how long a connection that is lingering has yet: a peer that takes slowly what
// is sent gets all of it, and then has time to see the end.
func (c *codec) lingers() time.Duration {
	now := c.ctx.Loop().Now()
	switch blocked, since := c.ctx.Channel().OutputBlocked(); {
	case !blocked:
		return since + lingerTime - now
	case c.o.StallTimeout == never:
		return lingerTime // then look again
	default:
		return min(since+c.o.StallTimeout-now, lingerTime)
	}
}

func (c *codec) tick() {
	now := c.ctx.Loop().Now()
	if blocked, since := c.ctx.Channel().OutputBlocked(); blocked && now-since >= c.o.StallTimeout {
		c.ctx.Close() // there is no use in resetting streams: nothing gets through
		return
	}
	if c.in != nil || !c.ctx.Channel().Reading() {
		c.conn.unheard(now)
	}
	next, err := c.conn.Tick(now)
	if err != nil {
		c.finish()
		return
	}
	if next >= 0 {
		c.arm(next)
	}
	c.flush()
}

// finish ends the connection once everything is sent. The peer may still be sending: this
// side ends its direction, and waits for the peer to do so too. RFC 9113 section 5.4.1 has a
// connection closed after an error.
func (c *codec) finish() {
	if c.state != serving {
		return
	}
	c.state = lingering
	c.conn.now = c.ctx.Loop().Now()
	c.deliver()
	for b := c.conn.Pull(false); b != nil; b = c.conn.Pull(false) {
		c.write(b)
	}
	c.settle(c.last)
	c.ctx.Flush()
	c.flags &^= dirty
	ch := c.ctx.Channel()
	if !ch.IsOpen() {
		return
	}
	c.timer.Reset(lingerTime)
	if ch.InputClosed() {
		c.last.OnCompleteWith(ch, channel.CloseOnComplete)
		return
	}
	c.ctx.Shutdown(channel.Outbound)
	if !ch.IsOpen() {
		return
	}
	if c.is(holdsRead) || !ch.AutoRead() {
		c.flags &^= holdsRead
		c.ctx.Read()
	}
}

// discard throws input away.
func (c *codec) discard(b *buffer.Buffer) {
	c.discarded += int64(b.Len())
	b.Close()
}

// OnShutdown is told that the peer has ended its direction. A server's answers to whole
// requests are still sent, as far as the windows have room.
func (c *codec) OnShutdown(ctx *channel.Context, d channel.Direction) {
	if d == channel.Inbound {
		if c.state == serving { // lingering: the channel closes once everything is sent
			c.inputEnded()
		}
	}
	ctx.FireShutdown(d)
}

// inputEnded deals with the end of the input after what was received before it.
func (c *codec) inputEnded() {
	if c.in != nil {
		c.flags |= inputOver // decode comes back
		return
	}
	c.conn.now = c.ctx.Loop().Now()
	c.conn.inputEnded()
	c.deliver()
	c.flush()
}

// OnInactive is told that the channel has closed: every stream that is left has failed.
func (c *codec) OnInactive(ctx *channel.Context) {
	c.state = ended
	c.timer.Stop()
	c.conn.Lose(errLost)
	c.deliver()
	c.settle(channel.Future{})
	ctx.FireInactive()
}

// errLost is the error of streams whose connection has closed. It wraps io.ErrUnexpectedEOF.
var errLost error = lostError{}

type lostError struct{}

func (lostError) Error() string { return "http2: the connection was lost" }
func (lostError) Unwrap() error { return io.ErrUnexpectedEOF }

// Drain ends the connection gracefully: requests that are under way are taken and answered;
// see Conn.Drain. On the loop only, as all that follow.
func (c *codec) Drain() {
	if c.state != serving {
		return
	}
	c.conn.Drain(c.ctx.Loop().Now())
	c.flush()
}

// Reset ends a stream; see Conn.Reset. It does nothing if the stream has ended.
func (c *codec) Reset(id uint64, code ErrCode) {
	if c.state == serving {
		c.conn.Reset(id, code)
		c.written()
	}
}

// GiveUp says that the rest of a request isn't wanted; see Conn.GiveUp.
func (c *codec) GiveUp(id uint64) {
	if c.state == serving {
		c.conn.GiveUp(id)
		c.written()
	}
}

// Ping sends a PING to see whether the peer is still there; see Conn.Ping. A peer that does
// not answer within Options.PingTimeout loses the connection.
func (c *codec) Ping() {
	if c.state == serving {
		c.conn.Ping(c.ctx.Loop().Now())
		c.flush()
	}
}

// Pause and Resume hold content of one stream back; see Conn.Pause.
func (c *codec) Pause(id uint64) { c.conn.Pause(id) }

// Resume ends a Pause.
func (c *codec) Resume(id uint64) {
	c.conn.Resume(id)
	c.written()
}

// Consume says that content was consumed, with Options.ManualConsume; see Conn.Consume.
func (c *codec) Consume(id uint64, n int) {
	c.conn.Consume(id, n)
	c.written()
}

// written sends what a call has put out: at the end of the read batch, or now.
func (c *codec) written() {
	if c.state != serving {
		return
	}
	if c.is(decoding) {
		c.writeOut()
		return
	}
	c.flush()
}

// Writable reports whether a stream's producer may go on; see Conn.Writable and the event
// Writable.
func (c *codec) Writable(id uint64) bool { return c.conn.Writable(id) }

// Queued returns the bytes of content that wait in a stream for the peer to take them.
func (c *codec) Queued(id uint64) int64 { return c.conn.Queued(id) }

// Streams returns the number of open streams.
func (c *codec) Streams() int { return c.conn.Streams() }

// Value returns what SetValue has set for a stream, or nil.
func (c *codec) Value(id uint64) any { return c.conn.Value(id) }

// SetValue keeps v with a stream until it ends; false means that there is no such stream.
func (c *codec) SetValue(id uint64, v any) bool { return c.conn.SetValue(id, v) }

// Err returns why the connection has ended or is about to, a *ConnError, or nil.
func (c *codec) Err() error { return c.conn.Err() }
