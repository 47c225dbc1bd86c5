// Package inbox holds what other goroutines have for a channel until the channel's loop
// delivers it: the bytes that the peer of an in-memory connection sent, what a goroutine
// has read from a net.Conn, the connections that a listener is to accept.
//
// It is bounded, so that a producer waits when the channel doesn't read, and it delivers
// the way a socket does: in batches, only while reading is wanted, the end of input after
// everything before it, and the loss of the connection even while nobody reads.
package inbox
