package http1

import (
	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/future"
)

// heldAnswer is a part of an answer whose turn has not come.
type heldAnswer struct {
	id      uint64
	msg     any
	size    int64 // counted as held by the channel
	promise *future.Promise[future.Void]
}

// inlineBody is up to how many bytes content is copied into the buffer of its head, which
// is cheaper than handing the kernel another buffer.
const inlineBody = 2 << 10

// pipelinedRoom is the size of an answer's buffer when more input waits: the channel
// gathers the small answers behind it into its room.
const pipelinedRoom = 4 << 10

// Write takes answers. It owns msg.
func (c *ServerCodec) Write(ctx *channel.Context, msg any) channel.Future {
	switch m := msg.(type) {
	case *http.Response:
		if m.ID == 0 {
			m.ID = c.next
		}
		if err := c.admit(m.ID); err != nil {
			m.Close()
			return failed(ctx, err)
		}
		if m.ID == c.next {
			return c.writeResponse(ctx, m)
		}
		m.Expand(ctx.Allocator())
		return c.hold(ctx, m.ID, m, responseSize(m))
	case *http.Content:
		if m.ID == 0 {
			m.ID = c.next
		}
		if err := c.admit(m.ID); err != nil {
			m.Close()
			return failed(ctx, err)
		}
		if m.ID == c.next {
			return c.writeContent(ctx, m)
		}
		return c.hold(ctx, m.ID, m, m.Len())
	}
	if c.state == tunnel {
		return ctx.Write(msg)
	}
	channel.Dispose(msg)
	return failed(ctx, ErrNotHTTP)
}

func failed(ctx *channel.Context, err error) channel.Future {
	return future.Failed[future.Void](ctx.Loop(), err)
}

// responseSize is about what an answer takes while it is held.
func responseSize(r *http.Response) int64 { return int64(fieldsLen(&r.Header)) + dataLen(r.Body) }

// admit says why an answer can't be taken.
func (c *ServerCodec) admit(id uint64) error {
	switch i := id - c.next; {
	case c.state != serving:
		return ErrClosing
	case i >= uint64(c.InFlight()): // also the ones before next
		return ErrNotAwaited
	case c.exchanges.flags[i]&exRefused != 0:
		return ErrRefused
	}
	return nil
}

// hold keeps a part of an answer until its turn.
func (c *ServerCodec) hold(ctx *channel.Context, id uint64, msg any, size int64) channel.Future {
	p := future.NewPromise[future.Void](ctx.Loop())
	p.SetUncancellable() // parts of an answer belong together
	c.held = append(c.held, heldAnswer{id, msg, size, p})
	ctx.Channel().Hold(size)
	return p.Future()
}

// writeResponse writes the answer, or an interim answer, of the oldest request.
func (c *ServerCodec) writeResponse(ctx *channel.Context, r *http.Response) channel.Future {
	x := c.exchanges.flags[0]
	if f := r.Fixed(); f != nil {
		content, addLength := r.FixedContent()
		if x == exKeepAlive && !r.CloseConn && r.End && r.Header.Len() == 0 && len(content) <= inlineBody &&
			c.expect != r.ID && !c.draining && !c.enc.Open() {
			return c.writeFixed(ctx, r, f, content, addLength)
		}
		r.Expand(ctx.Allocator())
	}
	final := r.Status >= 200
	switch {
	case final:
		c.beforeFinal(ctx, r, x)
	case r.Status == 101:
		if x&exUpgrade == 0 {
			r.Close()
			return failed(ctx, ErrSwitch)
		}
	case x&exHTTP10 != 0, r.Status == 100 && c.expect != r.ID:
		// RFC 9110 section 15.2: no interim answer to HTTP/1.0. And a client that has not
		// asked for a 100, or has had it, needs none.
		r.Close()
		return channel.Future{}
	case r.Status == 100:
		c.expect = 0
	}
	f, err := c.encodeResponse(ctx, r, x)
	if err != nil {
		r.Close()
		if final && !c.enc.Open() && x&exRefused == 0 { // nothing of an answer has been sent
			c.answerFault(ctx, err)
		}
		return failed(ctx, err)
	}
	tunnels := r.Status == 101 || x&exConnect != 0 && final && r.Status < 300
	r.Close()
	if tunnels {
		c.enc = ResponseEncoder{}
		c.beginTunnel(ctx)
		return f
	}
	if !final || c.enc.Open() {
		return f
	}
	c.advance(ctx, f)
	return f
}

// writeFixed writes an answer that needs nothing but a date.
func (c *ServerCodec) writeFixed(ctx *channel.Context, r *http.Response, f *http.Fixed, content []byte, addLength bool) channel.Future {
	head, dated := f.HTTP1Head()
	room := len(head) + maxLengthLine + http.DateLineLen + len("\r\n") + len(content)
	dst := ctx.Tail(room)
	inPlace := dst != nil
	if !inPlace {
		dst = c.allocate(ctx, room)
	}
	p := append(dst.Writable()[:0], head...)
	if addLength {
		p = http.AppendContentLength(p, len(content))
	}
	if !dated && c.o.Date != nil {
		p = append(p, c.o.Date.Line(ctx.Loop().Now())...)
	}
	p = append(p, "\r\n"...)
	p = append(p, content...)
	commit(dst, p)
	r.Close()
	c.enc.closing = false
	var done channel.Future
	if inPlace {
		done = ctx.Appended(len(p))
	} else {
		done = ctx.Write(dst)
	}
	c.advance(ctx, done)
	return done
}

// allocate returns a buffer for an answer of up to room bytes.
func (c *ServerCodec) allocate(ctx *channel.Context, room int) *buffer.Buffer {
	if c.decoding && c.in != nil && !c.in.IsEmpty() {
		room = max(room, pipelinedRoom)
	}
	return ctx.Allocator().Allocate(room)
}

// beforeFinal settles what depends on there being a final answer.
func (c *ServerCodec) beforeFinal(ctx *channel.Context, r *http.Response, x exchangeFlags) {
	if c.expect == r.ID {
		if !r.End && r.Status < 400 && !c.o.ManualContinue {
			c.continueIfDue(ctx) // an answer that is streamed while the content comes
		} else {
			// The client may or may not send the content now: RFC 9110 section 10.1.1.
			r.CloseConn = true
			c.expect = 0
		}
	}
	if x&exConnect != 0 && r.Status >= 300 || c.draining && c.exchanges.len() == 1 {
		// A client that believed in its tunnel may have sent bytes that look like requests.
		r.CloseConn = true
	}
}

// encodeResponse writes a head and the content that comes with it. On an error nothing
// has been written.
func (c *ServerCodec) encodeResponse(ctx *channel.Context, r *http.Response, x exchangeFlags) (channel.Future, error) {
	var date []byte
	if c.o.Date != nil {
		date = c.o.Date.Line(ctx.Loop().Now())
	}
	n := dataLen(r.Body)
	small := n <= inlineBody
	room := responseRoom(r)
	if small {
		room += int(n)
	}
	if small {
		if tail := ctx.Tail(room); tail != nil {
			had := tail.Len()
			if err := c.enc.AppendResponse(tail, r, x.exchange(), date); err != nil {
				return channel.Future{}, err
			}
			return ctx.Appended(tail.Len() - had), nil
		}
	}
	dst := c.allocate(ctx, room)
	var err error
	if small {
		err = c.enc.AppendResponse(dst, r, x.exchange(), date)
	} else {
		err = c.enc.AppendResponseHead(dst, r, x.exchange(), date)
	}
	if err != nil {
		dst.Close()
		return channel.Future{}, err
	}
	if small || !c.enc.Open() {
		return ctx.Write(dst), nil
	}
	m := http.NewContent(r.Body, r.End)
	r.Body = nil
	return c.enc.writeData(ctx, dst, m), nil
}

// writeData writes dst, which may be nil, and then content that CheckContent has allowed.
// Small content is copied behind dst, large content goes in its own buffer.
func (w *contentWriter) writeData(ctx *channel.Context, dst *buffer.Buffer, m *http.Content) (f channel.Future) {
	n := m.Len()
	if w.Drops() {
		w.appendAfter(nil, n, m.End, nil)
		m.Close()
		if dst != nil {
			f = ctx.Write(dst)
		}
		return f
	}
	if dst == nil && (w.mode == contentChunked || n == 0) {
		room := maxChunkHead + w.afterLen(m.End, m.Trailer)
		if m.Data != nil && n <= inlineBody {
			room += int(n)
		}
		dst = ctx.Allocator().Allocate(room)
	}
	if dst != nil {
		w.AppendContentHead(dst, m)
		if (m.File == nil || n == 0) && n <= inlineBody {
			if m.Data != nil {
				appendData(dst, m.Data)
			}
			w.AppendContentTail(dst, m)
			m.Close()
			return writeUnlessEmpty(ctx, dst)
		}
		writeUnlessEmpty(ctx, dst)
	}
	var tail *buffer.Buffer
	if w.mode == contentChunked {
		tail = ctx.Allocator().Allocate(w.afterLen(m.End, m.Trailer))
		w.AppendContentTail(tail, m)
	} else {
		w.appendAfter(nil, n, m.End, nil) // only chunks have anything behind them
	}
	if m.File != nil {
		f = ctx.Write(&channel.FileRegion{File: m.File.File, Offset: m.File.Offset, Count: m.File.Count})
		m.File = nil
	} else {
		f = ctx.Write(m.Data)
		m.Data = nil
	}
	m.Close()
	if tail != nil {
		f = ctx.Write(tail)
	}
	return f
}

func writeUnlessEmpty(ctx *channel.Context, b *buffer.Buffer) channel.Future {
	if b.IsEmpty() {
		b.Close()
		return channel.Future{}
	}
	return ctx.Write(b)
}

// writeContent writes content of the oldest request's answer.
func (c *ServerCodec) writeContent(ctx *channel.Context, m *http.Content) channel.Future {
	if err := c.enc.CheckContent(m); err != nil {
		m.Close()
		if err == ErrContentShort {
			// What was declared will never come: the client has to see that.
			c.abort(ctx)
		}
		return failed(ctx, err)
	}
	f := c.enc.writeData(ctx, nil, m)
	if !c.enc.Open() {
		c.advance(ctx, f)
	}
	return f
}

// advance goes on after the oldest request was answered; f is the answer's last write.
func (c *ServerCodec) advance(ctx *channel.Context, f channel.Future) {
	c.exchanges.pop()
	c.next++
	if c.exchanges.len() == 0 && !c.partial {
		c.since = ctx.Loop().Now()
	}
	if c.enc.Closing() {
		c.finish(ctx, f)
		return
	}
	if len(c.held) > 0 && !c.releasing {
		c.release(ctx)
		if c.state != serving {
			return
		}
	}
	if c.exchanges.len() == 0 {
		if c.finishing || c.draining && c.quiet() {
			c.finish(ctx, f)
			return
		}
	} else if x := c.exchanges.flags[0]; x&exRefused != 0 && x&exError == 0 && !c.enc.Open() {
		c.abort(ctx) // it was cut short, so nobody can answer it
		return
	}
	if c.expect != 0 {
		c.continueIfDue(ctx)
	}
	if c.in != nil || c.holdsRead {
		c.resume(ctx)
	}
	c.rest()
}

// release writes held answers as far as their turn has come.
func (c *ServerCodec) release(ctx *channel.Context) {
	c.releasing = true
	for i := 0; i < len(c.held); {
		h := c.held[i]
		if h.id != c.next {
			i++
			continue
		}
		c.held = append(c.held[:i], c.held[i+1:]...)
		ctx.Channel().Release(h.size)
		before := c.next
		var f channel.Future
		switch m := h.msg.(type) {
		case *http.Response:
			f = c.writeResponse(ctx, m)
		case *http.Content:
			f = c.writeContent(ctx, m)
		}
		f.CascadeTo(h.promise)
		if c.next != before {
			i = 0
		}
	}
	if len(c.held) == 0 {
		c.held = nil
	}
	c.releasing = false
}

// dropHeld fails everything that is held.
func (c *ServerCodec) dropHeld(err error) {
	held := c.held
	c.held = nil
	for _, h := range held {
		c.dropOne(h, err)
	}
}

func (c *ServerCodec) dropOne(h heldAnswer, err error) {
	c.ctx.Channel().Release(h.size)
	channel.Dispose(h.msg)
	h.promise.TryFail(err)
}

// dropHeldFor fails what is held of one answer.
func (c *ServerCodec) dropHeldFor(id uint64, err error) {
	var dropped []heldAnswer
	kept := c.held[:0]
	for _, h := range c.held {
		if h.id == id {
			dropped = append(dropped, h)
		} else {
			kept = append(kept, h)
		}
	}
	clear(c.held[len(kept):])
	c.held = kept
	for _, h := range dropped {
		c.dropOne(h, err)
	}
}

// beginTunnel steps aside. Bytes that have been received are passed on when the handler
// that wrote the answer has returned.
func (c *ServerCodec) beginTunnel(ctx *channel.Context) {
	c.state = tunnel
	c.exchanges.pop()
	c.next++
	c.dec.Close()
	c.dropHeld(ErrClosing)
	c.resume(ctx)
}
