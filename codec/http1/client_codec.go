package http1

import (
	"errors"
	"io"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
)

// ClientOptions configures the codec of a client's connection. The zero value has every
// default.
type ClientOptions struct {
	// Limits bounds what a response may be; see http.Limits.
	Limits http.Limits
	// MaxInFlight is how many requests may wait for their responses; a write above it
	// fails with ErrBusy. Default 64. Servers answer pipelined requests in order, so a
	// slow one delays those behind it.
	MaxInFlight int
}

var (
	// ErrBusy fails the write of a request above MaxInFlight, or behind one that may turn
	// the connection into something else than HTTP.
	ErrBusy = errors.New("http1: too many requests in flight, or one that may end HTTP")
	// ErrNoResponse says that the server closed the connection while requests waited for
	// their responses. It wraps io.ErrUnexpectedEOF.
	ErrNoResponse error = &Error{Status: 502, Rule: "connection ended before the response", cause: io.ErrUnexpectedEOF}
)

// ClientCodec is the handler that makes a connection an HTTP/1.1 client's: it takes
// *http.Request and *http.Content messages, and passes on *http.Response and *http.Content
// messages. One codec serves one connection.
//
// Requests are numbered from 1 in the order in which they are written, whatever ID they
// have; a response, and its content, has the ID of its request. Interim responses (1xx) are
// passed on like others, and the final one has the same ID. A client that sends "Expect:
// 100-continue" waits for the 100 by itself before it writes the content.
//
// After a response whose CloseConn is set the codec closes the channel. What a server gets
// wrong, and an end of the connection in the middle of something, comes as an OnError that
// wraps io.ErrUnexpectedEOF or is an *Error; when it concerns the content of a response
// that was passed on, as a Content with Err set and without End. Then the channel closes.
//
// After a 101 to a request that offered an upgrade, or a 2xx to CONNECT, buffers pass both
// ways as they are, beginning with what had been received behind the response.
type ClientCodec struct {
	limits   http.Limits
	max      int
	ctx      *channel.Context
	in       *buffer.Buffer // received and not decoded, while decode runs
	enc      RequestEncoder
	dec      ResponseDecoder
	sent     uint64 // the ID of the request written last
	decoding bool
	closing  bool // the last response has CloseConn
	alone    bool // a request that may end HTTP waits for its response
	ended    bool
}

// NewClientCodec returns a codec for one connection.
func NewClientCodec(o ClientOptions) *ClientCodec {
	c := &ClientCodec{limits: o.Limits.Effective(), max: o.MaxInFlight}
	if c.max <= 0 {
		c.max = DefaultMaxInFlight
	}
	c.dec.limits = &c.limits
	return c
}

// InFlight returns the number of requests whose final response has not begun; on the loop
// only.
func (c *ClientCodec) InFlight() int { return c.dec.Awaiting() }

// LastID returns the ID of the request written last; on the loop only.
func (c *ClientCodec) LastID() uint64 { return c.sent }

// Idle reports whether the connection could be used for another request, with none in
// flight; on the loop only.
func (c *ClientCodec) Idle() bool {
	return !c.ended && !c.closing && !c.dec.Tunnel() && !c.enc.Open() &&
		c.dec.Awaiting() == 0 && c.dec.resp == nil && c.dec.body.phase == noBody
}

// Added is for the pipeline.
func (c *ClientCodec) Added(ctx *channel.Context) {
	mustBeNew(c.ctx)
	c.ctx = ctx
}

// mustBeNew panics when a codec is added again: it would mix the messages of two connections.
func mustBeNew(ctx *channel.Context) {
	if ctx != nil {
		panic("http1: codec: was added before, and one is for one connection")
	}
}

// Removed is for the pipeline.
func (c *ClientCodec) Removed(*channel.Context) {
	c.ended = true
	c.dec.Close()
	if c.in != nil && !c.decoding {
		c.in.Close()
		c.in = nil
	}
}

// Write takes requests. It owns msg.
func (c *ClientCodec) Write(ctx *channel.Context, msg any) channel.Future {
	switch m := msg.(type) {
	case *http.Request:
		return c.writeRequest(ctx, m)
	case *http.Content:
		if err := c.enc.CheckContent(m); err != nil {
			m.Close()
			if err == ErrContentShort {
				ctx.Close() // what was declared will never come
			}
			return failed(ctx, err)
		}
		return c.enc.writeData(ctx, nil, m)
	}
	if c.dec.Tunnel() {
		return ctx.Write(msg)
	}
	channel.Dispose(msg)
	return failed(ctx, ErrNotHTTP)
}

func (c *ClientCodec) writeRequest(ctx *channel.Context, r *http.Request) channel.Future {
	f, err := c.encodeRequest(ctx, r)
	r.Close()
	if err != nil {
		return failed(ctx, err)
	}
	return f
}

func (c *ClientCodec) encodeRequest(ctx *channel.Context, r *http.Request) (f channel.Future, err error) {
	switch {
	case c.ended || c.closing || c.dec.Tunnel():
		return f, ErrClosing
	case c.dec.Awaiting() >= c.max || c.alone:
		return f, ErrBusy
	}
	n := dataLen(r.Body)
	small := n <= inlineBody
	room := requestRoom(r)
	if small {
		room += int(n)
	}
	dst := ctx.Allocator().Allocate(room)
	if small {
		err = c.enc.AppendRequest(dst, r)
	} else {
		err = c.enc.AppendRequestHead(dst, r)
	}
	if err != nil {
		dst.Close()
		return f, err
	}
	upgrade := r.Header.HasField(http.FieldUpgrade)
	c.alone = upgrade || r.Method == http.MethodConnect
	c.dec.Sent(r.Method, upgrade)
	c.sent++
	if small {
		return ctx.Write(dst), nil
	}
	m := http.NewContent(r.Body, r.End)
	r.Body = nil
	return c.enc.writeData(ctx, dst, m), nil
}

// OnRead takes received buffers; other messages pass.
func (c *ClientCodec) OnRead(ctx *channel.Context, msg any) {
	b, ok := msg.(*buffer.Buffer)
	switch {
	case !ok, c.dec.Tunnel() && c.in == nil:
		ctx.FireRead(msg)
	case c.ended:
		b.Close()
	case c.in != nil: // a handler has panicked, or passes more in while it runs
		c.in.Append(b)
		if !c.decoding {
			c.decode(ctx)
		}
	default:
		c.in = b
		c.decode(ctx)
	}
}

// decode passes on what c.in holds. Handlers may do anything meanwhile.
func (c *ClientCodec) decode(ctx *channel.Context) {
	c.decoding = true
	defer c.panicked()
	for !c.ended && !c.dec.Tunnel() && !c.in.IsEmpty() && ctx.Channel().IsOpen() {
		inBody := c.dec.body.phase != noBody
		msg, err := c.dec.Next(c.in)
		if err != nil {
			c.fail(ctx, err, inBody)
			break
		}
		end := false
		switch m := msg.(type) {
		case *http.Response:
			if m.Status >= 200 || m.Status == 101 {
				c.alone = false
				c.closing = m.CloseConn
				end = m.End
			}
			ctx.FireRead(m)
		case *http.Content:
			end = m.End
			ctx.FireRead(m)
		}
		if end && c.closing {
			c.end(ctx)
		}
	}
	in := c.in
	c.in, c.decoding = nil, false
	if (c.dec.Tunnel() || ctx.Removed()) && !in.IsEmpty() {
		ctx.FireRead(in)
		return
	}
	in.Close()
}

// panicked is deferred by decode. When a handler has panicked, which is for the pipeline
// to deal with, what is left of the input must not be forgotten.
func (c *ClientCodec) panicked() {
	if !c.decoding {
		return
	}
	c.decoding = false
	_ = c.ctx.Loop().Execute(func() { // refused: the channel has ended with its loop
		if c.in != nil && !c.decoding {
			c.ctx.Contain(func() {
				c.decode(c.ctx)
				c.ctx.FireReadComplete()
			})
		}
	})
}

// fail reports an error, and closes: the rest of the input means nothing.
func (c *ClientCodec) fail(ctx *channel.Context, err error, inBody bool) {
	c.ended = true
	if inBody {
		m := http.NewContent(nil, false)
		m.ID, m.Err = c.dec.id, err
		ctx.FireRead(m)
	} else {
		ctx.FireError(err)
	}
	closeBehind(ctx)
}

// closeBehind closes the channel behind what was passed on, whose read batch ends with it.
func closeBehind(ctx *channel.Context) {
	ctx.FireReadComplete()
	ctx.Close()
}

// end deals with the end of the connection's input, and closes.
func (c *ClientCodec) end(ctx *channel.Context) {
	if c.ended || c.dec.Tunnel() {
		return
	}
	inBody := c.dec.body.phase != noBody
	msg, err := c.dec.Finish()
	switch {
	case err != nil:
		c.fail(ctx, err, inBody)
		return
	case msg != nil:
		ctx.FireRead(msg)
	}
	if c.ended {
		return
	}
	if c.dec.Awaiting() > 0 {
		c.fail(ctx, ErrNoResponse, false)
		return
	}
	c.ended = true
	closeBehind(ctx)
}

// OnShutdown is told that the server has ended its direction.
func (c *ClientCodec) OnShutdown(ctx *channel.Context, d channel.Direction) {
	if d == channel.Inbound {
		c.end(ctx)
	}
	ctx.FireShutdown(d)
}

// OnInactive is told that the channel has closed.
func (c *ClientCodec) OnInactive(ctx *channel.Context) {
	c.end(ctx)
	ctx.FireInactive()
}
