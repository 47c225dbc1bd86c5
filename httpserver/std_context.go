package httpserver

import (
	"context"
	nethttp "net/http"
	"time"
)

// ServerContextKey is the key of the *Server in the contexts of net/http requests.
// http.LocalAddrContextKey works too; http.ServerContextKey does not, as there is no
// *http.Server.
var ServerContextKey = &contextKey{"millrace-http-server"}

type contextKey struct{ name string }

func (k *contextKey) String() string { return k.name }

// requestContext is the context of a request. It is cancelled when the client goes away and
// when the handler has returned. Nothing is allocated for it until somebody asks for Done.
type requestContext stdExchange

// Deadline is that of the base context.
func (c *requestContext) Deadline() (time.Time, bool) { return c.conn.std.ctx.Deadline() }

// Err returns context.Canceled once the context was cancelled.
func (c *requestContext) Err() error {
	c.mu.Lock()
	err := c.ctxErr
	c.mu.Unlock()
	if err == nil {
		err = c.conn.std.ctx.Err()
	}
	return err
}

// Value knows the server and the connection's local address.
func (c *requestContext) Value(key any) any {
	switch key {
	case ServerContextKey:
		return c.conn.shard.server
	case nethttp.LocalAddrContextKey:
		return c.conn.ctx.Channel().LocalAddr()
	}
	return c.conn.std.ctx.Value(key)
}

// String describes the context as those of package context do.
func (c *requestContext) String() string { return "httpserver.requestContext" }

var closedChan = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Done returns a channel that is closed on cancellation.
func (c *requestContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctxDone == nil {
		if c.ctxErr != nil {
			return closedChan
		}
		c.ctxDone = make(chan struct{})
		c.followBase()
	}
	return c.ctxDone
}

// followBase has the context cancelled with its base, from when that matters.
func (c *requestContext) followBase() {
	base := c.conn.std.ctx
	if base.Done() != nil && c.stopBase == nil {
		c.stopBase = context.AfterFunc(base, func() {
			c.mu.Lock()
			(*stdExchange)(c).cancelWith(base.Err())
			c.mu.Unlock()
		})
	}
}

// afterFunc is a function to be called on cancellation.
type afterFunc struct {
	next *afterFunc
	f    func()
}

// AfterFunc has f called on a goroutine of its own once the context is cancelled. Package
// context uses it for derived contexts, which otherwise would need a goroutine each.
func (c *requestContext) AfterFunc(f func()) (stop func() bool) {
	a := &afterFunc{f: f}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctxErr != nil {
		go f()
		return func() bool { return false }
	}
	c.followBase()
	a.next = c.after
	c.after = a
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for at := &c.after; *at != nil; at = &(*at).next {
			if *at == a {
				*at = a.next
				return true
			}
		}
		return false
	}
}

// cancel cancels the context; mu is held.
func (e *stdExchange) cancel() { e.cancelWith(context.Canceled) }

func (e *stdExchange) cancelWith(err error) {
	if e.ctxErr != nil {
		return
	}
	e.ctxErr = err
	if e.ctxDone != nil {
		close(e.ctxDone)
	}
	for a := e.after; a != nil; a = a.next {
		go a.f()
	}
	e.after = nil
	if e.stopBase != nil {
		e.stopBase()
		e.stopBase = nil
	}
}
