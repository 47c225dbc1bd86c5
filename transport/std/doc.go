// Package std is the portable transport: TCP and Unix stream sockets, or any net.Conn and
// net.Listener that the user brings, over Go's net package, with the same channel semantics
// as the transports that use a loop's own descriptor events.
//
// A connection has a goroutine that reads ahead, a bounded number of bytes, and while
// something is being written another one; both hand over to the channel's loop. That costs
// more than package tcp, so on Linux prefer that.
//
// Two differences follow from writing on another goroutine. A write that was flushed right
// before Close still leaves, but its future has failed with channel.ErrClosed by then. And
// a write's future succeeds when the operating system has taken the bytes, one hand-over
// later than there.
package std
