package channel

import "net"

// A handler is any value that has one or more of the methods below, each with exactly the
// signature of its interface. The pipeline looks once, when the handler is added, which
// ones it has; events it doesn't take pass it by at no cost. A handler method runs on its
// channel's loop, so it needs no locks, and it must not block.
//
// Inbound events travel from the head (the transport) to the tail, outbound operations
// from the tail to the head. A handler that takes an event decides whether it goes on, by
// calling the method of the Context with the same name.

// RegisteredHandler is told that the channel has been attached to its loop's I/O.
type RegisteredHandler interface{ OnRegistered(ctx *Context) }

// ActiveHandler is told that the channel is connected, or for a listener bound.
type ActiveHandler interface{ OnActive(ctx *Context) }

// ReadHandler receives each message. It owns the message: it must close it, keep it, or
// pass it on.
type ReadHandler interface {
	OnRead(ctx *Context, msg any)
}

// ReadCompleteHandler is told that the messages of one read batch have all been passed
// on: a good moment to flush.
type ReadCompleteHandler interface{ OnReadComplete(ctx *Context) }

// EventHandler receives inbound user events (Context.FireEvent).
type EventHandler interface {
	OnEvent(ctx *Context, event any)
}

// WritabilityHandler is told each time the pending bytes cross a watermark: writable is
// false at the high one and true at the low one.
type WritabilityHandler interface {
	OnWritability(ctx *Context, writable bool)
}

// ShutdownHandler is told that one direction of the channel has ended: Inbound when the
// peer will send no more (only where half-closure is allowed, see Config), Outbound when
// this side has sent its last byte.
type ShutdownHandler interface {
	OnShutdown(ctx *Context, direction Direction)
}

// InactiveHandler is told that the channel was active and is now closed.
type InactiveHandler interface{ OnInactive(ctx *Context) }

// UnregisteredHandler is told that the channel has left its loop's I/O. It is the last
// event; the handlers are removed afterwards.
type UnregisteredHandler interface{ OnUnregistered(ctx *Context) }

// ErrorHandler receives I/O errors, errors that handlers before it fired, and its own
// inbound panics as *PanicError. An error that nobody takes is logged, and closes the
// channel.
type ErrorHandler interface {
	OnError(ctx *Context, err error)
}

// BindHandler intercepts Bind.
type BindHandler interface {
	Bind(ctx *Context, local net.Addr) Future
}

// ConnectHandler intercepts Connect; local may be nil.
type ConnectHandler interface {
	Connect(ctx *Context, remote, local net.Addr) Future
}

// DisconnectHandler intercepts Disconnect.
type DisconnectHandler interface{ Disconnect(ctx *Context) Future }

// CloseHandler intercepts Close.
type CloseHandler interface{ Close(ctx *Context) Future }

// OutboundShutdownHandler intercepts Shutdown.
type OutboundShutdownHandler interface {
	Shutdown(ctx *Context, direction Direction) Future
}

// RegisterHandler intercepts Register.
type RegisterHandler interface{ Register(ctx *Context) Future }

// DeregisterHandler intercepts Deregister.
type DeregisterHandler interface{ Deregister(ctx *Context) Future }

// OutboundReadHandler intercepts Read, the request for more input. Holding it back is
// back pressure: the transport stops reading.
type OutboundReadHandler interface{ Read(ctx *Context) }

// WriteHandler intercepts Write. It owns the message: it must write it or another one on,
// or close it and return a failed future.
type WriteHandler interface {
	Write(ctx *Context, msg any) Future
}

// FlushHandler intercepts Flush.
type FlushHandler interface{ Flush(ctx *Context) }

// SendEventHandler intercepts outbound user events.
type SendEventHandler interface {
	SendEvent(ctx *Context, event any) Future
}

// AddedHandler is told that it has become part of a pipeline, before it sees any event.
type AddedHandler interface{ Added(ctx *Context) }

// RemovedHandler is told that it has left the pipeline; it sees no event afterwards. It
// must let go of everything that it holds.
type RemovedHandler interface{ Removed(ctx *Context) }

// Direction is one half of a channel.
type Direction uint8

// The two directions of a channel, seen from this side.
const (
	Inbound  Direction = iota // from the peer
	Outbound                  // to the peer
)

// String returns "inbound" or "outbound".
func (d Direction) String() string {
	if d == Inbound {
		return "inbound"
	}
	return "outbound"
}
