package http2

import (
	"millrace.dev/channel"
	"millrace.dev/codec/http"
)

// ClientOptions configures the codec of a client's connection. The zero value has every
// default.
type ClientOptions struct {
	Options
	// Secure makes requests whose target is no absolute URL ones for https.
	Secure bool
}

// ClientCodec is the handler that makes a connection an HTTP/2 client's: it takes
// *http.Request and *http.Content messages, and passes on *http.Response and *http.Content
// messages with the ID of the stream. LastID tells the stream of the request that was
// written last: an answer cannot come before Write has returned.
//
// Requests beyond the server's limit of streams wait for their turn. A stream that fails
// gets a Content with Err set, in place of what is missing of its response, possibly all of
// it; errors.Is finds ErrUnprocessed in it when the server has certainly done nothing for
// the request, so that it can be sent again on another connection, as it does in ErrClosing
// and ErrBusy, with which writes fail. Err with the code NO_ERROR behind a
// whole response only says that the server wants no more of the request.
type ClientCodec struct {
	codec
	secure bool
}

// NewClientCodec returns a codec for one connection.
func NewClientCodec(o ClientOptions) *ClientCodec {
	e := o.Options.effective(true)
	c := &ClientCodec{secure: o.Secure}
	c.o = &e
	return c
}

// Added is for the pipeline.
func (c *ClientCodec) Added(ctx *channel.Context) {
	c.setUp(ctx)
	c.conn.becomeClient(c.secure)
	c.start()
}

// LastID returns the stream of the request written last; on the loop only.
func (c *ClientCodec) LastID() uint64 { return c.lastID }

// Open reports whether the connection takes requests; on the loop only.
func (c *ClientCodec) Open() bool {
	return c.state == serving && !c.conn.is(goingAway|peerGoingAway) && c.conn.err == nil && c.conn.nextID <= maxStreamID
}

// Write takes requests. It owns msg.
func (c *ClientCodec) Write(ctx *channel.Context, msg any) channel.Future {
	if c.state != serving {
		channel.Dispose(msg)
		return failed(ctx, ErrClosing)
	}
	c.conn.now = ctx.Loop().Now()
	switch m := msg.(type) {
	case *http.Request:
		id, wait, err := c.conn.WriteRequest(m)
		if err == nil {
			c.lastID = id
		}
		return c.done(wait, err)
	case *http.Content:
		return c.done(c.conn.WriteContent(m))
	}
	channel.Dispose(msg)
	return failed(ctx, ErrNotHTTP)
}
