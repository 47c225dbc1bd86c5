package std

import (
	"errors"
	"net"

	"millrace.dev/channel"
)

// Options are the socket options of listeners and connections. Those of a listener hold
// for the connections that it accepts.
type Options struct {
	// Nagle delays small segments while earlier ones are unacknowledged. Default off:
	// TCP_NODELAY is set, as a pipeline gathers its writes itself.
	Nagle bool
	// KeepAlive says when an idle TCP connection is probed. The zero value is off.
	KeepAlive net.KeepAliveConfig
	// LingerZero makes Close reset TCP connections instead of ending them in order.
	LingerZero bool
}

// Transport makes transports with the same options. The kind of an address decides
// between TCP (*net.TCPAddr) and Unix stream sockets (*net.UnixAddr). Its methods may be
// called from any goroutine.
type Transport struct{ options Options }

// New returns a maker of transports.
func New(o Options) *Transport { return &Transport{o} }

// NewListener returns an unbound listener. Its channel's messages are connected
// transports, each for a new channel.
func (t *Transport) NewListener() channel.Transport { return newListener(&t.options, nil) }

// NewConn returns an unconnected client transport. Like those of accepted connections it
// has a method NetConn, which returns the net.Conn.
func (t *Transport) NewConn() channel.Transport { return newConn(&t.options, nil) }

// Shares reports that an address can have one listener only.
func (t *Transport) Shares() bool { return false }

// NewListenerFrom returns a bound transport over l, such as one that the system has handed
// to the process (socket activation) or one of another package. It owns l, and closes it
// with the channel.
func NewListenerFrom(l net.Listener) channel.Transport { return newListener(&Options{}, l) }

// NewConnFrom returns a connected transport over nc, of whatever kind. It owns nc, and
// closes it with the channel. Shutdown(Outbound) needs nc to have a CloseWrite method, as
// those of packages net and crypto/tls do.
func NewConnFrom(nc net.Conn) channel.Transport { return newConn(&Options{}, nc) }

var errAddrType = errors.New("neither a *net.TCPAddr nor the *net.UnixAddr of a stream socket")

// networkOf tells the network of an address by its type.
func networkOf(op string, a net.Addr) (string, error) {
	switch a := a.(type) {
	case *net.TCPAddr:
		return "tcp", nil
	case *net.UnixAddr:
		if a.Net == "unix" || a.Net == "" {
			return "unix", nil
		}
	}
	return "", &net.OpError{Op: op, Net: "std", Addr: a, Err: errAddrType}
}

// configure sets what Go doesn't by itself.
func (o *Options) configure(nc net.Conn) {
	if t, ok := nc.(*net.TCPConn); ok && o.Nagle {
		_ = t.SetNoDelay(false) // the connection works without it
	}
}
