// Package addrs keeps the addresses of a connection, which any goroutine may ask for while
// the connection's loop sets them.
package addrs

import (
	"net"
	"sync/atomic"
)

// Pair is the addresses of a connection, to be part of its transport. The zero Pair has
// none.
type Pair struct{ p atomic.Pointer[pair] }

type pair struct{ local, remote net.Addr }

// SetAddrs sets both; either may be nil.
func (a *Pair) SetAddrs(local, remote net.Addr) { a.p.Store(&pair{local, remote}) }

// LocalAddr returns the local address, or nil.
func (a *Pair) LocalAddr() net.Addr {
	if p := a.p.Load(); p != nil {
		return p.local
	}
	return nil
}

// RemoteAddr returns the peer's address, or nil.
func (a *Pair) RemoteAddr() net.Addr {
	if p := a.p.Load(); p != nil {
		return p.remote
	}
	return nil
}
