package channel

import (
	"errors"
	"fmt"
	"io"
	"net"
)

// Inbound events that start at the head, and what becomes of those that reach the tail.

func (ch *Channel) fireEvent(event any) {
	n := ch.pipeline.firstWith(capEvent)
	if n == nil {
		Dispose(event)
		return
	}
	ch.inbound(func() {
		ch.current = n
		n.handler.(EventHandler).OnEvent(n, event)
	})
}

func (ch *Channel) fireWritability(writable bool) {
	n := ch.pipeline.firstWith(capWritability)
	if n == nil || ch.state == closed {
		return
	}
	ch.inbound(func() {
		ch.current = n
		n.handler.(WritabilityHandler).OnWritability(n, writable)
	})
}

func (ch *Channel) fireShutdown(d Direction) {
	n := ch.pipeline.firstWith(capShutdown)
	if n == nil {
		return
	}
	ch.inbound(func() {
		ch.current = n
		n.handler.(ShutdownHandler).OnShutdown(n, d)
	})
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
	ch.close(err)
}

func isDisconnect(err error) bool {
	return isReset(err) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

func typeName(msg any) string { return fmt.Sprintf("%T", msg) }
