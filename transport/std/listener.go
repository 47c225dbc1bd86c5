package std

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"millrace.dev/channel"
	"millrace.dev/transport/internal/inbox"
)

// acceptPause is how long a listener waits when the process or the system has no
// descriptor left: trying on would only spin.
const acceptPause = time.Second

// acceptAhead is how many connections the goroutine accepts before the channel takes them.
const acceptAhead = 16

// listener accepts connections. It implements channel.Transport; the messages that it
// delivers are *conn.
type listener struct {
	options *Options
	driver  channel.Driver
	nl      net.Listener // nil until bound
	in      inbox.Inbox
	room    chan struct{} // tells the accepting goroutine that the inbox has room
	done    chan struct{} // closed by Close
	local   atomic.Pointer[net.Addr]
	running bool
	closed  bool

	pauseFor time.Duration // acceptPause, but for tests
}

// newListener returns a transport over nl, or an unbound one when that is nil.
func newListener(o *Options, nl net.Listener) *listener {
	l := &listener{options: o, room: make(chan struct{}, 1), done: make(chan struct{}), pauseFor: acceptPause}
	l.in.Init(acceptAhead, l.wake)
	if nl != nil {
		l.bound(nl)
	}
	return l
}

func (l *listener) bound(nl net.Listener) {
	l.nl = nl
	a := nl.Addr()
	l.local.Store(&a)
}

func (l *listener) wake() {
	select {
	case l.room <- struct{}{}:
	default: // it was told already
	}
}

// Register implements channel.Transport.
func (l *listener) Register(d channel.Driver) error {
	l.driver = d
	return l.in.Attach(d)
}

// Deregister implements channel.Transport.
func (l *listener) Deregister() error { return l.in.Detach() }

// Active implements channel.Transport.
func (l *listener) Active() bool { return l.nl != nil && !l.closed }

// Bind implements channel.Transport.
func (l *listener) Bind(local net.Addr) error {
	network, err := networkOf("listen", local)
	if err != nil {
		return err
	}
	config := net.ListenConfig{KeepAlive: -1, KeepAliveConfig: l.options.KeepAlive}
	config.SetMultipathTCP(false) // plain TCP, as clients ask for
	nl, err := config.Listen(context.Background(), network, local.String())
	if err != nil {
		return err
	}
	l.bound(nl)
	return nil
}

// Connect implements channel.Transport.
func (l *listener) Connect(_, _ net.Addr) error {
	return &net.OpError{Op: "connect", Net: "std", Err: errors.ErrUnsupported}
}

// StartRead implements channel.Transport.
func (l *listener) StartRead() {
	if !l.running && l.nl != nil && !l.closed {
		l.running = true
		go l.accept()
	}
	l.in.Start()
}

// StopRead implements channel.Transport. The goroutine still accepts a few connections
// ahead.
func (l *listener) StopRead() { l.in.Stop() }

// accept fills the inbox until the listener ends.
func (l *listener) accept() {
	starved := false
	for {
		for l.in.Room(1) == 0 {
			<-l.room
		}
		nc, err := l.nl.Accept()
		switch {
		case err == nil:
			starved = false
			l.options.configure(nc)
			if !l.in.Put(newConn(l.options, nc)) {
				_ = nc.Close() // nobody knows it yet
			}
		case isLost(err): // others may wait
		case !isShortage(err):
			l.in.End(err)
			return
		default:
			if !starved { // once for all the pauses until it works again
				starved = true
				ch := l.driver.Channel()
				ch.Logger().Error("cannot accept: out of descriptors or memory; pausing between attempts",
					"channel", ch, "error", err, "pause", l.pauseFor)
			}
			if !l.pause() {
				return
			}
		}
	}
}

// pause waits before the next attempt; false: the listener has closed.
func (l *listener) pause() bool {
	t := time.NewTimer(l.pauseFor)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-l.done:
		return false
	}
}

// Write implements channel.Transport: nothing can be written to a listener.
func (l *listener) Write(*channel.Queue) error { return errors.ErrUnsupported }

// Shutdown implements channel.Transport.
func (l *listener) Shutdown(channel.Direction) error { return errors.ErrUnsupported }

// Close implements channel.Transport. The address is free when it returns.
func (l *listener) Close() error {
	if l.closed {
		return nil
	}
	l.closed = true
	close(l.done)
	_ = l.Deregister() // it has no descriptor
	var err error
	if l.nl != nil {
		err = l.nl.Close()
	}
	for _, c := range l.in.Close() {
		_ = c.(*conn).Close() // nobody has accepted it
	}
	return err
}

// LocalAddr implements channel.Transport.
func (l *listener) LocalAddr() net.Addr {
	if a := l.local.Load(); a != nil {
		return *a
	}
	return nil
}

// RemoteAddr implements channel.Transport: a listener has no peer.
func (l *listener) RemoteAddr() net.Addr { return nil }
