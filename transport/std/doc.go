// Package std is the portable transport: TCP and Unix stream sockets, or any net.Conn and
// net.Listener that the user brings, over Go's net package, with the same channel semantics
// as the transports that use a loop's own descriptor events.
//
// A connection has a goroutine that reads ahead, a bounded number of bytes, and while
// something is being written another one; both hand over to the channel's loop. That costs
// more than package tcp, so on Linux prefer that.
//
// Some differences follow from reading and writing on other goroutines. A write that was
// flushed right before Close still leaves, but its future has failed with
// channel.ErrClosed by then. A write's future succeeds when the operating system has taken
// the bytes, one hand-over later than there. After the peer's end, or while there is more
// unread input than is read ahead, a reset is noticed by the next write only. And a Unix
// socket that is closed with unread input may end in order instead of being reset.
package std
