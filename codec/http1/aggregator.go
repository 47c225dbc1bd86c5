package http1

import (
	"errors"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
)

// ErrAggregateLimit is the error of a response whose content is larger than its Aggregator
// takes.
var ErrAggregateLimit = errors.New("http1: content larger than the aggregator's limit")

// Aggregator is a handler that makes whole messages out of a Request or Response and its
// Contents: what it passes on has End set, all content in Body and trailers in Trailer. It
// stands behind a ServerCodec or a ClientCodec, one for each connection. With HTTP/2, where
// messages come mixed, it stands in the channel of a stream (http2.Multiplex).
//
// A request whose content is larger than the limit, declared or counted, is answered with
// 413 and closes the connection; a client that asked first ("Expect: 100-continue") then
// never sends it. A response that is larger comes as OnError with ErrAggregateLimit, and
// the channel closes. A message that is cut short is not passed on; for a response, OnError
// says why.
//
// Content is not copied but collected: small pieces are gathered, large ones linked. Nothing
// is allocated because of a declared length.
type Aggregator struct {
	limit    int64
	request  *http.Request
	response *http.Response
	body     *buffer.Buffer
	size     int64
	skip     uint64 // the ID of a message whose contents are thrown away, or 0
	added    bool
}

// NewAggregator returns an aggregator for up to limit bytes of content a message.
func NewAggregator(limit int64) *Aggregator { return &Aggregator{limit: limit} }

// Added is for the pipeline.
func (a *Aggregator) Added(*channel.Context) {
	if a.added {
		panic("http1: aggregator: was added before, and one is for one connection")
	}
	a.added = true
}

// OnRead collects messages.
func (a *Aggregator) OnRead(ctx *channel.Context, msg any) {
	switch m := msg.(type) {
	case *http.Request:
		a.begin()
		switch {
		case m.End:
			ctx.FireRead(m)
		case m.ContentLength > a.limit:
			a.refuse(ctx, m)
		default:
			a.request = m
		}
	case *http.Response:
		a.begin()
		switch {
		case m.End:
			ctx.FireRead(m)
		case m.ContentLength > a.limit:
			a.skip = m.ID
			m.Close()
			a.fail(ctx, ErrAggregateLimit)
		default:
			a.response = m
		}
	case *http.Content:
		a.content(ctx, m)
	default:
		ctx.FireRead(msg)
	}
}

// begin forgets what a panic further on may have left.
func (a *Aggregator) begin() {
	a.skip = 0
	a.drop()
}

// content takes a piece of the message that is being collected.
func (a *Aggregator) content(ctx *channel.Context, c *http.Content) {
	switch {
	case !a.collects(c.ID):
		// Of a message that was refused; otherwise somebody else's.
		if a.skip != 0 && a.skip == c.ID {
			c.Close()
			return
		}
		ctx.FireRead(c)
		return
	case c.Err != nil:
		err, response := c.Err, a.response != nil
		a.drop()
		c.Close()
		if response {
			ctx.FireError(err)
		}
		return
	}
	if a.size += c.Len(); a.size > a.limit {
		c.Close()
		a.tooLarge(ctx)
		return
	}
	a.collect(c)
	if c.End {
		a.complete(ctx, c)
	}
	c.Close()
}

// collects reports whether id is that of the message that is being collected.
func (a *Aggregator) collects(id uint64) bool {
	return a.request != nil && a.request.ID == id || a.response != nil && a.response.ID == id
}

// collect takes the data over.
func (a *Aggregator) collect(c *http.Content) {
	switch {
	case c.Data == nil || c.Data.IsEmpty():
	case a.body == nil:
		a.body = c.Data
		c.Data = nil
	default:
		a.body.Append(c.Data)
		c.Data = nil
	}
}

// complete passes the whole message on.
func (a *Aggregator) complete(ctx *channel.Context, c *http.Content) {
	body, size, trailer := a.body, a.size, c.Trailer
	request, response := a.request, a.response
	a.body, a.size, a.request, a.response, c.Trailer = nil, 0, nil, nil, nil
	if request != nil {
		request.Body, request.ContentLength, request.Trailer, request.End = body, size, trailer, true
		ctx.FireRead(request)
		return
	}
	response.Body, response.ContentLength, response.Trailer, response.End = body, size, trailer, true
	ctx.FireRead(response)
}

// tooLarge gives up the message that is being collected.
func (a *Aggregator) tooLarge(ctx *channel.Context) {
	if r := a.request; r != nil {
		a.request = nil
		a.drop()
		a.refuse(ctx, r)
		return
	}
	a.skip = a.response.ID
	a.drop()
	a.fail(ctx, ErrAggregateLimit)
}

// refuse answers a request with 413, RFC 9110 section 15.5.14.
func (a *Aggregator) refuse(ctx *channel.Context, r *http.Request) {
	a.skip = r.ID
	resp := r.Respond(413)
	resp.CloseConn = true
	r.Close()
	ctx.WriteAndFlush(resp)
}

func (a *Aggregator) fail(ctx *channel.Context, err error) {
	ctx.FireError(err)
	ctx.Close()
}

// drop lets go of what was collected.
func (a *Aggregator) drop() {
	if a.request != nil {
		a.request.Close()
		a.request = nil
	}
	if a.response != nil {
		a.response.Close()
		a.response = nil
	}
	if a.body != nil {
		a.body.Close()
		a.body = nil
	}
	a.size = 0
}

// Removed is for the pipeline.
func (a *Aggregator) Removed(*channel.Context) { a.drop() }
