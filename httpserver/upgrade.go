package httpserver

import (
	"millrace.dev/channel"
	"millrace.dev/codec/http"
)

// Upgrade ends HTTP on the connection: it answers with r, a 101 or a 2xx to CONNECT, which
// it takes over, and gives the pipeline to install, which adds the handlers that take the
// bytes from then on, those behind the request included. The server's own handlers leave the
// pipeline, and with them its timeouts. If install fails the connection is closed.
//
// The Exchange is over when Upgrade succeeds. Requests before it have to be answered first;
// otherwise, with HTTP/2, or if the codec refuses r, an error is returned and, where it still can be,
// the request is to be answered in another way.
func (x *Exchange) Upgrade(r *http.Response, install func(p *channel.Pipeline) error) error {
	c := x.conn
	if err := x.refusal(); err != nil || x.is(sStarted) || c.first != x || c.http1() == nil {
		r.Close()
		if err == nil {
			err = ErrUpgrade
		}
		return err
	}
	r.ID, r.End = x.id, true
	f := c.ctx.Write(r)
	if err := f.Err(); err != nil {
		return err
	}
	x.state |= sStarted | sAnswered | sBodyEnd
	c.ctx.Flush()
	p := c.ctx.Pipeline()
	if err := install(p); err != nil {
		c.ctx.Close()
		return err
	}
	return c.leavePipeline()
}

// leavePipeline takes the server's handlers out of the pipeline; the codec last, because it
// then passes on what it holds.
func (c *conn) leavePipeline() error {
	p := c.ctx.Pipeline()
	if err := p.RemoveHandler(c); err != nil {
		return err
	}
	if err := p.RemoveHandler(c.http1()); err != nil {
		return err
	}
	return nil
}
