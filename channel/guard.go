package channel

import (
	"fmt"
	"runtime/debug"
)

// Panics are contained with one recover at each entry into the pipeline, not one a
// handler: a recover costs more than passing an event on. Channel.current says which
// handler was running.
//
// An inbound panic becomes the OnError of the handler that panicked. An outbound panic is
// logged, its message disposed of, its future failed, and the channel closed: the caller
// of an outbound operation never sees it.
//
// An inbound event within an outbound operation has a recover of its own, so that neither
// is taken for the other. A handler that takes no operations is not looked at: if another
// calls it from one of its own, and it passes messages on, it does so by Deliver.

// PanicError is a panic in a handler, as given to its OnError and to failed futures.
type PanicError struct {
	Handler string // the handler's name in the pipeline
	Value   any    // what was given to panic
	Stack   []byte // the goroutine's stack at the panic
}

// Error names the handler and the panic's value.
func (e *PanicError) Error() string {
	return fmt.Sprintf("channel: handler %q panicked: %v", e.Handler, e.Value)
}

// Unwrap returns the panic's value if it was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// newPanicError must be called from the deferred function that recovered.
func newPanicError(running *Context, value any) *PanicError {
	e := &PanicError{Value: value, Stack: debug.Stack()}
	if running != nil {
		e.Handler = running.name
	}
	return e
}

// inbound runs one cold inbound event, fire, with panics contained. It may come within an
// outbound operation, such as OnShutdown within Shutdown, whose entry would be the wrong
// one to recover what a handler writes there.
func (ch *Channel) inbound(fire func()) {
	was, outbound := ch.current, ch.outbound
	ch.outbound = false
	ch.contained(was, fire)
	ch.outbound = outbound
}

func (ch *Channel) contained(was *Context, fire func()) {
	defer ch.leaveInbound(was)
	fire()
}

// Contain runs f as if an event had reached the handler, for work that doesn't come from
// one: a timer, a task, a future's listener. A panic of a handler that f passes an event to
// becomes that handler's OnError, one of f itself the OnError of this handler.
func (c *Context) Contain(f func()) {
	c.ch.inbound(func() {
		c.ch.current = c
		f()
	})
}

// Deliver is FireRead for a handler that makes many messages out of one, and has to go on
// with the next whatever becomes of this: a panic further on becomes the OnError of the
// handler that it happened in, and Deliver returns.
func (c *Context) Deliver(msg any) {
	if c.ch.outbound {
		c.ch.inbound(func() { c.deliver(msg) })
		return
	}
	c.deliver(msg)
}

func (c *Context) deliver(msg any) {
	ch := c.ch
	defer ch.leaveInbound(ch.current)
	ch.current = c.nextRead
	c.readTo.OnRead(c.nextRead, msg)
}

// leaveInbound is deferred by every entry of an inbound event.
func (ch *Channel) leaveInbound(was *Context) {
	running := ch.current
	ch.current = was
	if v := recover(); v != nil {
		ch.outbound = false
		ch.deliverPanic(running, newPanicError(running, v))
	}
}

// deliverPanic gives a panic to the OnError of the handler that it happened in, or to the
// next one. A second panic there closes the channel.
func (ch *Channel) deliverPanic(running *Context, err *PanicError) {
	was := ch.current
	defer func() {
		if v := recover(); v != nil {
			second := newPanicError(ch.current, v)
			ch.current = was
			ch.Logger().Error("handler panicked while it handled an error; closing the channel",
				"channel", ch, "handler", second.Handler, "panic", v, "stack", string(second.Stack))
			ch.close(second)
		}
	}()
	switch {
	case running == nil:
		ch.fireError(err)
	case running.caps&capError != 0 && !running.removed:
		ch.current = running
		running.handler.(ErrorHandler).OnError(running, err)
	default:
		running.FireError(err)
	}
	ch.current = was
}

// enterWrite runs n's Write as the entry of an outbound run.
func (ch *Channel) enterWrite(n *Context, msg any) (f Future) {
	defer ch.leaveOutbound(ch.current, msg, ch.queue.next, &f)
	ch.outbound = true
	ch.current = n
	return n.write.Write(n, msg)
}

// enterFlush runs n's Flush as the entry of an outbound run.
func (ch *Channel) enterFlush(n *Context) {
	var f Future
	defer ch.leaveOutbound(ch.current, nil, 0, &f)
	ch.outbound = true
	ch.current = n
	n.handler.(FlushHandler).Flush(n)
}

// guardOutbound runs a cold outbound operation of handler n. Inside an outbound run it
// adds no recover of its own.
func (ch *Channel) guardOutbound(n *Context, msg any, op func() Future) (f Future) {
	was := ch.current
	if ch.outbound {
		ch.current = n
		f = op()
		ch.current = was
		return f
	}
	defer ch.leaveOutbound(was, msg, ch.queue.next, &f)
	ch.outbound = true
	ch.current = n
	return op()
}

// leaveOutbound is deferred by every entry of an outbound operation. written is the number
// of the last write before it.
func (ch *Channel) leaveOutbound(was *Context, msg any, written uint64, f *Future) {
	running := ch.current
	ch.outbound = false
	ch.current = was
	if v := recover(); v != nil {
		err := newPanicError(running, v)
		ch.Logger().Error("outbound handler panicked; closing the channel",
			"channel", ch, "handler", err.Handler, "panic", v, "stack", string(err.Stack))
		// What has reached the queue is the queue's: msg, or what a handler made of it. It
		// may be closed by now and its memory in use again, so msg is not touched then.
		if msg != nil && written == ch.queue.next {
			disposeUnlessClosed(msg)
		}
		ch.close(err)
		*f = ch.failed(err)
	}
}
