package http2

import (
	"millrace.dev/codec/http"
	"millrace.dev/future"
)

// assumedStreams is the limit before the server has told its own, RFC 9113 section 6.5.2.
const assumedStreams = 100

// WriteRequest writes a request and takes it over. It returns the stream's identifier, which
// its response and its Contents have as ID. A request for which the server allows no stream
// yet waits, with the content that is written behind it, until one ends; it fails with
// ErrBusy when too many wait, and with ErrClosing once the connection is going away. Both
// say that nothing was sent. See WriteResponse for wait.
//
// The target is a path, with a Host field beside it, or an absolute URL.
func (c *Conn) WriteRequest(r *http.Request) (id uint64, wait *future.Promise[future.Void], err error) {
	t, length, err := c.admitRequest(r)
	if err != nil {
		r.Close()
		return 0, nil, err
	}
	waits := c.nWait > 0 || !c.mayOpen()
	s := c.open(c.nextID)
	c.nextID += 2
	s.flags |= told
	s.progress = c.now
	switch r.Method {
	case http.MethodHead:
		s.flags |= isHead
	case http.MethodConnect:
		s.flags |= isConnect
	}
	id = uint64(s.id)
	var body *http.Content
	if r.Body != nil && r.Body.Len() > 0 {
		body = http.NewContent(r.Body, r.End)
		r.Body = nil
	}
	if !r.End {
		s.toSend = length
	}
	if waits {
		r.ContentLength = length
		s.head = r
		s.flags |= headSent
		if r.End && body == nil {
			s.flags |= endWritten
		}
		c.waiting.add(s)
		c.nWait++
	} else {
		c.sendRequest(s, r, t, length, r.End && body == nil)
		r.Close()
	}
	if body != nil {
		wait = c.sendContent(s, body)
	}
	return id, wait, nil
}

// admitRequest says why a request can't be written.
func (c *Conn) admitRequest(r *http.Request) (t target, length int64, err error) {
	switch {
	case !c.is(isClient) || c.err != nil || c.is(peerGoingAway) || c.is(goingAway) || c.nextID > maxStreamID:
		return t, 0, ErrClosing
	case c.nWait >= c.o.MaxWaiting && (c.nWait > 0 || !c.mayOpen()):
		return t, 0, ErrBusy
	}
	if err := r.Header.Err(); err != nil {
		return t, 0, err
	}
	if t, err = c.targetOf(r); err != nil {
		return t, 0, err
	}
	if r.Method == http.MethodConnect && t.path != nil && !c.peer.connect {
		return t, 0, ErrInvalidMessage // RFC 8441 section 3: the server has not offered it
	}
	declared, err := declaredLength(&r.Header, r.ContentLength)
	if err != nil {
		return t, 0, err
	}
	n := int64(0)
	if r.Body != nil {
		n = int64(r.Body.Len())
	}
	switch {
	case r.Method == http.MethodConnect:
		declared = -1
	case r.End && declared >= 0 && declared != n && !(declared == 0 && r.Body == nil), !r.End && declared >= 0 && n > declared:
		return t, 0, ErrContentLength
	case r.End && (n > 0 || r.Body != nil || r.Header.HasField(http.FieldContentLength)):
		declared = n
	case r.End:
		declared = -1
	}
	return t, declared, nil
}

// sendRequest writes a head.
func (c *Conn) sendRequest(s *stream, r *http.Request, t target, length int64, end bool) {
	c.Start(c.now)
	b := blocks.Get().(*[]byte)
	block := c.appendRequest(*b, r, t, length)
	c.writeBlock(s.id, block, end)
	releaseBlock(b, block)
	s.flags |= headSent
	if end {
		s.flags |= localClosed | endWritten
	}
}

// mayOpen reports whether the server takes one more stream.
func (c *Conn) mayOpen() bool {
	limit := min(c.peer.maxStreams, c.o.MaxStreams)
	if !c.is(sawSettings) {
		limit = min(limit, assumedStreams)
	}
	return uint32(c.streams.n-c.nWait) < limit
}

// openWaiting sends requests that wait, as far as the server's limit allows by now.
func (c *Conn) openWaiting() {
	for c.nWait > 0 && c.err == nil && !c.is(peerGoingAway) && c.mayOpen() {
		s := c.waiting.first
		c.waiting.remove(s)
		c.nWait--
		r := s.head
		s.head = nil
		s.progress = c.now
		t, _ := c.targetOf(r) // it was valid
		c.sendRequest(s, r, t, r.ContentLength, r.End && len(s.queue) == 0)
		r.Close()
		if c.schedule(s); len(s.queue) > 0 {
			c.wantTick(c.o.StallTimeout) // Tick has not looked at it so far
		}
	}
}
