package local

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"

	"millrace.dev/channel"
)

// Options are the options of a Transport.
type Options struct {
	// Window is how many bytes of each direction may be under way: sent, and not yet
	// delivered to the peer's handlers. Default 64 KiB.
	Window int
	// Backlog is how many connections may wait to be accepted; further connects wait until
	// there is room. Default 128.
	Backlog int
}

const (
	defaultWindow  = 64 << 10
	minWindow      = 64
	defaultBacklog = 128
)

// Addr is a name in a Transport.
type Addr string

// Network returns "local".
func (Addr) Network() string { return "local" }

// String returns the name.
func (a Addr) String() string { return string(a) }

// Transport is a network of its own: connections reach the listeners that were made by the
// same Transport. Its methods may be called from any goroutine.
type Transport struct {
	window, backlog int

	mu        sync.Mutex
	listeners map[Addr]*listener
	ephemeral int
}

// New returns an empty network.
func New(o Options) *Transport {
	t := &Transport{window: o.Window, backlog: o.Backlog, listeners: make(map[Addr]*listener)}
	if t.window <= 0 {
		t.window = defaultWindow
	}
	t.window = max(t.window, minWindow)
	if t.backlog <= 0 {
		t.backlog = defaultBacklog
	}
	return t
}

// NewListener returns an unbound listener. Its channel's messages are connected
// transports, each for a new channel. Bound to the empty Addr it gets a name that nobody
// has.
func (t *Transport) NewListener() channel.Transport { return newListener(t) }

// NewConn returns an unconnected transport.
func (t *Transport) NewConn() channel.Transport { return newConn(t) }

// Shares reports that a name can have one listener only.
func (t *Transport) Shares() bool { return false }

// bind gives l the name, or one of its own when it is empty.
func (t *Transport) bind(l *listener, name Addr) (Addr, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if name == "" {
		name = t.unused()
	}
	if t.listeners[name] != nil {
		return "", syscall.EADDRINUSE
	}
	t.listeners[name] = l
	return name, nil
}

func (t *Transport) unbind(name Addr) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.listeners, name)
}

func (t *Transport) lookup(name Addr) *listener {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.listeners[name]
}

// ephemeralAddr returns an address for a client that didn't ask for one.
func (t *Transport) ephemeralAddr() Addr {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.unused()
}

// unused returns a name that nobody listens on; t.mu is held.
func (t *Transport) unused() Addr {
	for {
		t.ephemeral++
		if name := Addr(fmt.Sprintf("local-%d", t.ephemeral)); t.listeners[name] == nil {
			return name
		}
	}
}

var errAddrType = errors.New("not a local.Addr")

// addrOf checks an address; nil is the empty one.
func addrOf(op string, a net.Addr) (Addr, error) {
	if a == nil {
		return "", nil
	}
	name, ok := a.(Addr)
	if !ok {
		return "", &net.OpError{Op: op, Net: "local", Addr: a, Err: errAddrType}
	}
	return name, nil
}
