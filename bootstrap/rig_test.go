package bootstrap_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/loop"
	"millrace.dev/transport/local"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

// patience is how long a test waits for what must happen.
const patience = time.Minute

func newGroup(t *testing.T, loops int) *loop.Group {
	t.Helper()
	g, err := loop.NewGroup(loop.Options{Loops: loops})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if _, err := g.Shutdown(0, patience).Wait(ctx); err != nil {
			t.Error(err)
		}
	})
	return g
}

// logged is a logger that keeps what it was told.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) count(s string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), s)
}

func newLog() (*logged, *slog.Logger) {
	l := &logged{}
	return l, slog.New(slog.NewTextHandler(l, nil))
}

// quietConfig returns a configuration whose log nobody sees.
func quietConfig() *channel.Config {
	c := channel.NewConfig()
	_, c.Logger = newLog()
	return c
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

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

// observer is a handler that passes on what happens to it.
type observer struct {
	active, inactive, events chan *channel.Channel
	event                    func(ctx *channel.Context, event any)
}

func newObserver() *observer {
	return &observer{make(chan *channel.Channel, 100), make(chan *channel.Channel, 100), make(chan *channel.Channel, 100), nil}
}

func (o *observer) OnActive(ctx *channel.Context)   { o.active <- ctx.Channel() }
func (o *observer) OnInactive(ctx *channel.Context) { o.inactive <- ctx.Channel() }
func (o *observer) OnEvent(ctx *channel.Context, event any) {
	if o.event != nil {
		o.event(ctx, event)
	}
	o.events <- ctx.Channel()
}

func receive(t *testing.T, what string, from chan *channel.Channel) *channel.Channel {
	t.Helper()
	select {
	case ch := <-from:
		return ch
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
		return nil
	}
}

func add(handler any) func(*channel.Channel) error {
	return func(ch *channel.Channel) error { return ch.Pipeline().AddLast("handler", handler) }
}

// rig is a server and a client over one in-memory network.
type rig struct {
	*testing.T
	ctx       context.Context
	transport *local.Transport
	group     *loop.Group
	seen      *observer // by the server's connections
	log       *logged
	server    *bootstrap.Server
	client    *bootstrap.Client
}

func newRig(t *testing.T, loops int) *rig {
	t.Helper()
	r := &rig{T: t, ctx: within(t), transport: local.New(local.Options{}), group: newGroup(t, loops), seen: newObserver()}
	var logger *slog.Logger
	r.log, logger = newLog()
	r.server = &bootstrap.Server{
		Group: r.group, Transport: r.transport, Logger: logger, Config: quietConfig(), Init: add(r.seen),
	}
	r.client = &bootstrap.Client{
		Group: r.group, Transport: r.transport, Config: quietConfig(), Init: add(newObserver()),
	}
	return r
}

func (r *rig) bind() net.Addr {
	r.Helper()
	l, err := r.server.Bind(local.Addr("server")).Wait(r.ctx)
	if err != nil {
		r.Fatal(err)
	}
	return l.LocalAddr()
}

func (r *rig) connect() *channel.Channel {
	r.Helper()
	ch, err := r.client.Connect(local.Addr("server")).Wait(r.ctx)
	if err != nil {
		r.Fatal(err)
	}
	return ch
}

var errTest = errors.New("test")
