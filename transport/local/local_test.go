package local_test

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/loop"
	"millrace.dev/transport/local"
)

const patience = time.Minute

// ends is a listener with one connection, both ends on one loop.
type ends struct {
	ctx            context.Context
	client, server *channel.Channel
	got            chan *buffer.Buffer // by the server
	read           func(n int64)
}

func (e *ends) OnRead(ctx *channel.Context, msg any) {
	switch m := msg.(type) {
	case channel.Transport:
		config := channel.NewConfig()
		config.AutoRead = false
		e.server = channel.New(ctx.Loop(), m, config, ctx.Channel())
		_ = e.server.Pipeline().AddLast("ends", e)
		e.server.Register()
		close(e.got)
		e.got = make(chan *buffer.Buffer, 1000)
	case *buffer.Buffer:
		if e.read != nil {
			e.read(int64(m.Len()))
		}
		e.got <- m
	}
}

func connect(t *testing.T, network *local.Transport) *ends {
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
	accepted := make(chan *buffer.Buffer)
	e := &ends{ctx: ctx, got: accepted}
	l := channel.New(g.Next(), network.NewListener(), nil, nil)
	if err := l.Pipeline().AddLast("ends", e); err != nil {
		t.Fatal(err)
	}
	e.client = channel.New(g.Next(), network.NewConn(), nil, nil)
	for _, f := range []channel.Future{
		l.Register(), l.Bind(local.Addr("server")), e.client.Register(), e.client.Connect(local.Addr("server"), nil),
	} {
		if _, err := f.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
	<-accepted
	return e
}

// onLoop runs fn on the loop of both ends.
func (e *ends) onLoop(t *testing.T, fn func()) {
	t.Helper()
	done := make(chan struct{})
	if err := e.client.Loop().Execute(func() { defer close(done); fn() }); err != nil {
		t.Fatal(err)
	}
	<-done
}

func TestABufferIsHandedOverWhole(t *testing.T) {
	t.Parallel()
	e := connect(t, local.New(local.Options{}))
	b := buffer.CopyString("the same")
	if _, err := e.client.WriteAndFlush(b).Wait(e.ctx); err != nil {
		t.Fatal(err)
	}
	e.server.Read()
	if got := <-e.got; got != b {
		t.Error("the peer got another buffer")
	}
	b.Close()
}

func TestTheWindowBoundsWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	const window, message, total = 10_000, 1000, 100_000
	e := connect(t, local.New(local.Options{Window: window}))
	var first, last channel.Future
	e.onLoop(t, func() {
		first = e.client.Write(buffer.Wrap(make([]byte, message)))
		for range total/message - 1 {
			last = e.client.Write(buffer.Wrap(make([]byte, message)))
		}
		e.client.Flush()
	})
	if _, err := first.Wait(e.ctx); err != nil { // the flush is done at the end of the turn
		t.Fatal(err)
	}
	e.onLoop(t, func() {
		if n := total - e.client.PendingBytes(); n > window || n < window/2 {
			t.Errorf("%d bytes under way while nobody reads; the window is %d", n, window)
		}
		received := int64(0)
		e.read = func(n int64) {
			if under := total - e.client.PendingBytes() - received; under > window {
				t.Errorf("%d bytes under way after %d; the window is %d", under, received, window)
			}
			received += n
		}
		e.server.SetAutoRead(true)
	})
	if _, err := last.Wait(e.ctx); err != nil {
		t.Error(err)
	}
	for n := 0; n < total; {
		b := <-e.got
		n += b.Len()
		b.Close()
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	e := connect(t, local.New(local.Options{}))
	if a := e.server.RemoteAddr(); a.Network() != "local" || a.String() == "" {
		t.Errorf("the client's address is %q", a)
	}
	ch := channel.New(e.client.Loop(), local.New(local.Options{}).NewListener(), nil, nil)
	if _, err := ch.Register().Wait(e.ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := ch.Bind(&net.TCPAddr{}).Wait(e.ctx); err == nil {
		t.Error("bound to an address of another kind")
	}
}

// Two networks don't see each other.
func TestNetworksAreApart(t *testing.T) {
	t.Parallel()
	e := connect(t, local.New(local.Options{}))
	ch := channel.New(e.client.Loop(), local.New(local.Options{}).NewConn(), nil, nil)
	if _, err := ch.Register().Wait(e.ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := ch.Connect(local.Addr("server"), nil).Wait(e.ctx); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the connect ended with %v", err)
	}
}

// A connect that waits for room in the backlog ends with what became of it, also when its
// channel wasn't registered at that moment.
func TestConnectThatEndsWhileDeregistered(t *testing.T) {
	t.Parallel()
	for _, refused := range []bool{false, true} {
		network := local.New(local.Options{Backlog: 1})
		e := connect(t, network)
		config := channel.NewConfig()
		config.AutoRead = false
		l := channel.New(e.client.Loop(), network.NewListener(), config, nil)
		if err := l.Pipeline().AddLast("ends", &ends{got: make(chan *buffer.Buffer)}); err != nil {
			t.Fatal(err)
		}
		first := channel.New(l.Loop(), network.NewConn(), nil, nil)
		waits := channel.New(l.Loop(), network.NewConn(), nil, nil)
		for _, f := range []channel.Future{
			l.Register(), l.Bind(local.Addr("full")), first.Register(), first.Connect(local.Addr("full"), nil), waits.Register(),
		} {
			if _, err := f.Wait(e.ctx); err != nil {
				t.Fatal(err)
			}
		}
		var connected channel.Future
		e.onLoop(t, func() {
			connected = waits.Connect(local.Addr("full"), nil)
			waits.Deregister()
			if refused {
				l.Close()
			} else {
				l.Read()
			}
		})
		for range 3 { // whatever the listener has set off comes
			e.onLoop(t, func() {})
		}
		if connected.IsDone() {
			t.Errorf("refused %v: told while it was deregistered: %v", refused, connected.Err())
		}
		if _, err := waits.Register().Wait(e.ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := connected.Wait(e.ctx); errors.Is(err, syscall.ECONNREFUSED) != refused || !refused && err != nil {
			t.Errorf("refused %v: the connect ended with %v", refused, err)
		}
	}
}
