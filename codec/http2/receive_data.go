package http2

import (
	"millrace.dev/buffer"
	"millrace.dev/codec/http"
)

// dataHead deals with the beginning of a DATA frame, RFC 9113 section 6.1. Everything that
// can be wrong with it is found before any of its bytes is passed on.
func (c *Conn) dataHead(h FrameHeader) (any, error) {
	c.current = h.StreamID
	c.flags &^= ignoresData
	s := c.streams.get(h.StreamID)
	if s == nil && c.isIdle(h.StreamID) || s != nil && s.head != nil {
		return nil, errIdle
	}
	if !c.window.take(h.Length) {
		return nil, errConnFlow
	}
	left := int64(c.reader.Left())
	end := h.Flags.Has(FlagEndStream)
	if left > 0 {
		c.controls.earn(earnForFrame)
	} else if !end {
		if err := c.control(costControl); err != nil {
			return nil, err
		}
	}
	var bad *StreamError
	switch {
	case s == nil:
		return nil, c.lateData(h)
	case s.is(remoteClosed):
		bad = errHalfClosed
	case !s.is(headReceived):
		bad = errDataFirst
	case !s.window.take(h.Length):
		bad = errStreamFlow
	case s.declared >= 0 && (s.received+left > s.declared || end && s.received+left != s.declared):
		bad = errLengthMismatch
	case s.received+left > c.o.Limits.MaxBody:
		bad = errBodyLong
	}
	if s.unread += int64(h.Length); bad != nil {
		c.flags |= ignoresData
		if bad == errBodyLong && !c.is(isClient) && !s.is(headSent) {
			c.tell(s, bad)
			c.writeStatus(s.id, 413)
			c.reset(s, NoError, bad)
			return nil, c.provoke()
		}
		return nil, c.breach(s, bad)
	}
	if overhead := c.reader.Overhead(); overhead > 0 {
		c.consume(s, int64(overhead))
	}
	if !c.reader.Ended() || !end {
		return nil, nil
	}
	m := http.NewContent(nil, true)
	m.ID = uint64(s.id)
	c.remoteEnd(s)
	return m, nil
}

// lateData deals with DATA of a stream that is closed. Nobody will read it, so the peer gets
// its share of the connection's window back at once.
func (c *Conn) lateData(h FrameHeader) error {
	c.flags |= ignoresData
	c.giveConn(int64(h.Length))
	if err := c.control(costControl); err != nil {
		return err
	}
	switch c.closed.find(h.StreamID) {
	case resetByUs:
		return nil
	case finished:
		return errWasClosed
	}
	return c.breachOf(h.StreamID, errAfterReset)
}

// data passes on bytes of a DATA frame, as a part of the buffer that they came in.
func (c *Conn) data(in *buffer.Buffer) (any, error) {
	n := c.reader.Chunk()
	var s *stream
	if !c.is(ignoresData) {
		s = c.streams.get(c.current) // it may have been reset since the frame began
	}
	if s == nil {
		in.Skip(n)
		return nil, nil
	}
	m := http.NewContent(in.Split(n), c.reader.Ended() && c.reader.Header().Flags.Has(FlagEndStream))
	m.ID = uint64(s.id)
	s.received += int64(n)
	if !c.o.ManualConsume && !s.is(paused) {
		c.consume(s, int64(n))
	}
	if m.End {
		c.remoteEnd(s)
	}
	return m, nil
}

// remoteEnd is called when the peer has ended its direction of a stream.
func (c *Conn) remoteEnd(s *stream) {
	s.flags = s.flags&^awaitsContinue | remoteClosed
	if s.is(localClosed) {
		c.part(s)
		c.finish(s)
	}
}

// consume counts n bytes as read, and tells the peer when half of a window is free.
func (c *Conn) consume(s *stream, n int64) {
	n = min(n, s.unread)
	s.unread -= n
	if increment := s.window.give(n, int64(c.o.StreamWindow)); increment > 0 && !s.is(remoteClosed) {
		c.commit(AppendWindowUpdate(c.room(FrameHeaderLen + 4).Writable()[:0], s.id, increment))
	}
	c.giveConn(n)
}

func (c *Conn) giveConn(n int64) {
	if increment := c.window.give(n, int64(c.o.ConnWindow)); increment > 0 {
		c.commit(AppendWindowUpdate(c.room(FrameHeaderLen + 4).Writable()[:0], 0, increment))
	}
}

// Consume says, with Options.ManualConsume, that n bytes of a stream's content have been
// consumed, so that the peer may send as many more. Without a stream it does nothing: what
// was unread when the stream ended counts as consumed.
func (c *Conn) Consume(id uint64, n int) {
	if s := c.stream(id); s != nil && n > 0 {
		c.consume(s, int64(n))
	}
}

// Pause stops content from counting as consumed when it is passed on: the peer may send what
// its window allows and then has to wait for Resume. Other streams go on, as far as the
// window of the connection lets them.
func (c *Conn) Pause(id uint64) {
	if s := c.stream(id); s != nil {
		s.flags |= paused
	}
}

// Resume ends a Pause; all that was passed on meanwhile counts as consumed.
func (c *Conn) Resume(id uint64) {
	s := c.stream(id)
	if s == nil || !s.is(paused) {
		return
	}
	s.flags &^= paused
	if c.o.ManualConsume {
		return
	}
	n := s.unread
	if c.current == s.id && !c.is(ignoresData) && c.reader.Header().Type == FrameData {
		n -= int64(c.reader.Left()) // counted when the frame began, and yet to come
	}
	c.consume(s, n)
}
