package http2

import (
	"time"

	"millrace.dev/buffer"
)

// Streams with content that may be sent stand in a ring. Each turn sends one DATA frame of
// the stream in front, which then goes to the end: a large answer takes as long as it needs,
// and a small one behind it waits for one frame of each other stream at most. A stream whose
// own window is closed leaves the ring until that opens. One that has only its end to send needs
// no window at all: it comes first.

// maxQuantum bounds a turn, and so frames, whatever the peer would take.
const maxQuantum = 16 << 10

// leastProgress is how many bytes the peer has to take within Options.StallTimeout, if as
// many wait: less is not progress but a way to keep a stream for ever.
const leastProgress = 4 << 10

// streamList is a list of streams, linked both ways: a peer may have any of them end.
type streamList struct {
	first, last *stream
}

func (l *streamList) add(s *stream) {
	if s.prev = l.last; l.last == nil {
		l.first = s
	} else {
		l.last.next = s
	}
	l.last = s
}

func (l *streamList) addFirst(s *stream) {
	if s.next = l.first; l.first == nil {
		l.last = s
	} else {
		l.first.prev = s
	}
	l.first = s
}

func (l *streamList) remove(s *stream) {
	if s.prev == nil {
		l.first = s.next
	} else {
		s.prev.next = s.next
	}
	if s.next == nil {
		l.last = s.prev
	} else {
		s.next.prev = s.prev
	}
	s.next, s.prev = nil, nil
}

// sendRoom returns what the peer takes on a stream.
func (c *Conn) sendRoom(s *stream) int64 { return int64(c.peer.window) + int64(s.send) }

// sent counts content against the windows.
func (c *Conn) sent(s *stream, n int64) {
	s.send -= sendWindow(n)
	c.sendWindow -= n
	if n > 0 {
		// Some peers update windows for every few KiB that they read.
		c.controls.earn(earnForFrame + int(n>>10))
	}
}

// schedule puts a stream into the ring if it has something to send that may be sent.
func (c *Conn) schedule(s *stream) {
	if s.is(inRing) || len(s.queue) == 0 || s.head != nil {
		return
	}
	switch {
	case s.queue[0].content.Len() == 0:
		c.ring.addFirst(s)
	case c.sendRoom(s) > 0:
		c.ring.add(s)
	default:
		return
	}
	s.flags |= inRing
	s.lined = uint32(c.now / time.Millisecond)
}

// Pull returns the next buffer that is to be sent, which the caller owns, or nil. With
// content set it goes on to content that waits in the streams, as far as the peer's windows
// allow; else it stops behind what has to be sent in any case.
func (c *Conn) Pull(content bool) *buffer.Buffer {
	c.answers = 0
	for content && len(c.ready) == 0 && c.err == nil && (c.out == nil || c.out.Len() < maxQuantum) {
		if !c.turn() {
			c.dropBlocked()
			break
		}
	}
	n := len(c.ready)
	c.lent = n == 1 // a frame's header comes first, then its content
	if n > 0 {
		b := c.ready[0]
		copy(c.ready, c.ready[1:])
		c.ready[n-1] = nil
		c.ready = c.ready[:n-1]
		return b
	}
	b := c.out
	if b == nil || b.IsEmpty() {
		return nil
	}
	c.out = nil
	return b
}

// dropBlocked ends the streams that wait for a window when none can be given any more.
func (c *Conn) dropBlocked() {
	if !c.is(noMoreInput) {
		return
	}
	c.streams.each(func(s *stream) {
		if len(s.queue) > 0 {
			c.tell(s, errLost)
			c.reset(s, Cancel, errLost)
		}
	})
}

// turn sends one frame of the stream in front, and reports whether it could.
func (c *Conn) turn() bool {
	for s := c.takeTurn(); s != nil; s = c.takeTurn() {
		s.flags &^= inRing
		n := s.queue[0].content.Len()
		room := max(0, min(c.sendRoom(s), c.sendWindow, int64(c.peer.maxFrame), maxQuantum))
		if n > 0 && room == 0 {
			continue // it comes back with its window
		}
		c.sendFrame(s, min(n, room))
		return true
	}
	return false
}

// takeTurn takes the stream whose turn it is out of the ring. While the connection's window is
// closed that is one that has to end without more content, and the others keep their places.
func (c *Conn) takeTurn() *stream {
	s := c.ring.first
	if s == nil || c.sendWindow <= 0 && s.queue[0].content.Len() > 0 {
		return nil
	}
	c.ring.remove(s)
	s.progress = min(s.progress+c.waited(s), c.now)
	return s
}

// waited returns how long a stream has been waiting for its turn, the connection's window being
// open: no fault of the peer's.
func (c *Conn) waited(s *stream) time.Duration {
	lined := time.Duration(uint32(c.now/time.Millisecond)-s.lined) * time.Millisecond
	return min(lined, c.now-c.timing.opened)
}

// sendFrame writes n bytes of the chunk in front as a DATA frame, with what follows if that
// is its end.
func (c *Conn) sendFrame(s *stream, n int64) {
	ch := s.queue[0]
	m := ch.content
	whole := n == m.Len()
	dataEnds := whole && m.End && m.Trailer == nil
	if s.trickle += int32(n); whole || s.trickle >= leastProgress {
		s.progress, s.trickle = c.now, 0
		c.timing.sent = c.now
	}
	if n > 0 || dataEnds {
		if !c.sendData(s, n, dataEnds) {
			c.tell(s, errFile)
			c.reset(s, InternalError, errFile)
			return
		}
	}
	if !whole {
		c.schedule(s)
		return
	}
	c.settle(ch.done, nil)
	end := m.End
	if m.Trailer != nil {
		c.writeTrailer(s.id, m.Trailer)
	}
	m.Close()
	last := copy(s.queue, s.queue[1:])
	s.queue[last] = chunk{}
	s.queue = s.queue[:last]
	if end {
		c.localEnd(s)
		return
	}
	c.schedule(s)
}

var errFile = &StreamError{Code: InternalError, Rule: "file could not be read"}

// sendData writes a DATA frame with n bytes of the chunk in front. It reports false if they
// could not be read from their file.
func (c *Conn) sendData(s *stream, n int64, end bool) bool {
	m := s.queue[0].content
	var data *buffer.Buffer
	switch {
	case n == 0:
	case m.File != nil:
		// Frames stand between the pieces of a file, so that sendfile(2) would save little:
		// no more is read at once than is sent.
		data = c.alloc.Allocate(int(n))
		if got, _ := m.File.File.ReadAt(data.Writable()[:n], m.File.Offset); int64(got) < n {
			data.Close()
			return false
		}
		data.Advance(int(n))
		m.File.Offset += n
		m.File.Count -= n
	case int64(m.Data.Len()) == n:
		data, m.Data = m.Data, nil
	default:
		data = m.Data.Split(int(n))
	}
	if c.out == nil {
		c.out = c.alloc.Allocate(headerRoom)
	}
	out := c.room(FrameHeaderLen)
	c.commit(appendDataHeader(out.Writable()[:0], s.id, int(n), end))
	if data != nil {
		c.ready = append(c.ready, out, data)
		c.out = nil
	}
	c.sent(s, n)
	if s.queued -= n; s.is(unwritable) && s.queued <= int64(c.o.WriteLow) {
		s.flags &^= unwritable
		c.writable = append(c.writable, s.id)
	}
	return true
}

// headerRoom is the size of a buffer that is for a frame header, and perhaps another.
const headerRoom = 64

// NextWritable returns a stream that has become writable again, 0 if there is none; each is
// returned once.
func (c *Conn) NextWritable() uint64 {
	for len(c.writable) > 0 {
		id := c.writable[0]
		c.writable = c.writable[:copy(c.writable, c.writable[1:])]
		if s := c.streams.get(id); s != nil && !s.is(unwritable|endWritten) {
			return uint64(id)
		}
	}
	return 0
}
