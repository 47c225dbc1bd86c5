// Package local is a transport in memory: connections within a process that need no
// sockets and no descriptors, between channels on the same loop or on two. Addresses are
// names in a Transport of one's own.
//
// A buffer that is written is handed to the peer as it is; only its ownership passes. In
// everything else a connection behaves like a TCP connection, so that it can stand in for
// one in tests: what is under way is bounded by a window, so that back pressure and the
// watermarks work; ends are half-closed, closed and reset in the same way.
package local
