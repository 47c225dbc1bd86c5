package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/loop"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

const patience = time.Minute

// abstract is the family of Unix sockets without a file.
type abstract struct{}

var lastName atomic.Int32

func newName() net.Addr {
	return &net.UnixAddr{Net: "unix", Name: fmt.Sprintf("@millrace-stream-test-%d-%d", unix.Getpid(), lastName.Add(1))}
}

func (abstract) Network() string { return "unix" }

func (abstract) Open(net.Addr) (int, error) {
	return unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
}

func (f abstract) Listen(local net.Addr) (int, error) {
	fd, err := f.Open(local)
	if err != nil {
		return -1, err
	}
	if err = unix.Bind(fd, &unix.SockaddrUnix{Name: local.String()}); err == nil {
		err = unix.Listen(fd, 64)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func (abstract) Accept(fd int) (Peer, error) {
	nfd, _, err := unix.Accept4(fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
	return Peer{Descriptor: nfd}, err
}

func (abstract) Sockaddr(a net.Addr) (unix.Sockaddr, error) {
	return &unix.SockaddrUnix{Name: a.String()}, nil
}

func (abstract) Addr(sa unix.Sockaddr) net.Addr {
	return &net.UnixAddr{Net: "unix", Name: sa.(*unix.SockaddrUnix).Name}
}

func (abstract) SharedLocal(bound net.Addr) net.Addr { return bound }
func (abstract) Configure(*Conn)                     {}
func (abstract) Unlisten(net.Addr)                   {}

// listening is a listener whose accept goes wrong as a test wants it.
type listening struct {
	*testing.T
	ctx      context.Context
	ch       *channel.Channel
	listener *Listener
	accepted chan *Conn
	errs     chan error

	mu       sync.Mutex
	errors   []error // what the next accepts fail with
	attempts int
	log      strings.Builder
}

func (l *listening) accept(fd int) (Peer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.errors) > 0 {
		l.attempts++
		err := l.errors[0]
		l.errors = l.errors[1:]
		return Peer{}, err
	}
	return abstract{}.Accept(fd)
}

// fail makes the next accepts fail.
func (l *listening) fail(errs ...error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errors = errs
	l.attempts = 0
}

func (l *listening) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.Write(p)
}

func (l *listening) OnRead(_ *channel.Context, msg any)    { l.accepted <- msg.(*Conn) }
func (l *listening) OnError(_ *channel.Context, err error) { l.errs <- err }

func listen(t *testing.T) *listening {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	g, err := loop.NewGroup(loop.Options{Loops: 1})
	if err != nil {
		t.Fatal(err)
	}
	l := &listening{T: t, ctx: ctx, accepted: make(chan *Conn, 100), errs: make(chan error, 100)}
	t.Cleanup(func() {
		if _, err := g.Shutdown(0, patience).Wait(ctx); err != nil {
			t.Error(err)
		}
		close(l.accepted)
		for c := range l.accepted {
			_ = c.Close()
		}
		cancel()
	})
	config := channel.NewConfig()
	config.Logger = slog.New(slog.NewTextHandler(l, nil))
	l.listener = NewListener(abstract{})
	l.listener.accept = l.accept
	l.listener.pauseFor = loop.DefaultTick
	l.ch = channel.New(g.Next(), l.listener, config, nil)
	if err := l.ch.Pipeline().AddLast("test", l); err != nil {
		t.Fatal(err)
	}
	for _, f := range []channel.Future{l.ch.Register(), l.ch.Bind(newName())} {
		if _, err := f.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// dial connects, whether or not anybody accepts.
func (l *listening) dial() {
	l.Helper()
	c, err := net.Dial("unix", l.ch.LocalAddr().String())
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() { _ = c.Close() })
}

func (l *listening) await() {
	l.Helper()
	select {
	case c := <-l.accepted:
		_ = c.Close()
	case <-time.After(patience):
		l.Fatal("waited in vain for a connection")
	}
}

func TestListenerPausesWithoutDescriptors(t *testing.T) {
	t.Parallel()
	l := listen(t)
	for round := 1; round <= 2; round++ {
		l.fail(unix.EMFILE, unix.ENFILE, unix.EMFILE, unix.ENOBUFS)
		l.dial()
		l.await()
		l.mu.Lock()
		attempts, lines := l.attempts, strings.Count(l.log.String(), "out of descriptors")
		l.mu.Unlock()
		if attempts != 4 || lines != round {
			t.Errorf("round %d: %d failed attempts, want 4; %d log lines, want one a round", round, attempts, lines)
		}
	}
	select {
	case err := <-l.errs:
		t.Errorf("error %v", err)
	default:
	}
}

func TestListenerSkipsConnectionsThatHaveGone(t *testing.T) {
	t.Parallel()
	l := listen(t)
	l.fail(unix.ECONNABORTED, unix.EPROTO, unix.EINTR, unix.EPERM)
	l.dial()
	l.await()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.attempts != 4 || l.log.Len() != 0 {
		t.Errorf("%d failed attempts, log %q", l.attempts, l.log.String())
	}
}

func TestListenerEndsWithItsDescriptor(t *testing.T) {
	t.Parallel()
	l := listen(t)
	l.fail(unix.EINVAL)
	l.dial()
	if _, err := l.ch.CloseFuture().Wait(l.ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-l.errs; !errors.Is(err, unix.EINVAL) {
		t.Errorf("error %v", err)
	}
}

// While it pauses, a listener can be stopped, started, deregistered and closed.
func TestListenerChangesWhileItPauses(t *testing.T) {
	t.Parallel()
	l := listen(t)
	paused := make(chan struct{})
	starve := func() {
		l.fail(unix.EMFILE)
		l.dial()
		for on := false; !on; {
			if err := l.ch.Loop().Execute(func() { on = l.listener.paused; paused <- struct{}{} }); err != nil {
				t.Fatal(err)
			}
			<-paused
			l.mu.Lock()
			on = on || l.attempts > 0
			l.mu.Unlock()
		}
	}
	starve()
	l.ch.SetAutoRead(false)
	l.ch.SetAutoRead(true)
	l.await()
	starve()
	for _, f := range []channel.Future{l.ch.Deregister(), l.ch.Register()} {
		if _, err := f.Wait(l.ctx); err != nil {
			t.Fatal(err)
		}
	}
	l.await()
	starve()
	if _, err := l.ch.Close().Wait(l.ctx); err != nil {
		t.Fatal(err)
	}
}
