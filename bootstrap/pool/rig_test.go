package pool_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"millrace.dev/bootstrap"
	"millrace.dev/bootstrap/pool"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/loop"
	"millrace.dev/transport/local"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

// patience is how long a test waits for what must happen.
const patience = time.Minute

var errTest = errors.New("test")

type ignore struct{}

func (ignore) OnRead(_ *channel.Context, msg any) { channel.Dispose(msg) }

func (ignore) OnError(ctx *channel.Context, _ error) { ctx.Close() }

// rig is a server in memory, and a client for pools.
type rig struct {
	*testing.T
	ctx    context.Context
	server *bootstrap.Server
	client *bootstrap.Client
}

func newRig(t *testing.T) *rig {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	logger := slog.New(slog.NewTextHandler(io.Discard, nil))
	g, err := loop.NewGroup(loop.Options{Loops: 2, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	config := channel.NewConfig()
	config.Logger = logger
	network := local.New(local.Options{})
	init := func(ch *channel.Channel) error { return ch.Pipeline().AddLast("ignore", ignore{}) }
	r := &rig{
		T: t, ctx: ctx,
		server: &bootstrap.Server{Group: g, Transport: network, Init: init, Logger: logger, Config: config},
		client: &bootstrap.Client{Group: g, Transport: network, Init: init, Config: config},
	}
	t.Cleanup(func() {
		if _, err := g.Shutdown(0, patience).Wait(ctx); err != nil {
			t.Error(err)
		}
		cancel()
	})
	if _, err := r.server.Bind(local.Addr("server")).Wait(ctx); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) connect() pool.Future { return r.client.Connect(local.Addr("server")) }

// get waits for a channel that must come.
func (r *rig) get(f pool.Future) *channel.Channel {
	r.Helper()
	ch, err := f.Wait(r.ctx)
	if err != nil {
		r.Fatal(err)
	}
	if !ch.IsActive() {
		r.Fatal("the channel is not active")
	}
	return ch
}

// refused waits for an acquire that must fail.
func (r *rig) refused(f pool.Future, want error) {
	r.Helper()
	if _, err := f.Wait(r.ctx); !errors.Is(err, want) {
		r.Fatalf("the acquire ended with %v, want %v", err, want)
	}
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) closed(ch *channel.Channel) {
	r.Helper()
	if _, err := ch.CloseFuture().Wait(r.ctx); err != nil {
		r.Fatal(err)
	}
}

// silent is a transport that never answers a connect.
type silent struct{ *local.Transport }

func (s silent) NewConn() channel.Transport { return silentConn{s.Transport.NewConn()} }

type silentConn struct{ channel.Transport }

func (silentConn) Connect(_, _ net.Addr) error { return nil }

// await waits until cond is true.
func await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
