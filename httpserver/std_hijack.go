package httpserver

import (
	"bufio"
	"errors"
	"net"
	nethttp "net/http"
)

// ErrPipelined fails a hijack while other requests of the connection wait for their answers.
var ErrPipelined = errors.New("httpserver: hijack: other requests of the connection are not answered")

// Hijack takes the connection out of the server's hands, for http.Hijacker. What has been
// written of an answer is sent before. The returned Conn works over the channel: its
// deadlines, CloseWrite and back pressure are those of any net.Conn, Write returns when the
// loop was given the bytes, and Close lets them be sent first. Content of the request that
// was not read is the first that the Conn reads. What the client sends behind a request that
// offers no upgrade is its next request until the hijack, and not the Conn's.
func (w *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	e := (*stdExchange)(w)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.flags&fHijacked != 0:
		return nil, nil, nethttp.ErrHijacked
	case e.flags&fEnded != 0:
		return nil, nil, ErrAnswered
	}
	if e.flags&fWroteHeader != 0 {
		if err := e.flush(); err != nil {
			return nil, nil, err
		}
	}
	e.flags |= fHijack
	r := e.seldom()
	r.hijackErr = nil
	e.post()
	for r.hijacked == nil && r.hijackErr == nil {
		if e.err != nil {
			return nil, nil, e.err
		}
		e.wait()
	}
	if r.hijacked == nil {
		return nil, nil, r.hijackErr
	}
	e.flags |= fHijacked
	nc := r.hijacked
	return nc, bufio.NewReadWriter(bufio.NewReader(nc), bufio.NewWriter(nc)), nil
}

// hijack is the loop's part of it.
func (e *stdExchange) hijack() {
	nc, err := e.conn.hijack(e)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rare.hijacked, e.rare.hijackErr = nc, err
	e.notify()
}

func (c *conn) hijack(e *stdExchange) (*netConn, error) {
	x := e.x
	if x == nil {
		return nil, errConnLost
	}
	codec := c.http1()
	if codec == nil {
		return nil, nethttp.ErrNotSupported
	}
	if c.first != x || x.next != nil {
		return nil, ErrPipelined
	}
	if c.proto.over() {
		return nil, errConnLost
	}
	nc := newNetConn(c)
	nc.receive(e.takeUnread())
	x.state &^= sStopped
	x.resumeReading()
	c.remove(x)
	x.recycle()
	c.std.hijacked = nc
	c.timer.Stop()
	c.proto = nil
	if err := c.ctx.Pipeline().RemoveHandler(codec); err != nil { // it passes on what it holds
		return nil, err
	}
	if c.ctx.Channel().InputClosed() {
		nc.inputEnded(nil)
	}
	return nc, nil
}
