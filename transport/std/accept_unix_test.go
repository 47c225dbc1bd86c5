//go:build unix

package std

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"millrace.dev/channel"
	"millrace.dev/loop"
)

// failing is a net.Listener whose Accept fails with the errors in turn, and then waits.
type failing struct {
	mu       sync.Mutex
	errs     []error
	attempts int
	drained  chan struct{}
	closed   chan struct{}
}

func (f *failing) Accept() (net.Conn, error) {
	f.mu.Lock()
	if len(f.errs) > 0 {
		defer f.mu.Unlock()
		f.attempts++
		err := f.errs[0]
		f.errs = f.errs[1:]
		return nil, err
	}
	f.mu.Unlock()
	close(f.drained)
	<-f.closed
	return nil, net.ErrClosed
}

func (f *failing) Close() error   { close(f.closed); return nil }
func (f *failing) Addr() net.Addr { return &net.UnixAddr{Net: "unix", Name: "failing"} }

type noted struct {
	mu   sync.Mutex
	text strings.Builder
	errs chan error
}

func (n *noted) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(p)
}

func (n *noted) OnError(_ *channel.Context, err error) { n.errs <- err }

func listenOn(t *testing.T, f *failing) (*channel.Channel, *noted) {
	t.Helper()
	f.drained, f.closed = make(chan struct{}), make(chan struct{})
	n := &noted{errs: make(chan error, 10)}
	g, err := loop.NewGroup(loop.Options{Loops: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := g.Shutdown(0, time.Minute).Wait(context.Background()); err != nil {
			t.Error(err)
		}
	})
	l := newListener(&Options{}, f)
	l.pauseFor = time.Millisecond
	config := channel.NewConfig()
	config.Logger = slog.New(slog.NewTextHandler(n, nil))
	ch := channel.New(g.Next(), l, config, nil)
	if err := ch.Pipeline().AddLast("noted", n); err != nil {
		t.Fatal(err)
	}
	if _, err := ch.Register().Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return ch, n
}

func TestListenerPausesWithoutDescriptors(t *testing.T) {
	t.Parallel()
	f := &failing{errs: []error{syscall.EMFILE, &net.OpError{Op: "accept", Err: syscall.ENFILE}, syscall.ENOBUFS}}
	ch, n := listenOn(t, f)
	<-f.drained
	n.mu.Lock()
	lines := strings.Count(n.text.String(), "out of descriptors")
	n.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.attempts != 3 || lines != 1 || !ch.IsActive() {
		t.Errorf("%d attempts, %d log lines, active: %v", f.attempts, lines, ch.IsActive())
	}
}

func TestListenerGoesOnAfterALostConnection(t *testing.T) {
	t.Parallel()
	f := &failing{errs: []error{syscall.ECONNABORTED, &net.OpError{Op: "accept", Err: syscall.EPROTO}, syscall.EHOSTUNREACH}}
	ch, n := listenOn(t, f)
	<-f.drained
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.attempts != 3 || !ch.IsActive() || len(n.errs) != 0 {
		t.Errorf("%d attempts, active: %v, %d errors", f.attempts, ch.IsActive(), len(n.errs))
	}
}

func TestListenerEndsWithAnyOtherError(t *testing.T) {
	t.Parallel()
	f := &failing{errs: []error{io.ErrUnexpectedEOF}}
	ch, n := listenOn(t, f)
	if _, err := ch.CloseFuture().Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-n.errs; !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
}

func TestListenerClosesWhileItPauses(t *testing.T) {
	t.Parallel()
	f := &failing{errs: []error{syscall.EMFILE}}
	f.drained, f.closed = make(chan struct{}), make(chan struct{})
	l := newListener(&Options{}, f)
	l.pauseFor = time.Hour
	ended := make(chan bool)
	go func() { ended <- l.pause() }()
	close(l.done)
	if <-ended {
		t.Error("the pause has come to its end")
	}
}
