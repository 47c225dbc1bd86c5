package bootstrap_test

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/transport/local"
)

func TestCreateUnregistered(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	addr := r.bind()
	ch, err := r.client.CreateUnregistered()
	if err != nil {
		t.Fatal(err)
	}
	if ch.Pipeline().Get("handler") == nil {
		t.Error("Init has not run")
	}
	early := ch.WriteAndFlush(buffer.CopyString("early"))
	for _, f := range []channel.Future{ch.Register(), ch.Connect(addr, nil), early} {
		if _, err := f.Wait(r.ctx); err != nil {
			t.Fatal(err)
		}
	}
	receive(t, "the connection", r.seen.active)

	unused, err := r.client.CreateUnregistered()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unused.Close().Wait(r.ctx); err != nil {
		t.Fatal(err)
	}
}

func TestClientInitThatFails(t *testing.T) {
	t.Parallel()
	for name, init := range map[string]func(ch *channel.Channel) error{
		"error": func(*channel.Channel) error { return errTest },
		"panic": func(*channel.Channel) error { panic(errTest) },
	} {
		r := newRig(t, 1)
		r.bind()
		var made *channel.Channel
		r.client.Init = func(ch *channel.Channel) error { made = ch; return init(ch) }
		if _, err := r.client.Connect(local.Addr("server")).Wait(r.ctx); !errors.Is(err, errTest) {
			t.Errorf("%s: Connect returned %v", name, err)
		}
		if _, err := made.CloseFuture().Wait(r.ctx); err != nil {
			t.Errorf("%s: the channel: %v", name, err)
		}
		if _, err := r.client.CreateUnregistered(); !errors.Is(err, errTest) {
			t.Errorf("%s: CreateUnregistered returned %v", name, err)
		}
	}
}

func TestConnectThatFails(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	if _, err := r.client.Connect(local.Addr("nobody")).Wait(r.ctx); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("Connect returned %v", err)
	}
}

func TestClientLocalAddr(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.bind()
	r.client.LocalAddr = local.Addr("me")
	r.connect()
	if got := receive(t, "the connection", r.seen.active).RemoteAddr(); got != local.Addr("me") {
		t.Errorf("the server sees %v", got)
	}
}

// silent is a transport that never answers a connect.
type silent struct{ *local.Transport }

func (s silent) NewConn() channel.Transport { return silentConn{s.Transport.NewConn()} }

type silentConn struct{ channel.Transport }

func (silentConn) Connect(_, _ net.Addr) error { return nil }

func TestConnectTimeout(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.client.Transport = silent{r.transport}
	r.client.Config = quietConfig()
	r.client.Config.ConnectTimeout = 1
	if _, err := r.client.Connect(local.Addr("x")).Wait(r.ctx); !errors.Is(err, channel.ErrConnectTimeout) {
		t.Errorf("Connect returned %v", err)
	}
}

func TestCancelledConnectClosesTheChannel(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.client.Transport = silent{r.transport}
	initialised := make(chan *channel.Channel, 1)
	r.client.Init = func(ch *channel.Channel) error {
		initialised <- ch
		return ch.Pipeline().AddLast("handler", newObserver())
	}
	f := r.client.Connect(local.Addr("x"))
	ch := receive(t, "Init", initialised)
	if !f.Cancel() || !f.IsCancelled() {
		t.Fatal("Connect was not cancelled")
	}
	if _, err := ch.CloseFuture().Wait(r.ctx); err != nil {
		t.Error(err)
	}

	ctx, cancel := context.WithCancel(r.ctx)
	go func() { receive(t, "Init", initialised); cancel() }()
	if _, err := r.client.Dial(ctx, "tcp", "127.0.0.1:1"); !errors.Is(err, context.Canceled) {
		t.Errorf("the wait ended with %v", err)
	}
}

func TestConnectOnLoopsThatHaveEnded(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	if _, err := r.group.Shutdown(0, patience).Wait(r.ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := r.client.Connect(local.Addr("x")).Wait(r.ctx); err == nil {
		t.Error("connected without a loop")
	}
	if _, err := r.server.Bind(local.Addr("x")).Wait(r.ctx); err == nil {
		t.Error("bound without a loop")
	}
}

func TestResolveAddr(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ network, address, want string }{
		{"tcp", "127.0.0.1:80", "127.0.0.1:80"},
		{"tcp6", "[::1]:80", "[::1]:80"},
		{"unix", "/run/x", "/run/x"},
	} {
		a, err := bootstrap.ResolveAddr(c.network, c.address)
		if err != nil || a.String() != c.want {
			t.Errorf("%s %s: %v, %v", c.network, c.address, a, err)
		}
	}
	for _, c := range [][2]string{{"sctp", "127.0.0.1:80"}, {"tcp", "127.0.0.1"}, {"tcp4", "[::1]:80"}} {
		if a, err := bootstrap.ResolveAddr(c[0], c[1]); err == nil {
			t.Errorf("%s %s: %v", c[0], c[1], a)
		}
	}
}

// Both connections of a proxy are to be on one loop; no group is needed for that.
func TestConnectOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	addr := r.bind()
	loops := r.client.Group.Loops()
	r.client.Group = nil
	for _, l := range loops {
		ch, err := r.client.ConnectOn(l, addr).Wait(r.ctx)
		if err != nil {
			t.Fatal(err)
		}
		if ch.Loop() != l {
			t.Error("is on another loop")
		}
	}
	if _, err := r.client.Connect(addr).Wait(r.ctx); err == nil {
		t.Error("Connect chose a loop without a group")
	}
}
