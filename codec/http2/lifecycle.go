package http2

import "time"

// timing is what Tick looks at.
type timing struct {
	settings  time.Duration // when SETTINGS were sent
	block     time.Duration // when the header block began that is open
	drained   time.Duration // when Drain was called
	pinged    time.Duration // when the Ping was sent that is in flight
	roundTrip time.Duration // of the last one
	idle      time.Duration // since when there has been no stream
	sent      time.Duration // when the connection's window has last let something through
	opened    time.Duration // when that window was closed last, and then opened
	tick      time.Duration // see TickWithin
	pongs     uint64
	pings     uint8 // in flight: bits of pingKind
}

// pingKind says what a PING of this side is for.
type pingKind uint8

const (
	pingLive  pingKind = 1 << iota // Ping: is the peer still there?
	pingDrain                      // Drain: has it read the first GOAWAY?
)

// What the PINGs of this side carry. The peer's own may carry the same; only their
// acknowledgements matter.
var (
	livePing  = [8]byte{'m', 'i', 'l', 'l', 'r', 'a', 'c', 'e'}
	drainPing = [8]byte{'d', 'r', 'a', 'i', 'n', 'i', 'n', 'g'}
)

// drainTimeout is how long a Drain waits for the PING to be answered.
const drainTimeout = time.Second

func (c *Conn) sendPing(kind pingKind, data [8]byte, now time.Duration) {
	if c.err != nil || c.timing.pings&uint8(kind) != 0 {
		return
	}
	c.Start(now)
	if kind == pingLive {
		c.timing.pinged = now
	}
	c.timing.pings |= uint8(kind)
	c.commit(AppendPing(c.room(FrameHeaderLen + 8).Writable()[:0], data, false))
}

// Ping sends a PING, unless one is in flight, to see whether the peer is still there: if it
// does not answer within Options.PingTimeout, Tick ends the connection. Alive tells when it
// has.
func (c *Conn) Ping(now time.Duration) {
	c.sendPing(pingLive, livePing, now)
	c.wantTick(c.o.PingTimeout)
}

// Alive returns how many of the Pings were answered, and how long the last one took.
func (c *Conn) Alive() (answers uint64, roundTrip time.Duration) {
	return c.timing.pongs, c.timing.roundTrip
}

func (c *Conn) pong(data [8]byte) {
	kind := pingLive
	switch data {
	case livePing:
	case drainPing:
		kind = pingDrain
	default:
		return
	}
	if c.timing.pings&uint8(kind) == 0 {
		return
	}
	c.timing.pings &^= uint8(kind)
	if kind == pingDrain {
		c.lastGoAway()
		return
	}
	c.timing.pongs++
	c.timing.roundTrip = c.now - c.timing.pinged
}

// Drain ends the connection gracefully, RFC 9113 section 6.8. A server announces it first,
// and finds out by a PING when the client has heard of it; requests that have been under way
// are still taken. After that it opens no more, and Done reports when the last has ended.
func (c *Conn) Drain(now time.Duration) {
	if c.err != nil || c.is(goingAway) {
		return
	}
	c.Start(now)
	c.flags |= goingAway
	if c.is(isClient) {
		c.lastGoAway()
		return
	}
	c.writeGoAway(maxStreamID)
	c.timing.drained = now
	c.wantTick(drainTimeout)
	c.sendPing(pingDrain, drainPing, now)
}

// lastGoAway names the last stream.
func (c *Conn) lastGoAway() {
	if c.is(goneAway) {
		return
	}
	c.flags |= goneAway
	c.lastTaken = c.highest
	c.writeGoAway(c.highest)
}

func (c *Conn) writeGoAway(last uint32) {
	c.commit(AppendGoAway(c.room(FrameHeaderLen + 8).Writable()[:0], last, NoError, ""))
}

// Tick looks after the timeouts, and returns how long it may take until the next call, or a
// negative duration if nothing waits for time to pass. It may leave messages for Next, and
// bytes for Pull. An error is one that Next would return.
func (c *Conn) Tick(now time.Duration) (next time.Duration, err error) {
	c.now = now
	if c.err != nil {
		return -1, c.err
	}
	left := never
	due := func(since, limit time.Duration) bool {
		if limit == never {
			return false
		}
		left = min(left, max(since+limit-now, 0))
		return now-since >= limit
	}
	var bad *ConnError
	switch {
	case c.is(started) && !c.is(acked) && due(c.timing.settings, c.o.SettingsTimeout):
		bad = errSettingsAck
	case c.block.open && due(c.timing.block, c.o.HeadTimeout):
		bad = errHeadTimeout
	case c.timing.pings&uint8(pingLive) != 0 && due(c.timing.pinged, c.o.PingTimeout):
		bad = errPingTimeout
	}
	if bad != nil {
		c.fail(bad)
		return -1, bad
	}
	if c.is(goingAway) && !c.is(goneAway) {
		if wait := c.timing.drained + drainTimeout - now; wait > 0 {
			left = min(left, wait)
		} else {
			c.lastGoAway() // a client that answers no PING is not waited for
		}
	}
	if c.o.StallTimeout != never {
		c.streams.each(func(s *stream) {
			if len(s.queue) == 0 || s.head != nil {
				return
			}
			left = min(left, c.o.StallTimeout)
			if since, stalls := c.stalledSince(s); stalls && due(since, c.o.StallTimeout) {
				c.tell(s, errStalled)
				c.reset(s, errStalled.Code, errStalled)
			}
		})
	}
	if left == never {
		return -1, nil
	}
	return max(left, time.Millisecond), nil
}

// unheard is told that this side doesn't read: what is waited for may have come already.
func (c *Conn) unheard(now time.Duration) {
	c.timing.settings, c.timing.block, c.timing.pinged = now, now, now
}

// stalledSince reports whether a stream with something to send waits for the peer's windows,
// and since when. One that waits for its turn on a slow connection does not.
func (c *Conn) stalledSince(s *stream) (since time.Duration, stalls bool) {
	switch {
	case !s.is(inRing):
		return s.progress, true
	case c.sendWindow <= 0:
		return max(s.progress, c.timing.sent), true
	}
	return 0, false
}

// wantTick notes that something waits for at most d from now on.
func (c *Conn) wantTick(d time.Duration) {
	if d != never && (c.timing.tick == 0 || d < c.timing.tick) {
		c.timing.tick = d
	}
}

// TickWithin returns, once, how long it may take until Tick is called, because something has
// begun to wait for time to pass; 0 if nothing has. The times that Tick itself returns come
// on top.
func (c *Conn) TickWithin() time.Duration {
	d := c.timing.tick
	c.timing.tick = 0
	return d
}
