package channel

// The Fire methods pass an inbound event to the next handler that takes it. They note the
// handler that runs, so that the one recover at the pipeline's entry knows whose panic it
// has caught.

// FireRegistered passes OnRegistered on.
func (c *Context) FireRegistered() {
	if n := c.after(capRegistered); n != nil {
		n.call(c, func(n *Context) { n.handler.(RegisteredHandler).OnRegistered(n) })
	}
}

// FireActive passes OnActive on.
func (c *Context) FireActive() {
	if n := c.after(capActive); n != nil {
		n.call(c, func(n *Context) { n.handler.(ActiveHandler).OnActive(n) })
	}
}

// FireRead passes msg, and with it its ownership, to the next ReadHandler. At the tail it
// is closed and logged.
func (c *Context) FireRead(msg any) {
	// Kept within the compiler's budget for inlining: it makes a hop one call, not two.
	n := c.nextRead
	c.ch.current = n
	c.readTo.OnRead(n, msg)
	c.ch.current = c
}

// FireReadComplete passes OnReadComplete on.
func (c *Context) FireReadComplete() {
	n := c.after(capReadComplete)
	switch {
	case n == nil:
	case c.ch.outbound:
		n.call(c, func(n *Context) { n.handler.(ReadCompleteHandler).OnReadComplete(n) })
	default: // as in call, without the call
		c.ch.current = n
		n.handler.(ReadCompleteHandler).OnReadComplete(n)
		c.ch.current = c
	}
}

// lineEnd stands where no handler is linked: at the tail, and behind a removed handler,
// which walks on from where it used to stand. The Context is that of the handler before.
type lineEnd struct{}

func (lineEnd) OnRead(c *Context, msg any) {
	if c.removed {
		if n := c.after(capRead); n != nil {
			n.call(c, func(n *Context) { n.handler.(ReadHandler).OnRead(n, msg) })
			return
		}
	}
	c.ch.unhandledMessage(msg)
}

// duplexRead stands before the next handler's OnRead where the handler before it takes
// outbound operations as well: it may come from inside of one. Only there is it asked, since
// FireRead has to stay small.
type duplexRead struct{ to ReadHandler }

func (d *duplexRead) OnRead(n *Context, msg any) {
	if n.ch.outbound {
		n.ch.inbound(func() { d.to.OnRead(n, msg) })
		return
	}
	d.to.OnRead(n, msg)
}

// FireEvent passes a user event on. At the tail an event with a Close method is closed.
func (c *Context) FireEvent(event any) {
	n := c.after(capEvent)
	if n == nil {
		Dispose(event)
		return
	}
	n.call(c, func(n *Context) { n.handler.(EventHandler).OnEvent(n, event) })
}

// FireWritability passes OnWritability on.
func (c *Context) FireWritability(writable bool) {
	if n := c.after(capWritability); n != nil {
		n.call(c, func(n *Context) { n.handler.(WritabilityHandler).OnWritability(n, writable) })
	}
}

// FireShutdown passes OnShutdown on.
func (c *Context) FireShutdown(direction Direction) {
	if n := c.after(capShutdown); n != nil {
		n.call(c, func(n *Context) { n.handler.(ShutdownHandler).OnShutdown(n, direction) })
	}
}

// FireInactive passes OnInactive on.
func (c *Context) FireInactive() {
	if n := c.after(capInactive); n != nil {
		n.call(c, func(n *Context) { n.handler.(InactiveHandler).OnInactive(n) })
	}
}

// FireUnregistered passes OnUnregistered on.
func (c *Context) FireUnregistered() {
	if n := c.after(capUnregistered); n != nil {
		n.call(c, func(n *Context) { n.handler.(UnregisteredHandler).OnUnregistered(n) })
	}
}

// FireError passes err to the next ErrorHandler. At the tail it is logged, and the
// channel is closed.
func (c *Context) FireError(err error) {
	n := c.after(capError)
	if n == nil {
		c.ch.unhandledError(err)
		return
	}
	n.call(c, func(n *Context) { n.handler.(ErrorHandler).OnError(n, err) })
}

// call runs an event of n while noting that n runs; from is the handler that passed it on.
// Within an outbound operation the event is an entry of its own: a panic of n is n's error,
// and the operation goes on.
func (n *Context) call(from *Context, event func(*Context)) {
	ch := n.ch
	if ch.outbound {
		ch.inbound(func() {
			ch.current = n
			event(n)
		})
		return
	}
	ch.current = n
	event(n)
	ch.current = from
}
