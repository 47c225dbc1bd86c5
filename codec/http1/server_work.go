package http1

import "sync"

// work is what a codec needs while a request is arriving or unanswered. Most connections of
// a server are idle most of the time, and do without.
type work struct {
	held      []heldAnswer // answers that came before their turn
	linger    *linger
	expect    uint64 // the ID of the request whose client waits for a 100, or 0
	discarded int64  // bytes of input thrown away
	exchanges exchanges
	enc       ResponseEncoder
	dec       RequestDecoder
}

var works = sync.Pool{New: func() any { return new(work) }}

// begin ends the idleness of a connection.
func (c *ServerCodec) begin() {
	if c.work != nil {
		return
	}
	w := works.Get().(*work)
	w.dec.limits, w.dec.memo, w.dec.id = &c.o.Limits, c.memo, c.next-1
	w.exchanges.flags = w.exchanges.inline[:0]
	c.work = w
}

// rest gives the work back if there is nothing that it is needed for.
func (c *ServerCodec) rest() {
	w := c.work
	if w == nil || c.decoding || c.releasing || c.in != nil || c.state != serving || c.noInput || c.finishing {
		return
	}
	if w.exchanges.len() > 0 || !w.dec.Idle() || w.dec.blank > 0 || w.enc.Open() || len(w.held) > 0 {
		return
	}
	c.work = nil
	*w = work{}
	works.Put(w)
}
