package bootstrap_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
	"millrace.dev/loop"
	"millrace.dev/transport/local"
)

// sharing is a transport whose listeners seem to share an address: each has a name of its
// own, and one of them fails.
type sharing struct {
	*local.Transport
	made  atomic.Int32
	fails int32
}

func (s *sharing) Shares() bool { return true }

func (s *sharing) NewListener() channel.Transport {
	return &sharedListener{s.Transport.NewListener(), s.made.Add(1) == s.fails}
}

type sharedListener struct {
	channel.Transport
	fails bool
}

func (l *sharedListener) Bind(net.Addr) error {
	if l.fails {
		return errTest
	}
	return l.Transport.Bind(local.Addr(""))
}

func TestBindOpensOneListenerForEachLoop(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	r.server.Transport = &sharing{Transport: r.transport}
	r.bind()
	loops := map[*loop.Loop]bool{}
	for _, l := range r.server.Listeners() {
		loops[l.Loop()] = true
	}
	if len(loops) != 3 {
		t.Errorf("listeners on %d loops, want 3", len(loops))
	}
}

func TestBindLeavesNothingBehindWhenALaterListenerFails(t *testing.T) {
	t.Parallel()
	for failing := int32(1); failing <= 3; failing++ {
		r := newRig(t, 3)
		r.server.Transport = &sharing{Transport: r.transport, fails: failing}
		if _, err := r.server.Bind(local.Addr("x")).Wait(r.ctx); !errors.Is(err, errTest) {
			t.Errorf("listener %d fails: Bind returned %v", failing, err)
		}
		await(t, "the other listeners to close", func() bool { return len(r.server.Listeners()) == 0 })
	}
}

func TestCancelledBindLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	r.server.Transport = &sharing{Transport: r.transport}
	gate := make(chan struct{})
	for _, l := range r.group.Loops() { // lets none of them open
		if err := l.Execute(func() { <-gate }); err != nil {
			t.Fatal(err)
		}
	}
	f := r.server.Bind(local.Addr("x"))
	cancelled := f.Cancel()
	close(gate)
	if !cancelled || !f.IsCancelled() {
		t.Fatal("Bind was not cancelled")
	}
	sync := make(chan struct{}, 9)
	for range 3 { // what was to open has had its turn on every loop
		for _, l := range r.group.Loops() {
			if err := l.Execute(func() { sync <- struct{}{} }); err != nil {
				t.Fatal(err)
			}
			<-sync
		}
	}
	if n := len(r.server.Listeners()); n != 0 {
		t.Errorf("%d listeners are open", n)
	}
}

func TestListenerOnAUsedAddress(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.bind()
	if _, err := r.server.Bind(local.Addr("server")).Wait(r.ctx); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("the second Bind: %v", err)
	}
	if n := len(r.server.Listeners()); n != 1 {
		t.Errorf("%d listeners, want the first one alone", n)
	}
	if _, err := r.server.Bind(local.Addr("another")).Wait(r.ctx); err != nil {
		t.Error(err)
	}
}

func TestInitListener(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() error{
		"error": func() error { return errTest },
		"panic": func() error { panic(errTest) },
	} {
		r := newRig(t, 1)
		calls := 0
		r.server.InitListener = func(*channel.Channel) error {
			if calls++; calls == 1 {
				return fail()
			}
			return nil
		}
		if _, err := r.server.Bind(local.Addr("server")).Wait(r.ctx); !errors.Is(err, errTest) {
			t.Errorf("%s: Bind returned %v", name, err)
		}
		r.bind() // it did no harm
	}
}

func TestMissingInit(t *testing.T) {
	t.Parallel()
	s := &bootstrap.Server{}
	if _, err := s.Bind(local.Addr("x")).Result(); err == nil || !strings.Contains(err.Error(), "Init") {
		t.Errorf("Bind without Init: %v", err)
	}
	c := &bootstrap.Client{}
	if _, err := c.Connect(local.Addr("x")).Result(); err == nil || !strings.Contains(err.Error(), "Init") {
		t.Errorf("Connect without Init: %v", err)
	}
	if _, err := c.CreateUnregistered(); err == nil {
		t.Error("CreateUnregistered without Init")
	}
	zero := &channel.Config{AllowHalfClosure: true} // would never read, and say nothing
	s = &bootstrap.Server{Init: add(newObserver()), Config: zero}
	if _, err := s.Bind(local.Addr("x")).Result(); err == nil || !strings.Contains(err.Error(), "NewConfig") {
		t.Errorf("Bind with a Config of zeros: %v", err)
	}
	c = &bootstrap.Client{Init: add(newObserver()), Config: zero}
	if _, err := c.Connect(local.Addr("x")).Result(); err == nil || !strings.Contains(err.Error(), "NewConfig") {
		t.Errorf("Connect with a Config of zeros: %v", err)
	}
	c = &bootstrap.Client{Init: add(newObserver())}
	if _, err := c.CreateUnregistered(); err == nil || !strings.Contains(err.Error(), "Group") {
		t.Errorf("CreateUnregistered without Group: %v", err)
	}
}

func TestConnectionsOnTheLoopsInTurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.client.Group = newGroup(t, 1)
	r.bind()
	perLoop := map[*loop.Loop]int{}
	for range 8 {
		r.connect()
		perLoop[receive(t, "a connection", r.seen.active).Loop()]++
	}
	for l, n := range perLoop {
		if n != 4 {
			t.Errorf("%d connections on %s, want 4", n, l.Name())
		}
	}
	if n := r.server.Connections(); n != 8 {
		t.Errorf("%d connections, want 8", n)
	}
	seen := make(chan *channel.Channel, 8)
	err := r.server.EachConnection(r.ctx, func(ch *channel.Channel) {
		if !ch.Loop().InLoop() {
			t.Error("called off the channel's loop")
		}
		seen <- ch
	})
	if err != nil || len(seen) != 8 {
		t.Errorf("EachConnection: %v, %d of 8 connections", err, len(seen))
	}
}

func TestInitThatFails(t *testing.T) {
	t.Parallel()
	for name, init := range map[string]func(ch *channel.Channel) error{
		"error":  func(*channel.Channel) error { return errTest },
		"panic":  func(*channel.Channel) error { panic(errTest) },
		"closes": func(ch *channel.Channel) error { ch.Close(); return nil },
	} {
		r := newRig(t, 2)
		r.server.Init = init
		r.bind()
		ch := r.connect()
		if _, err := ch.CloseFuture().Wait(r.ctx); err != nil {
			t.Errorf("%s: the client's channel: %v", name, err)
		}
		await(t, "the count to come down", func() bool { return r.server.Connections() == 0 })
		if n := r.log.count("could not be"); (n == 1) != (name != "closes") {
			t.Errorf("%s: %d log lines", name, n)
		}
	}
}

func TestMaxConns(t *testing.T) {
	t.Parallel()
	const limit = 3
	r := newRig(t, 2)
	r.server.MaxConns = limit
	r.bind()
	for range limit {
		r.connect()
		receive(t, "a connection", r.seen.active)
	}
	for range 20 {
		ch, err := r.client.Connect(local.Addr("server")).Wait(r.ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ch.CloseFuture().Wait(r.ctx); err != nil {
			t.Fatal(err)
		}
	}
	if n, refused := r.server.Connections(), r.server.Refused(); n != limit || refused != 20 {
		t.Errorf("%d connections, %d refused; want %d and 20", n, refused, limit)
	}
	if n := r.log.count("refused a connection"); n == 0 || n == 20 {
		t.Errorf("%d log lines for 20 refusals", n)
	}
	if err := r.server.EachConnection(r.ctx, func(ch *channel.Channel) { ch.Close() }); err != nil {
		t.Fatal(err)
	}
	await(t, "room", func() bool { return r.server.Connections() == 0 })
	r.connect()
	receive(t, "a connection", r.seen.active)
}

func TestAdopt(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	bound := r.transport.NewListener()
	if err := bound.Bind(local.Addr("server")); err != nil {
		t.Fatal(err)
	}
	l, err := r.server.Adopt(bound).Wait(r.ctx)
	if err != nil || l.LocalAddr() != local.Addr("server") {
		t.Fatalf("%v, %v", l, err)
	}
	r.connect()
	receive(t, "a connection", r.seen.active)
	if err := r.server.Shutdown(expired()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	late := r.transport.NewListener()
	if err := late.Bind(local.Addr("late")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.server.Adopt(late).Wait(r.ctx); !errors.Is(err, bootstrap.ErrServerClosed) {
		t.Errorf("Adopt after Shutdown: %v", err)
	}
	if late.Active() {
		t.Error("a listener that was not adopted is open")
	}
}

// A listener is closed also when there is no loop any more to serve it.
func TestAdoptAfterTheLoopsHaveEnded(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	if _, err := r.server.Group.Shutdown(0, patience).Wait(r.ctx); err != nil {
		t.Fatal(err)
	}
	l := r.transport.NewListener()
	if err := l.Bind(local.Addr("server")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.server.Adopt(l).Wait(r.ctx); !errors.Is(err, loop.ErrShutdown) {
		t.Errorf("adopted: %v", err)
	}
	if l.Active() {
		t.Error("the listener is open")
	}
}

// expired returns a context that is done.
func expired() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
