package std

import (
	"context"
	"errors"
	"net"
	"time"

	"millrace.dev/channel"
	"millrace.dev/transport/internal/addrs"
	"millrace.dev/transport/internal/inbox"
	"millrace.dev/transport/internal/readsize"
)

// conn is a connection. It implements channel.Transport.
//
// Its fields belong to the channel's loop; the reading goroutine has the inbox, and a
// writing one its writeOp.
type conn struct {
	addrs.Pair
	options *Options
	driver  channel.Driver
	nc      net.Conn // nil until connected
	in      inbox.Inbox
	room    chan struct{} // tells the reading goroutine that the inbox has room
	sizing  readsize.Sizer
	giveUp  context.CancelFunc // ends the dialling
	writing *writeOp
	failure error // of a write that ended while not registered
	flags   connFlags

	readerEnded chan struct{} // nil: none was started
	dropped     bool          // the reader's, until it has ended: what it had read came too late
}

type connFlags uint8

const (
	flagPrepared connFlags = 1 << iota // Register has come once
	flagAttached
	flagReset // Close resets the connection
	flagClosed
	flagEnding // the end of input waits for the write under way
)

// newConn returns a transport over nc, or an unconnected one when that is nil.
func newConn(o *Options, nc net.Conn) *conn {
	c := &conn{options: o, nc: nc, room: make(chan struct{}, 1)}
	if o.LingerZero {
		c.flags |= flagReset
	}
	if nc != nil {
		c.SetAddrs(nc.LocalAddr(), nc.RemoteAddr())
	}
	return c
}

// SetLingerZero makes Close reset the connection instead of ending it in order, if it is a
// TCP connection; on the loop only.
func (c *conn) SetLingerZero() { c.flags |= flagReset }

// NetConn returns the net.Conn below, nil until there is one, for options that only it has;
// on the loop only. It stays the channel's.
func (c *conn) NetConn() net.Conn { return c.nc }

// Register implements channel.Transport.
func (c *conn) Register(d channel.Driver) error {
	if c.flags&flagPrepared == 0 {
		c.driver = d // once only: the goroutines read it
		config := d.Channel().Config()
		c.sizing.Init(config)
		c.in.Init(int64(max(config.ReadBufferMax, 2)), c.wakeReader)
	}
	c.flags |= flagPrepared
	if err := c.in.Attach(d); err != nil {
		return err
	}
	c.flags |= flagAttached
	return nil
}

// Deregister implements channel.Transport.
func (c *conn) Deregister() error {
	c.flags &^= flagAttached
	return c.in.Detach()
}

// Active implements channel.Transport.
func (c *conn) Active() bool { return c.nc != nil && c.flags&flagClosed == 0 }

// Bind implements channel.Transport: a client gives its local address to Connect.
func (c *conn) Bind(net.Addr) error {
	return &net.OpError{Op: "bind", Net: "std", Err: errors.ErrUnsupported}
}

// StartRead implements channel.Transport.
func (c *conn) StartRead() {
	c.startReader()
	c.in.Start()
}

// StopRead implements channel.Transport. The goroutine reads on until the inbox is full,
// which is how the loss of the connection is noticed.
func (c *conn) StopRead() {
	c.startReader()
	c.in.Stop()
}

// Shutdown implements channel.Transport.
func (c *conn) Shutdown(direction channel.Direction) error {
	if direction == channel.Inbound {
		return nil // nothing is read any more
	}
	w, ok := c.nc.(interface{ CloseWrite() error })
	switch {
	case !ok:
		return &net.OpError{Op: "shutdown", Net: "std", Addr: c.nc.RemoteAddr(), Err: errors.ErrUnsupported}
	case isSocket(c.nc):
		return w.CloseWrite()
	}
	go func() { // one of another kind, such as a TLS connection, may block
		if err := w.CloseWrite(); err != nil {
			c.in.End(err)
		}
	}()
	return nil
}

// isSocket reports whether nc is known not to block in CloseWrite.
func isSocket(nc net.Conn) bool {
	switch nc.(type) {
	case *net.TCPConn, *net.UnixConn:
		return true
	}
	return false
}

// Close implements channel.Transport.
func (c *conn) Close() error {
	if c.flags&flagClosed != 0 {
		return nil
	}
	c.flags |= flagClosed
	_ = c.Deregister() // it has no descriptor
	if c.giveUp != nil {
		c.giveUp()
	}
	unread := c.in.Close()
	for _, msg := range unread {
		channel.Dispose(msg)
	}
	if c.nc == nil {
		return nil
	}
	reset := c.flags&flagReset != 0 || len(unread) > 0
	if reset {
		c.resetOnClose()
	}
	if op := c.writing; op != nil && op.keep(reset) {
		return nil // closes it when the write has ended
	}
	go c.hangUp() // it waits for the reading goroutine, and the loop must not
	return nil
}

// resetOnClose makes the close of a TCP connection a reset: what was read ahead is unread
// for the channel, and the system would reset it for that (RFC 2525, 2.17).
func (c *conn) resetOnClose() {
	if t, ok := c.nc.(*net.TCPConn); ok {
		_ = t.SetLinger(0) // the close comes whatever happens
	}
}

// hangUp closes the net.Conn, on a goroutine of its own.
func (c *conn) hangUp() {
	if t, ok := c.nc.(*net.TCPConn); ok && c.readerEnded != nil && t.SetReadDeadline(time.Unix(1, 0)) == nil {
		<-c.readerEnded
		if c.dropped {
			c.resetOnClose()
		}
	}
	_ = c.nc.Close() // nobody is left to hear of an error
}
