package local

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"

	"millrace.dev/channel"
	"millrace.dev/transport/internal/inbox"
)

// listener accepts connections. It implements channel.Transport; the messages that it
// delivers are *conn.
type listener struct {
	network *Transport
	name    atomic.Pointer[Addr] // nil until bound
	backlog inbox.Inbox          // connections that wait to be accepted
	driver  channel.Driver

	mu      sync.Mutex
	closed  bool
	waiting []*conn // clients that wait for room in the backlog
}

func newListener(t *Transport) *listener {
	l := &listener{network: t}
	l.backlog.Init(int64(t.backlog), l.admitWaiting)
	return l
}

// admit gives a client's connection its place in the backlog, or lets it wait for one. It
// runs on the client's loop.
func (l *listener) admit(c *conn) (admitted bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return false, syscall.ECONNREFUSED
	case len(l.waiting) > 0 || l.backlog.Room(1) <= 0:
		l.waiting = append(l.waiting, c)
		return false, nil
	}
	l.backlog.Put(c.pair())
	return true, nil
}

// admitWaiting gives those who wait the places that have become free.
func (l *listener) admitWaiting() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting) > 0 && !l.closed && l.backlog.Room(1) > 0 {
		c := l.waiting[0]
		l.waiting[0] = nil
		l.waiting = l.waiting[1:]
		l.backlog.Put(c.pair())
		c.tellConnected(nil)
	}
}

// abandon forgets a client that has closed. Afterwards its peer doesn't change any more.
func (l *listener) abandon(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, w := range l.waiting {
		if w == c {
			l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
			return
		}
	}
}

// tellConnected tells a client from another loop how its connect has ended.
func (c *conn) tellConnected(err error) {
	c.outcome.Store(&outcome{c, err})
	c.tellOutcome()
}

// tellOutcome has the client's loop look at the outcome of its connect, if it is registered
// there. Both who brings the one and who registers the other call it afterwards.
func (c *conn) tellOutcome() {
	if l, o := c.loop.Load(), c.outcome.Load(); l != nil && o != nil {
		_ = l.Run(o) // refused: the loop has ended, and closed the channel
	}
}

// outcome is that of a connect, on its way to the client's loop.
type outcome struct {
	client *conn
	err    error
}

// RunTask is for the loop.
func (o *outcome) RunTask() {
	if c := o.client; c.loop.Load() != nil && c.outcome.CompareAndSwap(o, nil) {
		c.connectDone(o.err)
	}
}

// Register implements channel.Transport.
func (l *listener) Register(d channel.Driver) error {
	l.driver = d
	return l.backlog.Attach(d)
}

// Deregister implements channel.Transport.
func (l *listener) Deregister() error { return l.backlog.Detach() }

// Active implements channel.Transport.
func (l *listener) Active() bool { return l.name.Load() != nil && !l.isClosed() }

func (l *listener) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// Bind implements channel.Transport.
func (l *listener) Bind(local net.Addr) error {
	name, err := addrOf("listen", local)
	if err != nil {
		return err
	}
	name, err = l.network.bind(l, name)
	if err != nil {
		return &net.OpError{Op: "listen", Net: "local", Addr: local, Err: err}
	}
	l.name.Store(&name)
	return nil
}

// Connect implements channel.Transport.
func (l *listener) Connect(_, _ net.Addr) error {
	return &net.OpError{Op: "connect", Net: "local", Err: errors.ErrUnsupported}
}

// StartRead implements channel.Transport.
func (l *listener) StartRead() { l.backlog.Start() }

// StopRead implements channel.Transport.
func (l *listener) StopRead() { l.backlog.Stop() }

// Write implements channel.Transport: nothing can be written to a listener.
func (l *listener) Write(*channel.Queue) error { return errors.ErrUnsupported }

// Shutdown implements channel.Transport.
func (l *listener) Shutdown(channel.Direction) error { return errors.ErrUnsupported }

// Close implements channel.Transport. Connections that were not accepted are reset, and
// connects that wait are refused.
func (l *listener) Close() error {
	if name := l.name.Load(); name != nil {
		l.network.unbind(*name)
	}
	_ = l.Deregister() // it has no descriptor
	l.mu.Lock()
	closed := l.closed
	l.closed = true
	waiting := l.waiting
	l.waiting = nil
	l.mu.Unlock()
	if closed {
		return nil
	}
	for _, c := range waiting {
		c.tellConnected(syscall.ECONNREFUSED)
	}
	for _, c := range l.backlog.Close() {
		c.(*conn).reset = true
		_ = c.(*conn).Close() // in memory: nothing can fail
	}
	return nil
}

// LocalAddr implements channel.Transport.
func (l *listener) LocalAddr() net.Addr {
	if name := l.name.Load(); name != nil {
		return *name
	}
	return nil
}

// RemoteAddr implements channel.Transport: a listener has no peer.
func (l *listener) RemoteAddr() net.Addr { return nil }
