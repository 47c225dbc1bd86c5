package channel

import (
	"errors"
	"fmt"
	"io"
	"net"
)

// Inbound events that start at the head, and what becomes of those that reach the tail.

// fire passes an event to the first handler that takes it, with panics contained. It reports
// whether there is one.
func (ch *Channel) fire(event capability, deliver func(n *Context)) bool {
	n := ch.pipeline.firstWith(event)
	if n == nil {
		return false
	}
	ch.inbound(func() {
		ch.current = n
		deliver(n)
	})
	return true
}

func (ch *Channel) fireRegistered() {
	ch.fire(capRegistered, func(n *Context) { n.handler.(RegisteredHandler).OnRegistered(n) })
}

func (ch *Channel) fireActive() {
	ch.fire(capActive, func(n *Context) { n.handler.(ActiveHandler).OnActive(n) })
}

func (ch *Channel) fireInactive() {
	ch.fire(capInactive, func(n *Context) { n.handler.(InactiveHandler).OnInactive(n) })
}

func (ch *Channel) fireUnregistered() {
	if ch.toldOfStart {
		ch.toldOfStart = false
		ch.fire(capUnregistered, func(n *Context) { n.handler.(UnregisteredHandler).OnUnregistered(n) })
	}
}

func (ch *Channel) fireEvent(event any) {
	if !ch.fire(capEvent, func(n *Context) { n.handler.(EventHandler).OnEvent(n, event) }) {
		Dispose(event)
	}
}

func (ch *Channel) fireWritability(writable bool) {
	if ch.state != closed {
		ch.fire(capWritability, func(n *Context) { n.handler.(WritabilityHandler).OnWritability(n, writable) })
	}
}

func (ch *Channel) fireShutdown(d Direction) {
	ch.fire(capShutdown, func(n *Context) { n.handler.(ShutdownHandler).OnShutdown(n, d) })
}

// fireError is called with panics contained.
func (ch *Channel) fireError(err error) {
	n := ch.pipeline.firstWith(capError)
	if n == nil {
		ch.unhandledError(err)
		return
	}
	ch.current = n
	n.handler.(ErrorHandler).OnError(n, err)
}

// unhandledMessage disposes of a message that no handler took.
func (ch *Channel) unhandledMessage(msg any) {
	if take := ch.config.UnhandledMessage; take != nil {
		take(ch, msg)
		return
	}
	ch.Logger().Warn("message reached the end of the pipeline unhandled; it was disposed of",
		"channel", ch, "message", typeName(msg), "pipeline", ch.pipeline.Names())
	Dispose(msg)
}

// unhandledError logs an error that no handler took, and closes the channel: its state is
// unknown. A peer that went away is ordinary, and logged at debug level only.
func (ch *Channel) unhandledError(err error) {
	if take := ch.config.UnhandledError; take != nil {
		take(ch, err)
		return
	}
	var panicked *PanicError
	switch {
	case errors.As(err, &panicked):
		ch.Logger().Error("handler panicked; closing the channel", "channel", ch,
			"handler", panicked.Handler, "panic", panicked.Value, "stack", string(panicked.Stack))
	case isDisconnect(err):
		ch.Logger().Debug("connection lost", "channel", ch, "error", err)
	default:
		ch.Logger().Warn("error reached the end of the pipeline unhandled; closing the channel",
			"channel", ch, "error", err)
	}
	if ch.flushWanted && ch.outputState == outputOpen {
		ch.flushNow() // what a handler has said about the error before it passed it on
	}
	ch.close(err)
}

func isDisconnect(err error) bool {
	return isReset(err) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

func typeName(msg any) string { return fmt.Sprintf("%T", msg) }
