package stream

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"millrace.dev/channel"
	"millrace.dev/loop"
)

// ListenerFamily is what differs between the kinds of listeners.
type ListenerFamily interface {
	Family
	// Listen returns a non-blocking listening socket with its options set.
	Listen(local net.Addr) (fd int, err error)
	// Accept takes one waiting connection, non-blocking; EAGAIN when there is none.
	Accept(fd int) (Peer, error)
	// SharedLocal returns the local address of accepted connections when it is the
	// listener's own, or nil when each has to be asked for.
	SharedLocal(bound net.Addr) net.Addr
	// Configure sets what an accepted connection does not inherit.
	Configure(c *Conn)
	// Unlisten undoes what Listen left behind besides the socket.
	Unlisten(bound net.Addr)
}

// Peer is an accepted connection. Its remote address is an IP one or else, if it has any,
// a Named one.
type Peer struct {
	Descriptor int
	IP         netip.AddrPort
	Named      net.Addr
}

// acceptPause is how long a listener waits when the process or the system has no
// descriptor left: trying on would only spin.
const acceptPause = time.Second

// maxAcceptsPerTurn bounds an accept batch.
const maxAcceptsPerTurn = 64

// Listener accepts connections. It implements channel.Transport; the messages that it
// delivers are *Conn.
type Listener struct {
	driver  channel.Driver
	reg     loop.Registration
	family  ListenerFamily
	fd      int
	reading bool
	paused  bool
	starved bool // out of descriptors, and said so
	pause   loop.Timer
	local   atomic.Pointer[net.Addr] // any goroutine may ask
	origin  *origin

	// family.Accept and acceptPause, but for tests
	accept   func(fd int) (Peer, error)
	pauseFor time.Duration
}

// NewListener returns an unbound listener.
func NewListener(f ListenerFamily) *Listener {
	return &Listener{family: f, fd: -1, accept: f.Accept, pauseFor: acceptPause}
}

// Register implements channel.Transport.
func (l *Listener) Register(d channel.Driver) error {
	l.driver = d
	l.pause.Init(d.Loop(), l)
	return l.attach()
}

// attach registers the socket, or before Bind has made one the listener alone, to hear
// of the loop's end.
func (l *Listener) attach() (err error) {
	if l.fd < 0 {
		l.reg, err = l.driver.Loop().Attach(l)
		return err
	}
	l.reg, err = l.driver.Loop().Register(l.fd, l)
	return err
}

// Deregister implements channel.Transport.
func (l *Listener) Deregister() error {
	l.pause.Stop()
	l.paused = false
	if !l.reg.Valid() {
		return nil
	}
	err := l.reg.Deregister()
	l.reg = loop.Registration{}
	return err
}

// Active implements channel.Transport.
func (l *Listener) Active() bool { return l.fd >= 0 }

// Bind implements channel.Transport.
func (l *Listener) Bind(local net.Addr) error {
	if l.fd >= 0 {
		return &net.OpError{Op: "bind", Net: l.family.Network(), Addr: local, Err: unix.EINVAL}
	}
	fd, err := l.family.Listen(local)
	if err != nil {
		return &net.OpError{Op: "listen", Net: l.family.Network(), Addr: local, Err: err}
	}
	l.fd = fd
	l.local.Store(&local) // what Close undoes if the rest fails
	_ = l.Deregister()    // the registration without a socket: nothing can fail
	sa, err := unix.Getsockname(fd)
	if err == nil {
		err = l.attach()
	}
	if err != nil {
		_ = l.Close() // nobody has used it
		return &net.OpError{Op: "listen", Net: l.family.Network(), Addr: local, Err: err}
	}
	bound := l.family.Addr(sa)
	l.local.Store(&bound)
	l.origin = &origin{l.family, l.family.SharedLocal(bound)}
	return nil
}

// Connect implements channel.Transport.
func (l *Listener) Connect(_, _ net.Addr) error {
	return &net.OpError{Op: "connect", Net: l.family.Network(), Err: errors.ErrUnsupported}
}

// StartRead implements channel.Transport.
func (l *Listener) StartRead() {
	if l.reading || l.fd < 0 {
		return
	}
	l.reading = true
	l.arm()
}

// StopRead implements channel.Transport.
func (l *Listener) StopRead() {
	if !l.reading || l.fd < 0 {
		return
	}
	l.reading = false
	l.arm()
}

func (l *Listener) arm() {
	if !l.reg.Valid() {
		return // deregistered meanwhile
	}
	var ops loop.Ops
	if l.reading && !l.paused {
		ops = loop.OpRead
	}
	if err := l.reg.SetInterest(ops); err != nil {
		d := l.driver
		_ = d.Loop().Execute(func() { d.Fail(err) })
	}
}

// HandleIO implements loop.Handle: it accepts what waits.
func (l *Listener) HandleIO(ev loop.Event) {
	if ev.Ops&loop.OpShutdown != 0 {
		l.driver.LoopEnding(ev.Ops&loop.OpDone != 0)
		return
	}
	if l.reading && !l.paused {
		l.acceptBatch()
	}
}

func (l *Listener) acceptBatch() {
	d := l.driver
	var begun bool
	var failed error
	for range maxAcceptsPerTurn {
		peer, err := l.accept(l.fd)
		if err == nil {
			l.starved = false
			c := accepted(l.origin, peer, l.ownLocal(peer.Descriptor))
			l.family.Configure(c)
			if !begun {
				begun = true
				d.BeginBatch()
			}
			d.Read(c)
			if !d.Reading() {
				break
			}
			continue
		}
		if isTransient(err) {
			continue
		}
		if err != unix.EAGAIN {
			failed = err
		}
		break
	}
	if begun {
		d.EndBatch()
	}
	if failed != nil && l.fd >= 0 {
		l.acceptFailed(failed)
	}
}

// isTransient says that this connection is gone, but others may wait (accept(2)).
func isTransient(err error) bool {
	switch err {
	case unix.EINTR, unix.ECONNABORTED, unix.EPROTO, unix.EPERM, unix.ENETDOWN, unix.ENOPROTOOPT,
		unix.EHOSTDOWN, unix.ENONET, unix.EHOSTUNREACH, unix.EOPNOTSUPP, unix.ENETUNREACH:
		return true
	}
	return false
}

// acceptFailed pauses where resources are short, and reports everything else.
func (l *Listener) acceptFailed(err error) {
	opErr := &net.OpError{Op: "accept", Net: l.family.Network(), Addr: l.LocalAddr(), Err: os.NewSyscallError("accept4", err)}
	switch err {
	case unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM:
		if !l.starved { // once for all the pauses until it works again
			l.starved = true
			l.driver.Channel().Logger().Error("cannot accept: out of descriptors or memory; pausing between attempts",
				"channel", l.driver.Channel(), "error", err, "pause", l.pauseFor)
		}
		l.paused = true
		l.pause.Reset(l.pauseFor)
		l.arm()
	default:
		l.driver.Fail(opErr)
	}
}

// RunTimer ends a pause.
func (l *Listener) RunTimer(*loop.Timer) {
	l.paused = false
	if l.fd >= 0 {
		l.arm()
	}
}

// ownLocal returns the local address of a connection, nil where the origin has it.
func (l *Listener) ownLocal(fd int) net.Addr {
	if l.origin.local != nil {
		return nil
	}
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return l.LocalAddr()
	}
	return l.family.Addr(sa)
}

// Write implements channel.Transport: nothing can be written to a listener.
func (l *Listener) Write(*channel.Queue) error { return errors.ErrUnsupported }

// Shutdown implements channel.Transport.
func (l *Listener) Shutdown(channel.Direction) error { return errors.ErrUnsupported }

// Close implements channel.Transport.
func (l *Listener) Close() error {
	_ = l.Deregister() // the close takes it out for certain
	if l.fd < 0 {
		return nil
	}
	fd := l.fd
	l.fd = -1
	err := unix.Close(fd)
	l.family.Unlisten(l.LocalAddr())
	return err
}

// LocalAddr implements channel.Transport.
func (l *Listener) LocalAddr() net.Addr {
	if a := l.local.Load(); a != nil {
		return *a
	}
	return nil
}

// RemoteAddr implements channel.Transport: a listener has no peer.
func (l *Listener) RemoteAddr() net.Addr { return nil }
