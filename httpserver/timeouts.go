package httpserver

import (
	"time"

	"millrace.dev/codec/http1"
	"millrace.dev/internal/limit"
	"millrace.dev/loop"
)

// Timeouts end connections on which nothing moves. Zero means the default, a negative value
// switches one off. None of them fires early; all are checked by one timer for each
// connection, which costs nothing for each request.
type Timeouts struct {
	// Header is how long the head of a request may take from its first byte, and how long
	// a new connection may take to its first request. The connection is closed. Default 10
	// s.
	Header time.Duration
	// Body is how long a client may pause within the content of a request while the server
	// is willing to read it. The handler's read fails, and the connection ends with its
	// answer, with HTTP/2 the stream. Default 30 s.
	Body time.Duration
	// Write is how long a client may take nothing of what waits to be sent to it: progress
	// counts, not completion. The connection is closed; it may take up to a quarter
	// longer. An HTTP/2 stream whose client keeps its window closed is reset. Default 30
	// s.
	Write time.Duration
	// Idle is how long a connection is kept for the next request. It is closed then, with
	// HTTP/2 drained. Default 90 s.
	Idle time.Duration
}

// The defaults of Timeouts.
const (
	DefaultHeaderTimeout = 10 * time.Second
	DefaultBodyTimeout   = 30 * time.Second
	DefaultWriteTimeout  = 30 * time.Second
	DefaultIdleTimeout   = 90 * time.Second
)

// never is a timeout that is switched off.
const never = time.Duration(1<<63 - 1)

func (t Timeouts) effective() Timeouts {
	t.Header = limit.Effective(t.Header, DefaultHeaderTimeout, never)
	t.Body = limit.Effective(t.Body, DefaultBodyTimeout, never)
	t.Write = limit.Effective(t.Write, DefaultWriteTimeout, never)
	t.Idle = limit.Effective(t.Idle, DefaultIdleTimeout, never)
	return t
}

// stallChecks is how many times in Timeouts.Write the progress of writes is looked at.
const stallChecks = 4

// sample is how often the timer looks after writes.
func (t *Timeouts) sample() time.Duration {
	if t.Write == never {
		return never
	}
	return t.Write / stallChecks
}

// first is how long the timer may wait on a new connection.
func (t *Timeouts) first() time.Duration { return min(t.Header, t.sample()) }

// arm sets the timer to fire d after since, which is not in the future.
func (c *conn) arm(since, d time.Duration) {
	if d >= never-since {
		c.timer.Stop()
		c.due = never
		return
	}
	c.due = since + d
	c.timer.Reset(c.due - c.ctx.Loop().Now())
}

// armWithin has the timer fire d after since at the latest.
func (c *conn) armWithin(since, d time.Duration) {
	if d < never-since && (since+d < c.due || !c.timer.Active()) {
		c.arm(since, d)
	}
}

// RunTimer looks at what the connection is doing. Between two looks nothing is kept up to
// date but the times of the phases, so the timer fires more often than it finds something.
func (c *conn) RunTimer(*loop.Timer) {
	now := c.ctx.Loop().Now()
	if c.flags&cLingering != 0 {
		if left := c.lingers(now); left > 0 {
			c.arm(now, left)
		} else {
			c.ctx.Close()
		}
		return
	}
	t := &c.shard.server.Timeouts
	left := c.proto.left(c, t, now)
	if left <= 0 {
		c.shard.timeouts.inc()
		c.proto.expire(c, now)
		if !c.ctx.Channel().IsOpen() {
			return
		}
		left = never
	}
	if c.stalled(now) {
		c.shard.timeouts.inc()
		c.ctx.Close()
		return
	}
	c.arm(now, min(left, t.sample(), t.Idle)) // what is busy now may be idle then
}

// lingers returns how long a connection that is lingering has yet: a client that takes its answer
// slowly gets all of it, and then has time to see the end.
func (c *conn) lingers(now time.Duration) time.Duration {
	const linger = http1.DefaultLingerTime
	blocked, since := c.ctx.Channel().OutputBlocked()
	if blocked {
		return min(remaining(since, c.shard.server.Timeouts.Write, now), linger) // then look again
	}
	return since + linger - now
}

// stalled reports whether the client has taken nothing of what waits to be sent for
// Timeouts.Write. What waits for its turn, behind an answer that is yet to come, is not held
// against it.
func (c *conn) stalled(now time.Duration) bool {
	limit := c.shard.server.Timeouts.Write
	blocked, since := c.ctx.Channel().OutputBlocked()
	return blocked && limit != never && now-since >= limit
}
