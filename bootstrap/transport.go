package bootstrap

import (
	"fmt"
	"net"

	"millrace.dev/channel"
)

// Transport makes the transports of one kind: tcp.New, unix.New, local.New and std.New
// return one.
type Transport interface {
	// NewListener returns an unbound listener, whose channel's messages are the
	// channel.Transports of accepted connections.
	NewListener() channel.Transport
	// NewConn returns an unconnected transport.
	NewConn() channel.Transport
	// Shares reports whether several listeners can be bound to one address, one for each
	// loop.
	Shares() bool
}

// ResolveAddr turns a network ("tcp", "tcp4", "tcp6", "unix") and an address as of net.Dial
// into a net.Addr. It may ask the resolver, so it must not be called on a loop.
func ResolveAddr(network, address string) (net.Addr, error) {
	switch network {
	case "tcp", "tcp4", "tcp6":
		return net.ResolveTCPAddr(network, address)
	case "unix":
		return net.ResolveUnixAddr(network, address)
	}
	return nil, fmt.Errorf("bootstrap: network: %q is unknown", network)
}
