package channel

import "net"

// Transport moves the bytes of one channel. The channel calls it on its loop only, and it
// reports through the Driver that Register hands it, on the loop too. It is the seam for
// readiness (a poller says that a read would not block) as much as for completion (bytes
// arrive already read): the channel sees bytes and progress either way.
type Transport interface {
	// Register attaches the transport to the loop of d's channel.
	Register(d Driver) error
	// Deregister detaches it without closing it. It reports nothing until it is registered
	// again, neither a WriteReady that is due.
	Deregister() error
	// Active reports whether it is connected, or for a listener bound.
	Active() bool
	// Bind binds it to a local address.
	Bind(local net.Addr) error
	// Connect starts to connect it; local may be nil. Driver.ConnectDone ends it, perhaps
	// before Connect returns. An error ends it at once.
	Connect(remote, local net.Addr) error
	// StartRead asks for input until StopRead. Both may be called again and again.
	StartRead()
	// StopRead stops input at once: neither a message nor the end of input is delivered
	// after it. The loss of the connection still is.
	StopRead()
	// Write sends what is flushed in q and calls q.Progress for what it took. When it
	// can't take everything it calls Driver.WriteReady once it can go on, and isn't
	// called before that. An error means that nothing more can be sent. Progress runs the
	// listeners of writes, which may call Write again, inside the first call, or Close.
	Write(q *Queue) error
	// Shutdown ends a direction. For Outbound, everything flushed has been sent. After
	// Inbound StartRead isn't called any more: what the peer still sends waits unread, and
	// holds it back.
	Shutdown(direction Direction) error
	// Close releases everything. No Driver method may be called after it.
	Close() error
	// LocalAddr and RemoteAddr return the addresses, or nil. Any goroutine may ask.
	LocalAddr() net.Addr
	RemoteAddr() net.Addr
}

// MessageTransport is a Transport that sends messages whole, and other kinds of them than
// buffers and file regions. It takes them out of the queue with Take.
type MessageTransport interface {
	Transport
	// MessageSize returns the bytes that msg counts for in the watermarks; ok is false for
	// a message that it doesn't send.
	MessageSize(msg any) (size int64, ok bool)
}
