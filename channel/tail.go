package channel

import "millrace.dev/buffer"

// Tail returns the buffer that was written last, if up to room bytes may be appended to it
// in place of a Write: it has the room, it was not flushed, and no handler is in between. A
// codec that encodes the answers of a batch so saves a buffer and a copy for each. The
// caller appends to it, and to nothing else, and then calls Appended; it stays the channel's.
// nil means that it has to Write.
func (c *Context) Tail(room int) *buffer.Buffer {
	ch := c.ch
	s := ch.queue.store
	if c.prevWrite != nil || s == nil || len(s.entries) <= s.flushed || ch.wholeMessage ||
		ch.state == closed || ch.outputState != outputOpen {
		return nil
	}
	t, ok := s.entries[len(s.entries)-1].msg.(*buffer.Buffer)
	if !ok || t.IsClosed() || len(t.Writable()) < room {
		return nil
	}
	return t
}

// Appended counts n bytes that were appended to Tail as a write, and returns its future.
func (c *Context) Appended(n int) Future {
	ch := c.ch
	q := &ch.queue
	q.next++
	q.bytes += int64(n)
	q.store.entries[len(q.store.entries)-1].last = q.next
	ch.addPending(int64(n))
	return ch.writeFuture(q.next)
}

// NextWrite returns the future of the next Write from this context, for a handler that keeps
// what is written to it until it writes it as one. That write has to follow, or the channel to
// close. ok is false if a handler nearer to the transport takes writes, which may make several
// of one: a promise takes the future's place then.
func (c *Context) NextWrite() (f Future, ok bool) {
	if c.before(capWrite) != nil {
		return Future{}, false
	}
	return c.ch.writeFuture(c.ch.queue.next + 1), true
}
