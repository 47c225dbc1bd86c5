package http2

import (
	"time"

	"millrace.dev/channel"
	"millrace.dev/codec/http"
)

// ServerOptions configures the codecs of a server's connections. The zero value has every
// default.
type ServerOptions struct {
	Options
	// ManualContinue leaves it to a handler to answer "Expect: 100-continue", by writing a
	// Response with status 100. By default the codec does, unless the request is answered
	// when it is passed on.
	ManualContinue bool
	// Date gives the Date field; nil makes one for all codecs of these options that asks
	// time.Now.
	Date *http.Date
	// NoDate leaves the Date field out.
	NoDate bool
}

// ServerCodecs makes the codecs of a server's connections, which share their options. Any
// goroutine may use it.
type ServerCodecs struct{ o ServerOptions }

// NewServerCodecs fills in the defaults of o.
func NewServerCodecs(o ServerOptions) *ServerCodecs {
	o.Options = o.Options.effective(false)
	switch {
	case o.NoDate:
		o.Date = nil
	case o.Date == nil:
		o.Date = http.NewDate(time.Now)
	}
	return &ServerCodecs{o}
}

// New returns the codec for one connection.
func (s *ServerCodecs) New() *ServerCodec {
	c := &ServerCodec{}
	c.o, c.date = &s.o.Options, s.o.Date
	if s.o.ManualContinue {
		c.flags |= manualContinue
	}
	return c
}

// NewServerCodec returns a codec for one connection with options of its own.
func NewServerCodec(o ServerOptions) *ServerCodec { return NewServerCodecs(o).New() }

// ServerCodec is the handler that makes a connection an HTTP/2 server's. It passes on
// *http.Request and *http.Content messages and takes *http.Response and *http.Content
// messages, as http1.ServerCodec does; the ID of a message is its stream's, which a message
// that is written must have. Conn says what they mean.
//
// Many requests are under way at once, and answered in any order. A Content with Err set
// tells that a stream has ended before its time, also when its request was complete: a
// *StreamError if the client has reset it or broken a rule, a *ConnError with which the
// connection ends, or an error that wraps io.ErrUnexpectedEOF if it was lost. Writes to such
// a stream fail with ErrNoStream.
//
// Answers leave at the next Flush, content of all streams in turn. Content that the client
// does not take yet waits in its stream; Writable, and the event of that name, hold its
// producer to Options.WriteHigh bytes, stream by stream. The future of a write succeeds
// once the transport has taken all of it.
//
// A connection whose client breaks the protocol is ended with GOAWAY. Timeouts that the codec
// keeps itself are those of Options; Phase is for others.
type ServerCodec struct{ codec }

// Added is for the pipeline.
func (c *ServerCodec) Added(ctx *channel.Context) {
	c.setUp(ctx)
	c.start()
}

// Write takes answers. It owns msg.
func (c *ServerCodec) Write(ctx *channel.Context, msg any) channel.Future {
	if c.state != serving {
		channel.Dispose(msg)
		return failed(ctx, ErrClosing)
	}
	c.conn.now = ctx.Loop().Now()
	switch m := msg.(type) {
	case *http.Response:
		return c.done(c.conn.WriteResponse(m))
	case *http.Content:
		return c.done(c.conn.WriteContent(m))
	}
	channel.Dispose(msg)
	return failed(ctx, ErrNotHTTP)
}

// Phase is what a connection is doing, for timeouts.
type Phase uint8

const (
	// PhaseIdle: no stream is open, no request arriving.
	PhaseIdle Phase = iota
	// PhaseHead: a header block has begun to arrive, of a request or a trailer.
	PhaseHead
	// PhaseActive: there are streams.
	PhaseActive
	// PhaseOther: the connection is closing.
	PhaseOther
)

// Phase returns what the connection is doing and, for PhaseIdle and PhaseHead, since when on
// the loop's clock. On the loop only.
func (c *ServerCodec) Phase() (p Phase, since time.Duration) {
	switch {
	case c.state != serving:
		return PhaseOther, c.conn.timing.idle
	case c.conn.block.open:
		return PhaseHead, c.conn.timing.block
	case c.conn.streams.n > 0:
		return PhaseActive, c.conn.timing.idle
	}
	return PhaseIdle, c.conn.timing.idle
}
