package httpserver

import (
	"io"
	"net"
	"os"
	"sync"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

// netConn is a net.Conn over a connection whose last handler is a conn. Its methods wait on
// their goroutine for what the loop does.
type netConn struct {
	conn *conn

	readMu sync.Mutex     // held by a Read, which may wait; taken before mu
	cur    *buffer.Buffer // what Read takes from; under readMu

	mu        sync.Mutex
	cond      sync.Cond
	in        *buffer.Buffer // received and not taken
	readErr   error          // what follows it
	writeErr  error
	out       []*buffer.Buffer // for the loop to send
	queued    int              // bytes in it
	flags     netConnFlags
	deadlines deadlines
	lastWrite channel.Future // the loop's
}

type netConnFlags uint8

const (
	nPosted     netConnFlags = 1 << iota // queued as a task of the loop
	nPaused                              // reading is paused because of much unread input
	nResume                              // it can go on
	nCloseWrite                          // end this direction once everything was sent
	nClosed
)

func newNetConn(c *conn) *netConn {
	n := &netConn{conn: c}
	n.cond.L = &n.mu
	return n
}

// LocalAddr returns the connection's local address.
func (n *netConn) LocalAddr() net.Addr { return n.conn.ctx.Channel().LocalAddr() }

// RemoteAddr returns the client's address.
func (n *netConn) RemoteAddr() net.Addr { return n.conn.ctx.Channel().RemoteAddr() }

// SetDeadline sets both deadlines.
func (n *netConn) SetDeadline(t time.Time) error {
	return n.setDeadline(func() { n.deadlines.setBoth(t, n.wake) })
}

// SetReadDeadline sets the deadline of Read.
func (n *netConn) SetReadDeadline(t time.Time) error {
	return n.setDeadline(func() { n.deadlines.read.set(t, n.wake) })
}

// SetWriteDeadline sets the deadline of Write.
func (n *netConn) SetWriteDeadline(t time.Time) error {
	return n.setDeadline(func() { n.deadlines.write.set(t, n.wake) })
}

func (n *netConn) setDeadline(set func()) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.flags&nClosed != 0 {
		return net.ErrClosed
	}
	set()
	n.cond.Broadcast()
	return nil
}

func (n *netConn) wake() {
	n.mu.Lock()
	n.cond.Broadcast()
	n.mu.Unlock()
}

// Read waits for input.
func (n *netConn) Read(p []byte) (int, error) {
	n.readMu.Lock()
	defer n.readMu.Unlock()
	if err := n.awaitInput(len(p)); err != nil || len(p) == 0 {
		return 0, err
	}
	got := n.cur.ReadInto(p)
	if n.cur.IsEmpty() {
		n.dropCurrent()
	}
	return got, nil
}

// awaitInput returns nil when cur has input, or none is wanted. readMu is held.
func (n *netConn) awaitInput(wanted int) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for {
		switch {
		case n.flags&nClosed != 0:
			return net.ErrClosed
		case n.deadlines.read.expired():
			return os.ErrDeadlineExceeded
		case wanted == 0, n.cur != nil:
			return nil
		case n.in != nil:
			n.cur, n.in = n.in, nil
			if n.flags&nPaused != 0 {
				n.flags = n.flags&^nPaused | nResume
				n.post()
			}
			return nil
		case n.readErr != nil:
			return n.readErr
		}
		n.cond.Wait()
	}
}

func (n *netConn) dropCurrent() {
	if n.cur != nil {
		n.cur.Close()
		n.cur = nil
	}
}

// Write gives a copy of p to the loop, piece by piece: it waits while the client takes less
// than is written.
func (n *netConn) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	written := 0
	for {
		if err := n.awaitWritable(); err != nil {
			return written, err
		}
		if len(p) == 0 {
			return written, nil
		}
		piece := p[:min(len(p), maxPiece)]
		b := n.conn.shard.loop.Allocator().Allocate(len(piece))
		b.Write(piece)
		n.out = append(n.out, b)
		n.queued += len(piece)
		n.post()
		written += len(piece)
		p = p[len(piece):]
	}
}

func (n *netConn) awaitWritable() error {
	ch := n.conn.ctx.Channel()
	for {
		switch {
		case n.flags&(nClosed|nCloseWrite) != 0:
			return net.ErrClosed
		case n.writeErr != nil:
			return n.writeErr
		case n.deadlines.write.expired():
			return os.ErrDeadlineExceeded
		case n.queued < maxPiece && ch.IsWritable():
			return nil
		}
		n.cond.Wait()
	}
}

// CloseWrite ends this direction of the connection once everything written was sent.
func (n *netConn) CloseWrite() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.flags&nClosed != 0 {
		return net.ErrClosed
	}
	n.flags |= nCloseWrite
	n.post()
	return nil
}

// Close closes the connection once everything written was sent, but doesn't wait for that.
// If the client takes none of it for Timeouts.Write, the connection is closed all the same.
func (n *netConn) Close() error {
	n.mu.Lock()
	if n.flags&nClosed != 0 {
		n.mu.Unlock()
		return net.ErrClosed
	}
	n.flags |= nClosed
	n.deadlines.setBoth(time.Time{}, nil)
	if n.in != nil {
		n.in.Close()
		n.in = nil
	}
	n.cond.Broadcast() // a reader on another goroutine, who has readMu, gives it back now
	n.post()
	n.mu.Unlock()
	n.readMu.Lock()
	n.dropCurrent()
	n.readMu.Unlock()
	return nil
}

// post queues the netConn as a task of its loop. If the loop has ended, so has the channel.
func (n *netConn) post() {
	if n.flags&nPosted != 0 {
		return
	}
	n.flags |= nPosted
	if n.conn.shard.loop.Run(n) != nil {
		n.dropOut()
	}
}

func (n *netConn) dropOut() {
	for _, b := range n.out {
		b.Close()
	}
	n.out, n.queued = nil, 0
}

// RunTask does on the loop what the other goroutines have asked for.
func (n *netConn) RunTask() {
	n.mu.Lock()
	out, flags := n.out, n.flags
	n.out, n.queued = nil, 0
	n.flags &^= nPosted | nResume
	n.cond.Broadcast()
	n.mu.Unlock()
	c := n.conn
	for _, b := range out {
		n.lastWrite = c.ctx.Write(b)
	}
	if len(out) > 0 {
		c.ctx.Flush()
	}
	switch {
	case flags&nClosed != 0:
		c.closeWhen(n.lastWrite)
		return
	case flags&nCloseWrite != 0:
		c.ctx.Shutdown(channel.Outbound)
	}
	if flags&nResume != 0 {
		c.resume()
	}
}

// closeWhen closes the channel when a write is done, or takes too long.
func (c *conn) closeWhen(f channel.Future) {
	ch := c.ctx.Channel()
	if !ch.IsOpen() || c.flags&cLingering != 0 {
		return
	}
	c.flags |= cLingering // the timer closes
	c.arm(c.ctx.Loop().Now(), c.shard.server.Timeouts.Write)
	f.OnCompleteWith(ch, channel.CloseOnComplete)
}

// receive takes input from the pipeline; b may be nil.
func (n *netConn) receive(b *buffer.Buffer) {
	if b == nil {
		return
	}
	n.mu.Lock()
	switch {
	case n.flags&nClosed != 0:
		b.Close()
	case n.in == nil:
		n.in = b
	default:
		n.in.Append(b)
	}
	full := n.in != nil && n.in.Len() > bodyWindow && n.flags&nPaused == 0
	if full {
		n.flags |= nPaused
	}
	n.cond.Broadcast()
	n.mu.Unlock()
	if full {
		n.conn.pause()
	}
}

// writable wakes a writer: the client has taken enough.
func (n *netConn) writable() { n.wake() }

// inputEnded is called when nothing more comes: after the client's end, or an error.
func (n *netConn) inputEnded(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err != nil && n.writeErr == nil {
		n.writeErr = err
	}
	if n.readErr == nil {
		n.readErr = err
		if err == nil {
			n.readErr = io.EOF
		}
	}
	n.cond.Broadcast()
}

// lost is called when the channel has closed: by the server, or in order, when both
// directions had ended.
func (n *netConn) lost() {
	n.mu.Lock()
	ended := n.flags&nCloseWrite != 0
	n.mu.Unlock()
	if ended {
		n.inputEnded(nil)
	}
	n.inputEnded(net.ErrClosed)
}
