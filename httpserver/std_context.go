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

// Err returns context.Canceled once the context was cancelled, or what its base says.
func (c *requestContext) Err() error {
	if err := c.conn.std.ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flags&fCancelled != 0 {
		return context.Canceled
	}
	return nil
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
		if c.flags&fCancelled != 0 {
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
	if base.Done() == nil {
		return
	}
	e := (*stdExchange)(c)
	if r := e.seldom(); r.stopBase == nil {
		r.stopBase = context.AfterFunc(base, func() {
			e.mu.Lock()
			e.cancel()
			e.mu.Unlock()
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
	if c.flags&fCancelled != 0 {
		go f()
		return func() bool { return false }
	}
	c.followBase()
	r := (*stdExchange)(c).seldom()
	a.next = r.after
	r.after = a
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for at := &r.after; *at != nil; at = &(*at).next {
			if *at == a {
				*at = a.next
				return true
			}
		}
		return false
	}
}

// cancel cancels the context; mu is held.
func (e *stdExchange) cancel() {
	if e.flags&fCancelled != 0 {
		return
	}
	e.flags |= fCancelled
	if e.ctxDone != nil {
		close(e.ctxDone)
	}
	r := e.rare
	if r == nil {
		return
	}
	for a := r.after; a != nil; a = a.next {
		go a.f()
	}
	r.after = nil
	if r.stopBase != nil {
		r.stopBase()
		r.stopBase = nil
	}
}
