package http2

import (
	"millrace.dev/codec/http"
	"millrace.dev/future"
)

// inlineBody is up to how many bytes content is copied behind its frame header, which is
// cheaper than handing another buffer to the transport.
const inlineBody = 2 << 10

// WriteResponse writes an answer, or an interim one, to the request whose ID r has; it takes
// r over. Content that comes with it, or behind it with WriteContent, is sent at once only
// if it is small and the peer's windows have room; the rest waits in the stream's queue
// until Pull comes to it, and then wait is what its end completes. If wait is nil,
// everything is in the output already.
//
// Fields that HTTP/2 does not have (Connection and the like) are left out. CloseConn means
// that the rest of the request isn't wanted: if there is more of it, the stream is reset,
// with NO_ERROR, behind the answer.
func (c *Conn) WriteResponse(r *http.Response) (wait *future.Promise[future.Void], err error) {
	defer r.Close()
	s := c.stream(r.ID)
	switch {
	case c.is(isClient) || s == nil:
		return nil, ErrNoStream
	case r.Status < 100 || r.Status > 999 || r.Status == 101:
		return nil, ErrInvalidMessage
	case s.is(headSent):
		return nil, ErrHeadTwice
	case r.Status == 100 && !s.is(awaitsContinue):
		return nil, nil // a client that has not asked for it, or has had it, needs none
	}
	if err := r.Header.Err(); err != nil {
		return nil, err
	}
	r.Expand(c.alloc)
	plan, end, err := c.planResponse(s, r)
	if err != nil {
		return nil, err
	}
	b := blocks.Get().(*[]byte)
	block := c.appendResponse(*b, r, plan)
	c.writeBlock(s.id, block, end)
	releaseBlock(b, block)
	if r.Status < 200 {
		if r.Status == 100 {
			s.flags &^= awaitsContinue
		}
		return nil, nil
	}
	s.flags = s.flags&^awaitsContinue | headSent
	s.progress = c.now
	if r.CloseConn {
		s.flags |= resetAtEnd
	}
	if end {
		c.localEnd(s)
		return nil, nil
	}
	if r.Body != nil && r.Body.Len() > 0 {
		m := http.NewContent(r.Body, r.End)
		r.Body = nil
		return c.sendContent(s, m), nil
	}
	return nil, nil
}

// planResponse decides how an answer is framed; end says that its head is all of it. On an
// error nothing has changed.
func (c *Conn) planResponse(s *stream, r *http.Response) (plan headPlan, end bool, err error) {
	n := int64(0)
	if r.Body != nil {
		n = int64(r.Body.Len())
	}
	declared, err := declaredLength(&r.Header, r.ContentLength)
	if err != nil {
		return plan, false, err
	}
	plan.length = -1
	if r.Status < 200 {
		if n > 0 {
			err = ErrContentNotAllowed
		}
		return plan, false, err
	}
	plan.date = true
	tunnel := s.is(isConnect) && r.Status < 300
	switch {
	case tunnel: // RFC 9110 section 8.6: no length
		return plan, r.End && n == 0, nil
	case r.Status == 204 || r.Status == 205 || r.Status == 304:
		if n > 0 || r.Status == 205 && declared > 0 {
			return plan, false, ErrContentNotAllowed
		}
		if r.Status == 304 {
			plan.length = declared
		}
		if !r.End {
			s.flags |= noContent
		}
		return plan, r.End, nil
	case s.is(isHead):
		plan.length = declared
		if r.End && r.Body != nil {
			plan.length = n
		}
		if r.Body != nil {
			r.Body.Close()
			r.Body = nil
		}
		if !r.End {
			s.flags |= dropsContent
		}
		return plan, r.End, nil
	case r.End:
		if declared >= 0 && declared != n {
			return plan, false, ErrContentLength
		}
		plan.length = n
		return plan, n == 0, nil
	case n > declared && declared >= 0:
		return plan, false, ErrContentLength
	}
	plan.length, s.toSend = declared, declared
	return plan, false, nil
}

// declaredLength returns the length that a head declares, -1 if it doesn't.
func declaredLength(h *http.Header, length int64) (int64, error) {
	if !h.HasField(http.FieldContentLength) {
		return length, nil
	}
	n := http.ParseContentLength(h.ValueOf(http.FieldContentLength))
	if n < 0 || h.Repeated(http.FieldContentLength) || length >= 0 && length != n {
		return -1, ErrContentLength
	}
	return n, nil
}

// WriteContent writes content behind the head that was written on its stream; it takes m
// over. See WriteResponse for wait.
func (c *Conn) WriteContent(m *http.Content) (wait *future.Promise[future.Void], err error) {
	s := c.stream(m.ID)
	if err := c.admitContent(s, m); err != nil {
		if err == ErrContentLength && m.End {
			// What was declared will never come, and the peer has to see that.
			c.Reset(m.ID, InternalError)
		}
		m.Close()
		return nil, err
	}
	return c.sendContent(s, m), nil
}

// admitContent says why content can't be written.
func (c *Conn) admitContent(s *stream, m *http.Content) error {
	n := m.Len()
	switch {
	case s == nil || s.is(endWritten):
		return ErrNoStream
	case !s.is(headSent):
		return ErrNoHead
	case s.is(noContent) && n > 0:
		return ErrContentNotAllowed
	case s.toSend >= 0 && !s.is(dropsContent) && (n > s.toSend || m.End && n != s.toSend):
		return ErrContentLength
	case m.Trailer != nil && !m.End:
		return ErrTrailer
	}
	return checkTrailer(m.Trailer)
}

// sendContent writes content that may be written.
func (c *Conn) sendContent(s *stream, m *http.Content) *future.Promise[future.Void] {
	n := m.Len()
	if s.is(dropsContent) && n > 0 {
		if m.Data != nil {
			m.Data.Close()
			m.Data = nil
		}
		if m.File != nil {
			_ = m.File.File.Close() // it was not even read
			m.File = nil
		}
		n = 0
	}
	if s.toSend >= 0 {
		s.toSend -= n
	}
	if m.End {
		s.flags |= endWritten
	}
	if n == 0 && !m.End {
		m.Close()
		return nil
	}
	if len(s.queue) == 0 && s.head == nil && c.inline(s, m, n) {
		return nil
	}
	if s.queued += n; s.queued > int64(c.o.WriteHigh) {
		s.flags |= unwritable
	}
	if wait := s.join(m); wait != nil {
		return wait
	}
	wait := future.NewPromise[future.Void](c.ex)
	wait.SetUncancellable() // parts of a message belong together
	s.queue = append(s.queue, chunk{m, wait})
	if len(s.queue) == 1 {
		s.progress, s.trickle = c.now, 0
		c.wantTick(c.o.StallTimeout)
	}
	c.schedule(s)
	return wait
}

// joined bounds the content that one entry of a queue has.
const joined = 16 << 10

// join appends content to what waits as the last in the queue, if both are small: many
// small pieces so become few frames. What tells the end of one then tells that of the other.
func (s *stream) join(m *http.Content) *future.Promise[future.Void] {
	if len(s.queue) == 0 || m.File != nil || m.Len() > inlineBody {
		return nil
	}
	last := &s.queue[len(s.queue)-1]
	if n := last.content.Len(); n == 0 || n > joined || last.content.File != nil {
		return nil
	}
	if m.Data != nil {
		last.content.Data.Append(m.Data)
		m.Data = nil
	}
	last.content.End = m.End
	last.content.Trailer, m.Trailer = m.Trailer, nil
	m.Close()
	return last.done
}

// inline sends small content at once if the windows have room, and reports whether it has.
func (c *Conn) inline(s *stream, m *http.Content, n int64) bool {
	if n > inlineBody || n > 0 && (m.File != nil || n > c.sendRoom(s) || n > c.sendWindow) {
		return false
	}
	dataEnds := m.End && m.Trailer == nil
	if n > 0 || dataEnds {
		out := c.room(FrameHeaderLen + int(n))
		out.Advance(len(appendDataHeader(out.Writable()[:0], s.id, int(n), dataEnds)))
		c.sent(s, n)
		for run := []byte(nil); n > 0; n -= int64(len(run)) {
			run = m.Data.Readable()
			out.Write(run)
			m.Data.Skip(len(run))
		}
	}
	if m.Trailer != nil {
		c.writeTrailer(s.id, m.Trailer)
	}
	end := m.End
	m.Close()
	if end {
		c.localEnd(s)
	}
	return true
}

// localEnd is called when END_STREAM has been written.
func (c *Conn) localEnd(s *stream) {
	s.flags |= localClosed | endWritten
	switch {
	case s.is(remoteClosed):
		c.finish(s)
	case s.is(resetAtEnd):
		c.resets.earn(1)
		c.reset(s, NoError, ErrNoStream)
	}
}

// Writable reports whether less than Options.WriteHigh bytes wait to be sent on a stream;
// false if there is no such stream. A producer that was told false waits for NextWritable to
// name the stream.
func (c *Conn) Writable(id uint64) bool {
	s := c.stream(id)
	return s != nil && !s.is(unwritable)
}

// Queued returns the bytes of content that wait to be sent on a stream.
func (c *Conn) Queued(id uint64) int64 {
	if s := c.stream(id); s != nil {
		return s.queued
	}
	return 0
}

// Reset ends a stream with RST_STREAM, unless it has ended: a server gives up, or a client
// wants no answer any more. What waits to be sent is dropped, and no message follows.
func (c *Conn) Reset(id uint64, code ErrCode) {
	s := c.stream(id)
	if s == nil || c.err != nil {
		return
	}
	c.reset(s, code, &StreamError{Code: code, Rule: "reset by this side"})
}

// GiveUp says that the rest of a request isn't wanted: its stream is reset, with NO_ERROR,
// when the answer has been sent (RFC 9113 section 8.1), if it is still open then.
func (c *Conn) GiveUp(id uint64) {
	s := c.stream(id)
	switch {
	case s == nil || c.err != nil || c.is(isClient):
	case s.is(localClosed):
		c.resets.earn(1)
		c.reset(s, NoError, ErrNoStream)
	default:
		s.flags |= resetAtEnd
	}
}

// Continue answers the request with 100 if its client waits for that.
func (c *Conn) Continue(id uint64) {
	s := c.stream(id)
	if s == nil || !s.is(awaitsContinue) {
		return
	}
	s.flags &^= awaitsContinue
	c.writeBlock(s.id, c.enc.AppendStatus(nil, 100), false)
}
