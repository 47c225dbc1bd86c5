package tcp

import "time"

// Options are the socket options of listeners and connections. Those of a listener hold
// for the connections that it accepts.
type Options struct {
	// Backlog is how many connections may wait to be accepted; the system may lower it.
	// Default 4,096.
	Backlog int
	// ReusePort lets several listeners share an address, so that each loop has its own
	// and the kernel spreads the connections (SO_REUSEPORT).
	ReusePort bool
	// Nagle delays small segments while earlier ones are unacknowledged. Default off:
	// TCP_NODELAY is set, as a pipeline gathers its writes itself.
	Nagle bool
	// KeepAlive says when an idle connection is probed. The zero value is off.
	KeepAlive KeepAlive
	// UserTimeout closes a connection whose data stay unacknowledged that long
	// (TCP_USER_TIMEOUT, RFC 5482). 0 is the system's own.
	UserTimeout time.Duration
	// LingerZero makes Close reset connections instead of ending them in order.
	LingerZero bool
	// ReceiveBuffer and SendBuffer set the socket's buffers, in bytes. 0 leaves them to the
	// system, which adapts them.
	ReceiveBuffer, SendBuffer int
	// IPv6Only keeps an IPv6 listener from taking IPv4 connections too.
	IPv6Only bool
}

// KeepAlive are the three times of TCP keep-alive; they have effect when Idle is set.
// Fractions of a second are rounded up.
type KeepAlive struct {
	Idle     time.Duration // before the first probe
	Interval time.Duration // between probes; 0 is the system's own
	Count    int           // unanswered probes that end the connection; 0 is the system's own
}

const defaultBacklog = 4096
