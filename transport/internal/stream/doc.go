// Package stream is the Linux transport of stream sockets, TCP and Unix alike, over a
// loop's descriptor events: Conn for connections, Listener for what accepts them.
//
// Reading is level-triggered: a batch reads until a read comes back short, which says that
// the socket is empty without asking it once more. A connection holds no buffer between
// batches. Writing tries at once and waits for the socket only after it has refused bytes.
package stream
