package tls

import "crypto/tls"

// HandshakeDone is the event that is fired when the handshake has succeeded, before any
// message.
type HandshakeDone struct {
	conn *tls.Conn
}

// State returns the parameters that the two ends have agreed on. Any goroutine may call it.
func (e *HandshakeDone) State() tls.ConnectionState { return e.conn.ConnectionState() }

// NegotiatedProtocol returns what ALPN (RFC 7301) has chosen, or "".
func (e *HandshakeDone) NegotiatedProtocol() string {
	return e.conn.ConnectionState().NegotiatedProtocol
}

// Closed is the event that is fired when the peer's direction has ended.
type Closed struct {
	// Err is nil if the peer has said so with a close_notify alert, else ErrTruncated. A
	// protocol whose messages say where they end, as most do, need not care.
	Err error
}
