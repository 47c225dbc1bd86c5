package std_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/loop"
	"millrace.dev/transport/std"
)

const patience = time.Minute

// recorder is a handler that passes on what comes.
type recorder struct {
	active chan *channel.Channel
	errs   chan error

	mu  sync.Mutex
	got bytes.Buffer
	new chan struct{}
}

func newRecorder() *recorder {
	return &recorder{active: make(chan *channel.Channel, 10), errs: make(chan error, 10), new: make(chan struct{}, 1)}
}

func (r *recorder) OnActive(ctx *channel.Context)         { r.active <- ctx.Channel() }
func (r *recorder) OnError(_ *channel.Context, err error) { r.errs <- err }
func (r *recorder) OnRead(ctx *channel.Context, msg any) {
	b, ok := msg.(*buffer.Buffer)
	if !ok { // of a listener
		channel.Dispose(msg)
		r.active <- ctx.Channel()
		return
	}
	r.mu.Lock()
	r.got.Write(b.Bytes())
	r.mu.Unlock()
	b.Close()
	select {
	case r.new <- struct{}{}:
	default:
	}
}

func (r *recorder) await(t *testing.T, want string) {
	t.Helper()
	deadline := time.After(patience)
	for {
		r.mu.Lock()
		got := r.got.String()
		r.mu.Unlock()
		if got == want {
			return
		}
		select {
		case <-r.new:
		case <-deadline:
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

func receive[T any](t *testing.T, what string, from chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
	}
	return v
}

func setUp(t *testing.T) (context.Context, *loop.Group) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	g, err := loop.NewGroup(loop.Options{Loops: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := g.Shutdown(0, patience).Wait(ctx); err != nil {
			t.Error(err)
		}
		cancel()
	})
	return ctx, g
}

// open registers a channel over a transport.
func open(t *testing.T, ctx context.Context, g *loop.Group, transport channel.Transport, r *recorder) *channel.Channel {
	t.Helper()
	ch := channel.New(g.Next(), transport, nil, nil)
	if err := ch.Pipeline().AddLast("recorder", r); err != nil {
		t.Fatal(err)
	}
	if _, err := ch.Register().Wait(ctx); err != nil {
		t.Fatal(err)
	}
	return ch
}

// Any net.Conn will do, such as one end of a net.Pipe.
func TestNewConnFrom(t *testing.T) {
	t.Parallel()
	ctx, g := setUp(t)
	near, far := net.Pipe()
	r := newRecorder()
	ch := open(t, ctx, g, std.NewConnFrom(near), r)
	if receive(t, "OnActive", r.active) != ch || ch.RemoteAddr().Network() != "pipe" {
		t.Errorf("active with the peer %v", ch.RemoteAddr())
	}
	if _, err := far.Write([]byte("in")); err != nil {
		t.Fatal(err)
	}
	r.await(t, "in")
	f := ch.WriteAndFlush(buffer.CopyString("out"))
	p := make([]byte, 3)
	if _, err := io.ReadFull(far, p); err != nil || string(p) != "out" {
		t.Fatalf("%q, %v", p, err)
	}
	if _, err := f.Wait(ctx); err != nil {
		t.Error(err)
	}
	_ = far.Close()
	if _, err := ch.CloseFuture().Wait(ctx); err != nil {
		t.Error(err)
	}
	if _, err := near.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the net.Conn was not closed: %v", err)
	}
}

func TestConnWithoutCloseWrite(t *testing.T) {
	t.Parallel()
	ctx, g := setUp(t)
	near, far := net.Pipe()
	defer far.Close()
	ch := open(t, ctx, g, std.NewConnFrom(near), newRecorder())
	if _, err := ch.Shutdown(channel.Outbound).Wait(ctx); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Shutdown: %v", err)
	}
}

// slowEnd is a connection whose CloseWrite takes until somebody reads, as TLS's does.
type slowEnd struct {
	net.Conn
	err error
}

func (s *slowEnd) CloseWrite() error {
	if s.err != nil {
		return s.err
	}
	_, err := s.Conn.Write([]byte("end"))
	return err
}

func TestSlowCloseWriteDoesNotHoldTheLoop(t *testing.T) {
	t.Parallel()
	ctx, g := setUp(t)
	near, far := net.Pipe()
	defer far.Close()
	ch := open(t, ctx, g, std.NewConnFrom(&slowEnd{Conn: near}), newRecorder())
	if _, err := ch.Shutdown(channel.Outbound).Wait(ctx); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 3)
	if _, err := io.ReadFull(far, p); err != nil || string(p) != "end" {
		t.Errorf("%q, %v", p, err)
	}

	near, other := net.Pipe()
	defer other.Close()
	r := newRecorder()
	ch = open(t, ctx, g, std.NewConnFrom(&slowEnd{Conn: near, err: io.ErrShortWrite}), r)
	ch.Shutdown(channel.Outbound)
	if err := receive(t, "the error", r.errs); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error %v", err)
	}
}

// A peer that doesn't read can't keep a closed connection: what was being written has a
// second.
func TestCloseOfABlockedConn(t *testing.T) {
	t.Parallel()
	ctx, g := setUp(t)
	near, far := net.Pipe()
	defer far.Close()
	ch := open(t, ctx, g, std.NewConnFrom(near), newRecorder())
	f := ch.WriteAndFlush(buffer.CopyString("never read"))
	if _, err := ch.Close().Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Wait(ctx); !errors.Is(err, channel.ErrClosed) {
		t.Errorf("the write: %v", err)
	}
	p := make([]byte, 4) // a part of it only
	if _, err := io.ReadFull(far, p); err != nil || string(p) != "neve" {
		t.Errorf("%q, %v", p, err)
	}
	if rest, err := io.ReadAll(far); err != nil || string(rest) != "r read" {
		t.Errorf("%q, %v", rest, err)
	}
}

func TestNewListenerFrom(t *testing.T) {
	t.Parallel()
	ctx, g := setUp(t)
	nl, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := newRecorder()
	s := &bootstrap.Server{Group: g, Transport: std.New(std.Options{}), Init: func(ch *channel.Channel) error {
		return ch.Pipeline().AddLast("recorder", r)
	}}
	l, err := s.Adopt(std.NewListenerFrom(nl)).Wait(ctx)
	if err != nil || l.LocalAddr() != nl.Addr() {
		t.Fatalf("%v, %v", l, err)
	}
	c, err := net.Dial("tcp", nl.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	r.await(t, "hello")
	if _, err := l.Close().Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := nl.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the net.Listener was not closed: %v", err)
	}
}

func TestNetConn(t *testing.T) {
	t.Parallel()
	ctx, g := setUp(t)
	near, far := net.Pipe()
	defer far.Close()
	ch := open(t, ctx, g, std.NewConnFrom(near), newRecorder())
	got := make(chan net.Conn, 1)
	if err := ch.Loop().Execute(func() {
		got <- ch.Transport().(interface{ NetConn() net.Conn }).NetConn()
	}); err != nil {
		t.Fatal(err)
	}
	if <-got != near {
		t.Error("not the net.Conn that it was made from")
	}
}
