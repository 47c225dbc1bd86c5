package local

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/loop"
	"millrace.dev/transport/internal/addrs"
	"millrace.dev/transport/internal/inbox"
)

// conn is one end of a connection. It implements channel.Transport.
//
// What an end has sent is in the inbox of its peer. An end touches nothing else of the
// peer's but its loop, to have it called there.
type conn struct {
	addrs.Pair
	network *Transport
	in      inbox.Inbox
	peer    *conn                     // constant once connected; see listener.mu
	dialled *listener                 // where a connect waits for room
	outcome atomic.Pointer[outcome]   // of that connect, until the channel hears of it
	loop    atomic.Pointer[loop.Loop] // while registered, for the peer

	driver    channel.Driver
	connected bool
	closed    bool
	reset     bool // Close resets the connection
}

func newConn(t *Transport) *conn {
	c := &conn{network: t}
	c.in.Init(int64(t.window), func() { c.peer.wakeWriter() })
	return c
}

// pair connects c, a client, to a new conn for the listener's side, and returns that.
func (c *conn) pair() *conn {
	server := newConn(c.network)
	server.SetAddrs(c.RemoteAddr(), c.LocalAddr())
	server.connected = true
	server.peer, c.peer = c, server
	return server
}

// SetLingerZero makes Close reset the connection instead of ending it in order; on the
// loop only.
func (c *conn) SetLingerZero() { c.reset = true }

// Register implements channel.Transport.
func (c *conn) Register(d channel.Driver) error {
	c.driver = d
	if err := c.in.Attach(d); err != nil {
		return err
	}
	c.loop.Store(d.Loop())
	c.tellOutcome() // that came while it was deregistered
	return nil
}

// Deregister implements channel.Transport.
func (c *conn) Deregister() error {
	c.loop.Store(nil)
	return c.in.Detach()
}

// Active implements channel.Transport.
func (c *conn) Active() bool { return c.connected && !c.closed }

// Bind implements channel.Transport: a client gives its local address to Connect.
func (c *conn) Bind(net.Addr) error { return c.opError("bind", errors.ErrUnsupported) }

// Connect implements channel.Transport. Like TCP's it ends when the connection has its
// place in the backlog, before it is accepted.
func (c *conn) Connect(remote, local net.Addr) error {
	to, err := addrOf("connect", remote)
	if err != nil {
		return err
	}
	from, err := addrOf("connect", local)
	if err != nil {
		return err
	}
	if from == "" {
		from = c.network.ephemeralAddr()
	}
	c.SetAddrs(from, to)
	l := c.network.lookup(to)
	if l == nil {
		return c.opError("connect", syscall.ECONNREFUSED)
	}
	c.dialled = l
	switch admitted, err := l.admit(c); {
	case err != nil:
		return c.opError("connect", err)
	case admitted:
		c.connectDone(nil)
	}
	return nil
}

// connectDone ends a connect, on the loop.
func (c *conn) connectDone(err error) {
	if c.closed {
		return
	}
	c.connected = err == nil
	if err != nil {
		err = c.opError("connect", err)
	}
	c.driver.ConnectDone(err)
}

// StartRead implements channel.Transport.
func (c *conn) StartRead() { c.in.Start() }

// StopRead implements channel.Transport.
func (c *conn) StopRead() { c.in.Stop() }

// Write implements channel.Transport. A message goes over whole if the window has room for
// it, otherwise in pieces that share its memory.
func (c *conn) Write(q *channel.Queue) error {
	to := &c.peer.in
	for !c.closed && !q.Empty() {
		// Leaving an eighth of the window unused keeps a nearly full one from taking a
		// message in tiny pieces (RFC 9293, 3.8.6.2.1).
		room := to.Room(to.Limit() / 8)
		switch room {
		case 0:
			return nil
		case inbox.Closed:
			return c.opError("write", syscall.EPIPE)
		}
		b, sent, err := c.next(q, room)
		switch {
		case err != nil:
			return c.opError("write", err)
		case b == nil:
		case b.IsEmpty():
			b.Close()
		case !to.Put(b):
			b.Close()
			return c.opError("write", syscall.EPIPE)
		}
		q.Progress(sent)
	}
	return nil
}

// next takes up to room bytes from the front of the queue. sent is what Progress still has
// to be told of.
func (c *conn) next(q *channel.Queue, room int64) (b *buffer.Buffer, sent int64, err error) {
	r := q.Region()
	if r == nil {
		return q.TakeBytes(room), 0, nil
	}
	size := min(room, r.Count)
	if size == 0 {
		return nil, 0, nil
	}
	b = c.driver.Channel().Allocator().Allocate(int(size))
	n, err := r.File.ReadAt(b.Writable()[:size], r.Offset)
	if n == 0 {
		b.Close()
		if err == io.EOF {
			err = channel.ErrFileTruncated
		}
		return nil, 0, err
	}
	b.Advance(n)
	return b, int64(n), nil
}

// wakeWriter has the loop try again what the peer had no room for. Any goroutine may call
// it.
func (c *conn) wakeWriter() {
	if l := c.loop.Load(); l != nil {
		_ = l.Run((*writeTask)(c)) // refused: the loop has ended, and closed the channel
	}
}

// writeTask is a conn that can send again.
type writeTask conn

// RunTask is for the loop.
func (t *writeTask) RunTask() {
	c := (*conn)(t)
	if !c.closed && c.loop.Load() != nil {
		c.driver.WriteReady()
	}
}

// Shutdown implements channel.Transport.
func (c *conn) Shutdown(direction channel.Direction) error {
	if direction == channel.Outbound {
		c.peer.in.End(nil)
	}
	return nil
}

// Close implements channel.Transport. Like TCP it resets the connection when something
// that the peer has sent was not read (RFC 9293, 3.6.1; RFC 2525, 2.17).
func (c *conn) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	_ = c.Deregister() // it has no descriptor
	if c.dialled != nil {
		c.dialled.abandon(c)
	}
	unread := c.in.Close()
	for _, msg := range unread {
		channel.Dispose(msg)
	}
	if c.peer == nil {
		return nil
	}
	if len(unread) > 0 || c.reset {
		c.peer.in.End(c.peer.opError("read", syscall.ECONNRESET))
	} else {
		c.peer.in.End(nil)
	}
	return nil
}

func (c *conn) opError(op string, err error) error {
	return &net.OpError{Op: op, Net: "local", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}
