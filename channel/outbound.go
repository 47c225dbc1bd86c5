package channel

import "net"

// The outbound methods start an operation at the handler's place and pass it towards the
// head. They never panic: see guard.go.

// Write passes msg, and with it its ownership, towards the transport. What is written is
// sent at the next Flush. The future succeeds when the transport has taken every byte.
func (c *Context) Write(msg any) Future {
	n := c.prevWrite
	if n == nil {
		if n = c.before(capWrite); n == nil {
			return c.ch.enqueue(msg)
		}
	}
	ch := c.ch
	if !ch.outbound {
		return ch.enterWrite(n, msg)
	}
	// As in outWrite, whose call would cost two nanoseconds a hop.
	was := ch.current
	ch.current = n
	f := n.write.Write(n, msg)
	ch.current = was
	return f
}

// Flush asks for everything written so far to be sent. It is a signal: flushes within one
// read batch or loop turn are gathered into one system call.
func (c *Context) Flush() { c.ch.outFlush(c.before(capFlush)) }

// WriteAndFlush is Write followed by Flush.
func (c *Context) WriteAndFlush(msg any) Future {
	f := c.Write(msg)
	c.Flush()
	return f
}

// Read asks the transport for input: one read batch, or with AutoRead all that comes.
func (c *Context) Read() { c.ch.outRead(c.before(capOutRead)) }

// Bind binds the channel to a local address.
func (c *Context) Bind(local net.Addr) Future { return c.ch.outBind(c.before(capBind), local) }

// Connect connects the channel; local may be nil.
func (c *Context) Connect(remote, local net.Addr) Future {
	return c.ch.outConnect(c.before(capConnect), remote, local)
}

// Disconnect undoes Connect; a stream channel closes.
func (c *Context) Disconnect() Future { return c.ch.outDisconnect(c.before(capDisconnect)) }

// Close closes the channel. What was flushed before is offered to the transport once
// more; writes that it can't take fail with ErrClosed.
func (c *Context) Close() Future { return c.ch.outClose(c.before(capClose)) }

// Shutdown ends one direction. Outbound takes effect once everything flushed before has
// been sent; later writes fail with ErrOutputShutdown.
func (c *Context) Shutdown(direction Direction) Future {
	return c.ch.outShutdown(c.before(capOutShutdown), direction)
}

// Register attaches the channel to its loop's I/O.
func (c *Context) Register() Future { return c.ch.outRegister(c.before(capRegister)) }

// Deregister detaches the channel from its loop's I/O without closing it.
func (c *Context) Deregister() Future { return c.ch.outDeregister(c.before(capDeregister)) }

// SendEvent passes an outbound user event towards the head, where it fails with
// ErrUnsupportedEvent.
func (c *Context) SendEvent(event any) Future {
	return c.ch.outSendEvent(c.before(capSendEvent), event)
}

// The out functions run an operation at n, the handler that takes it, or at the head when
// there is none.

func (ch *Channel) outWrite(n *Context, msg any) Future {
	switch {
	case n == nil:
		return ch.enqueue(msg)
	case !ch.outbound:
		return ch.enterWrite(n, msg)
	}
	was := ch.current
	ch.current = n
	f := n.write.Write(n, msg)
	ch.current = was
	return f
}

func (ch *Channel) outFlush(n *Context) {
	switch {
	case n == nil:
		ch.requestFlush()
	case !ch.outbound:
		ch.enterFlush(n)
	default:
		was := ch.current
		ch.current = n
		n.handler.(FlushHandler).Flush(n)
		ch.current = was
	}
}

func (ch *Channel) outRead(n *Context) {
	if n == nil {
		ch.beginRead()
		return
	}
	ch.guardOutbound(n, nil, func() Future {
		n.handler.(OutboundReadHandler).Read(n)
		return Future{}
	})
}

func (ch *Channel) outBind(n *Context, local net.Addr) Future {
	if n == nil {
		return ch.bind(local)
	}
	return ch.guardOutbound(n, nil, func() Future { return n.handler.(BindHandler).Bind(n, local) })
}

func (ch *Channel) outConnect(n *Context, remote, local net.Addr) Future {
	if n == nil {
		return ch.connect(remote, local)
	}
	return ch.guardOutbound(n, nil, func() Future { return n.handler.(ConnectHandler).Connect(n, remote, local) })
}

func (ch *Channel) outDisconnect(n *Context) Future {
	if n == nil {
		return ch.close(ErrClosed)
	}
	return ch.guardOutbound(n, nil, func() Future { return n.handler.(DisconnectHandler).Disconnect(n) })
}

func (ch *Channel) outClose(n *Context) Future {
	if n == nil {
		return ch.close(ErrClosed)
	}
	return ch.guardOutbound(n, nil, func() Future { return n.handler.(CloseHandler).Close(n) })
}

func (ch *Channel) outShutdown(n *Context, d Direction) Future {
	if n == nil {
		return ch.shutdown(d)
	}
	return ch.guardOutbound(n, nil, func() Future { return n.handler.(OutboundShutdownHandler).Shutdown(n, d) })
}

func (ch *Channel) outRegister(n *Context) Future {
	if n == nil {
		return ch.register()
	}
	return ch.guardOutbound(n, nil, func() Future { return n.handler.(RegisterHandler).Register(n) })
}

func (ch *Channel) outDeregister(n *Context) Future {
	if n == nil {
		return ch.deregister()
	}
	return ch.guardOutbound(n, nil, func() Future { return n.handler.(DeregisterHandler).Deregister(n) })
}

func (ch *Channel) outSendEvent(n *Context, event any) Future {
	if n == nil {
		Dispose(event)
		return ch.failed(ErrUnsupportedEvent)
	}
	return ch.guardOutbound(n, event, func() Future { return n.handler.(SendEventHandler).SendEvent(n, event) })
}
