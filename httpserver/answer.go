package httpserver

import (
	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/future"
)

// The answer is given to the codec at once. What it refuses (a field that can't be sent, more
// content than was declared) it answers itself, with a 500 if nothing of the answer was
// sent, and the future fails.

// Respond answers with the whole content, of which it makes a copy. The content type is left
// out if it is empty.
func (x *Exchange) Respond(status int, contentType string, content []byte) channel.Future {
	if head := x.conn.shard.heads.of(status, contentType); head != nil && x.refusal() == nil {
		return x.send(x.req.RespondHead(head, content))
	}
	var b *buffer.Buffer
	if len(content) > 0 && x.state&(sStarted|sAnswered) == 0 {
		b = x.Allocator().Allocate(len(content))
		b.Write(content)
	}
	return x.RespondBuffer(status, contentType, b)
}

// RespondBuffer answers with the whole content, which it takes over; it may be nil.
func (x *Exchange) RespondBuffer(status int, contentType string, content *buffer.Buffer) channel.Future {
	r := http.NewResponse(status)
	if contentType != "" {
		r.Header.AddField(http.FieldContentType, contentType)
	}
	r.Body = content
	return x.send(r)
}

// RespondWith answers with r, which it takes over: complete, with Body or without.
func (x *Exchange) RespondWith(r *http.Response) channel.Future {
	r.End = true
	return x.send(r)
}

// RespondFixed answers with one that is always the same, which costs a copy only.
func (x *Exchange) RespondFixed(f *http.Fixed) channel.Future {
	if err := x.refusal(); err != nil {
		return future.Failed[future.Void](x.conn.ctx.Loop(), err)
	}
	return x.send(x.req.RespondFixed(f))
}

// Start begins an answer with its head r, and Body as the first content if there is any; it
// takes r over. Write and End follow. Without a declared length the content is chunked. A
// status below 200 is an interim answer, which another Start may follow.
//
// A client that waits before it sends the content is asked for it, unless the status is an
// error's: who answers in pieces mostly reads meanwhile.
func (x *Exchange) Start(r *http.Response) channel.Future {
	r.End = r.Status < 200
	x.hold()
	if x.is(sExpects) && r.Status >= 200 && r.Status < 400 && x.headRefusal(r) == nil {
		x.state &^= sExpects
		x.conn.askForContent(x)
	}
	f := x.sendHead(r)
	x.letGo()
	return f
}

// hold keeps x from being recycled while a part of the answer is written: what that leads to may
// end x. letGo ends it.
func (x *Exchange) hold() { x.depth++ }

func (x *Exchange) letGo() {
	x.depth--
	x.settle()
}

// send writes a head.
func (x *Exchange) send(r *http.Response) channel.Future {
	x.hold()
	f := x.sendHead(r)
	x.letGo()
	return f
}

// sendHead is send for who holds x.
func (x *Exchange) sendHead(r *http.Response) channel.Future {
	c := x.conn
	if err := x.headRefusal(r); err != nil {
		r.Close()
		if err == ErrUpgrade { // an answer that never comes would keep the connection for ever
			x.RespondBuffer(501, "text/plain; charset=utf-8", buffer.CopyString("501 Not Implemented\n"))
		}
		return future.Failed[future.Void](c.ctx.Loop(), err)
	}
	r.ID = x.id
	end := false
	if r.Status == 100 && x.is(sExpects) { // a handler asks for the content by itself
		x.state &^= sExpects
		x.lastIn = c.ctx.Loop().Now()
	}
	if r.Status >= 200 {
		x.state |= sStarted
		end = r.End
		c.proto.head(x, r)
	}
	return x.put(r, true, end)
}

// put writes a part of the answer; head says which part it is, end that it is the last. The
// caller holds x.
func (x *Exchange) put(msg any, head, end bool) channel.Future {
	f := x.conn.write(msg)
	if end {
		x.state |= sAnswered
	}
	if f.IsFailed() && !x.is(sOver) {
		x.conn.proto.refused(x, head, f.Err())
	}
	if end && !x.is(sOver) {
		x.abandonBody()
	}
	return f
}

// refusal says why nothing more can be written.
func (x *Exchange) refusal() error {
	if x.state&(sAnswered|sOver) != 0 {
		return ErrAnswered
	}
	return nil
}

// headRefusal says why the head r can't be written.
func (x *Exchange) headRefusal(r *http.Response) error {
	switch {
	case x.state&(sAnswered|sOver) != 0:
		return ErrAnswered
	case x.is(sStarted):
		return ErrStarted
	case r.Status == 101, x.is(sConnect) && r.Status >= 200 && r.Status < 300 && !x.conn.proto.multiplexes():
		return ErrUpgrade
	}
	return nil
}

// Write sends content of an answer that was started, and takes it over. The future succeeds
// when the transport has taken the bytes; nothing is allocated for it unless earlier
// requests are yet to be answered. Nothing needs to be flushed, here or elsewhere: the server
// does so at the end of a batch. See IsWritable for back pressure.
func (x *Exchange) Write(content *buffer.Buffer) channel.Future {
	return x.content(http.NewContent(content, false))
}

// End ends an answer that was started. The trailer fields, which may be nil, are sent if the
// content is chunked; End takes them over.
func (x *Exchange) End(trailer *http.Header) channel.Future {
	m := http.NewContent(nil, true)
	m.Trailer = trailer
	return x.content(m)
}

// SendFile answers with a piece of a file, by sendfile(2) where the transport can. It takes
// r and region over; the file is closed when it was sent, or failed to be.
func (x *Exchange) SendFile(r *http.Response, region *channel.FileRegion) channel.Future {
	r.End, r.ContentLength = false, region.Count
	started := x.send(r)
	if x.state&(sStarted|sAnswered) != sStarted {
		region.Close()
		return started
	}
	return x.content(http.NewFileContent(region.File, region.Offset, region.Count, true))
}

// WriteFile is Write for a piece of a file, by sendfile(2) where the transport can. It takes
// region over; the file is closed when it was sent, or failed to be.
func (x *Exchange) WriteFile(region *channel.FileRegion) channel.Future {
	return x.content(http.NewFileContent(region.File, region.Offset, region.Count, false))
}

func (x *Exchange) content(m *http.Content) channel.Future {
	err := x.refusal()
	if err == nil && !x.is(sStarted) {
		err = ErrNotStarted
	}
	if err != nil {
		m.Close()
		return future.Failed[future.Void](x.conn.ctx.Loop(), err)
	}
	m.ID = x.id
	x.hold()
	f := x.put(m, false, m.End)
	x.letGo()
	return f
}

// IsWritable reports whether less waits to be sent than the high watermark, of the channel or,
// with HTTP/2, of the stream (http2.Options.WriteHigh). Who writes long answers stops when it is
// false, and goes on in OnWritable.
func (x *Exchange) IsWritable() bool { return !x.is(sOver) && x.conn.proto.writable(x) }

// OnWritable has fn called, on the loop, each time that the channel or stream has become
// writable again. fn may be nil.
func (x *Exchange) OnWritable(fn func(x *Exchange)) { x.onWritable = fn }

// Abort breaks off in the middle of an answer, or instead of one: the connection is closed,
// with HTTP/2 the stream reset.
func (x *Exchange) Abort() {
	if x.refusal() == nil {
		x.conn.proto.abort(x)
	}
}
