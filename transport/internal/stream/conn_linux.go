package stream

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"millrace.dev/channel"
	"millrace.dev/loop"
	"millrace.dev/transport/internal/readsize"
)

// Family is what differs between the kinds of stream sockets.
type Family interface {
	// Network is the name for errors, such as "tcp".
	Network() string
	// Open returns a new non-blocking socket for an address, with the options of a
	// client set.
	Open(remote net.Addr) (fd int, err error)
	// Sockaddr converts an address for the system.
	Sockaddr(a net.Addr) (unix.Sockaddr, error)
	// Addr converts one back; nil when there is none.
	Addr(sa unix.Sockaddr) net.Addr
}

// Conn is a connection. It implements channel.Transport.
type Conn struct {
	driver  channel.Driver
	reg     loop.Registration
	origin  *origin
	fd      int32
	flags   connFlags
	linger0 bool
	sizing  readsize.Sizer
	// peer is the remote address of an accepted IP connection, converted when somebody
	// asks: with the local one shared, it is all that such a connection has to keep.
	peer netip.AddrPort
	// addrs has both addresses of any other connection. Those of a client come while others
	// may ask.
	addrs atomic.Pointer[addrs]
}

type addrs struct{ local, remote net.Addr }

// origin is what the connections of one listener share.
type origin struct {
	family Family
	local  net.Addr // nil: each has its own
}

type connFlags uint8

const (
	flagConnected connFlags = 1 << iota
	flagConnecting
	flagReading
	flagWriteWait // the socket refused bytes
	flagHungUp    // the peer's end was reported while nobody reads
	flagGone      // the end of both directions was
)

// NewConn returns an unconnected connection.
func NewConn(f Family) *Conn { return &Conn{origin: &origin{family: f}, fd: -1} }

// accepted returns the connection of a peer that a listener has accepted. own is its local
// address where the origin has none for all.
func accepted(o *origin, p Peer, own net.Addr) *Conn {
	c := &Conn{origin: o, fd: int32(p.Descriptor), flags: flagConnected, peer: p.IP}
	if own == nil && p.Named == nil {
		return c
	}
	if own == nil {
		own = o.local
	}
	if p.IP.IsValid() {
		p.Named = net.TCPAddrFromAddrPort(p.IP)
	}
	c.addrs.Store(&addrs{own, p.Named})
	return c
}

// Descriptor returns the socket, -1 before Connect and after Close; on the loop only.
func (c *Conn) Descriptor() int { return int(c.fd) }

// SetLingerZero makes Close reset the connection instead of ending it in order.
func (c *Conn) SetLingerZero() { c.linger0 = true }

// Register implements channel.Transport.
func (c *Conn) Register(d channel.Driver) error {
	c.driver = d
	c.sizing.Init(d.Channel().Config())
	if err := c.attach(); err != nil || c.flags&flagConnecting == 0 {
		return err
	}
	return c.arm() // it was deregistered while it connected
}

// attach registers the socket. Before Connect has made one, the loop has to know the
// connection nevertheless, to tell it of its end.
func (c *Conn) attach() (err error) {
	if c.fd < 0 {
		c.reg, err = c.driver.Loop().Attach(c)
		return err
	}
	c.reg, err = c.driver.Loop().Register(int(c.fd), c)
	return err
}

// Deregister implements channel.Transport.
func (c *Conn) Deregister() error {
	if !c.reg.Valid() {
		return nil
	}
	err := c.reg.Deregister()
	c.reg = loop.Registration{}
	c.flags &^= flagWriteWait | flagHungUp | flagGone // it is asked for anew
	return err
}

// Active implements channel.Transport.
func (c *Conn) Active() bool { return c.flags&flagConnected != 0 }

// Bind implements channel.Transport: a client gives its local address to Connect.
func (c *Conn) Bind(net.Addr) error {
	return &net.OpError{Op: "bind", Net: c.origin.family.Network(), Err: errors.ErrUnsupported}
}

// Connect implements channel.Transport.
func (c *Conn) Connect(remote, local net.Addr) error {
	if c.fd >= 0 {
		return c.opError("connect", unix.EISCONN)
	}
	sa, err := c.origin.family.Sockaddr(remote)
	if err != nil {
		return err
	}
	fd, err := c.origin.family.Open(remote)
	if err != nil {
		return err
	}
	c.fd = int32(fd)
	c.addrs.Store(&addrs{remote: remote})
	if local != nil {
		if err := c.bindLocal(local); err != nil {
			return err
		}
	}
	if c.reg.Valid() {
		_ = c.reg.Deregister() // the one without a socket: nothing can fail
	}
	if err := c.attach(); err != nil {
		return err
	}
	return c.startConnect(sa)
}

// connectRetry is how long a connect waits for room in the backlog of a Unix socket's
// listener. The system doesn't tell when there is some (connect(2): EAGAIN).
const connectRetry = 10 * time.Millisecond

func (c *Conn) startConnect(sa unix.Sockaddr) error {
	switch err := unix.Connect(int(c.fd), sa); err {
	case nil:
		c.connected()
		return nil
	case unix.EINPROGRESS, unix.EINTR:
		c.flags |= flagConnecting
		return c.arm()
	case unix.EAGAIN:
		c.driver.Loop().Schedule(connectRetry, func() {
			if c.fd < 0 {
				return
			}
			if err := c.startConnect(sa); err != nil {
				c.driver.ConnectDone(err)
			}
		})
		return nil
	default:
		return c.opError("connect", err)
	}
}

func (c *Conn) bindLocal(local net.Addr) error {
	sa, err := c.origin.family.Sockaddr(local)
	if err != nil {
		return err
	}
	if err := unix.Bind(int(c.fd), sa); err != nil {
		return c.opError("bind", err)
	}
	return nil
}

// connected ends a connect that succeeded.
func (c *Conn) connected() {
	c.flags &^= flagConnecting
	remote := c.RemoteAddr()
	if sa, err := unix.Getsockname(int(c.fd)); err == nil {
		local := c.origin.family.Addr(sa)
		c.addrs.Store(&addrs{local, remote})
		if local.Network() == "tcp" && local.String() == remote.String() {
			// A connect from a port of the ephemeral range to itself meets itself (RFC
			// 9293, 3.5, simultaneous open): nobody listens there.
			c.driver.ConnectDone(c.opError("connect", unix.ECONNREFUSED))
			return
		}
	}
	c.flags |= flagConnected
	c.driver.ConnectDone(nil) // arms what the channel wants
}

// finishConnect asks how a connect that was under way has ended.
func (c *Conn) finishConnect() {
	errno, err := unix.GetsockoptInt(int(c.fd), unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = syscall.Errno(errno)
	}
	if err != nil {
		c.driver.ConnectDone(c.opError("connect", err))
		return
	}
	c.connected()
}

// arm tells the poller what the connection waits for.
func (c *Conn) arm() error {
	var ops loop.Ops
	if c.flags&flagReading != 0 {
		ops |= loop.OpRead
	}
	if c.flags&(flagConnecting|flagWriteWait) != 0 {
		ops |= loop.OpWrite
	}
	switch {
	case c.flags&(flagReading|flagConnecting|flagGone) != 0:
	case c.flags&flagHungUp != 0:
		ops |= loop.OpError // a reset may follow
	default:
		ops |= loop.OpHangup // to see a reset although nobody reads
	}
	return c.reg.SetInterest(ops)
}

// StartRead implements channel.Transport.
func (c *Conn) StartRead() {
	if c.flags&flagReading != 0 || c.fd < 0 {
		return
	}
	c.flags = c.flags&^(flagHungUp|flagGone) | flagReading
	c.rearm()
}

// StopRead implements channel.Transport.
func (c *Conn) StopRead() {
	if c.fd < 0 {
		return
	}
	c.flags &^= flagReading
	c.rearm() // also when it wasn't reading: see arm
}

// rearm arms outside an operation that could return the error.
func (c *Conn) rearm() {
	if !c.reg.Valid() {
		return
	}
	if err := c.arm(); err != nil {
		d := c.driver
		_ = d.Loop().Execute(func() { d.Fail(err) }) // refused: the loop closes us
	}
}

// Shutdown implements channel.Transport.
func (c *Conn) Shutdown(direction channel.Direction) error {
	switch {
	case c.fd < 0:
		return net.ErrClosed
	case direction == channel.Inbound:
		return nil // nothing is read any more; SHUT_RD would differ between TCP and Unix sockets
	}
	if err := unix.Shutdown(int(c.fd), unix.SHUT_WR); err != nil && err != unix.ENOTCONN {
		return c.opError("shutdown", err)
	}
	return nil
}

// Close implements channel.Transport.
func (c *Conn) Close() error {
	fd := int(c.fd)
	c.fd = -1
	c.flags = 0
	if c.reg.Valid() {
		_ = c.reg.DeregisterClosing() // it was valid
		c.reg = loop.Registration{}
	}
	if fd < 0 {
		return nil
	}
	if c.linger0 {
		_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	}
	if err := unix.Close(fd); err != nil {
		return c.opError("close", err)
	}
	return nil
}

// LocalAddr implements channel.Transport.
func (c *Conn) LocalAddr() net.Addr {
	if a := c.addrs.Load(); a != nil {
		return a.local
	}
	return c.origin.local
}

// RemoteAddr implements channel.Transport.
func (c *Conn) RemoteAddr() net.Addr {
	if a := c.addrs.Load(); a != nil {
		return a.remote
	}
	if !c.peer.IsValid() {
		return nil
	}
	return net.TCPAddrFromAddrPort(c.peer)
}

func (c *Conn) opError(op string, err error) error {
	if errno, ok := err.(syscall.Errno); ok {
		err = os.NewSyscallError(op, errno)
	}
	return &net.OpError{Op: op, Net: c.origin.family.Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}
