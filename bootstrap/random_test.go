package bootstrap_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
	"millrace.dev/loop"
	"millrace.dev/transport/local"
)

// crowd is the handler of connections: it counts them.
type crowd struct {
	t    *testing.T
	max  int
	init atomic.Uint64

	mu  sync.Mutex
	all map[*channel.Channel]bool // active ones
}

func newCrowd(t *testing.T, max int) *crowd {
	return &crowd{t: t, max: max, all: map[*channel.Channel]bool{}}
}

func (c *crowd) OnActive(ctx *channel.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[ctx.Channel()] = true
	open := 0
	for ch := range c.all {
		if ch.IsOpen() { // some are closed and haven't heard of it
			open++
		}
	}
	if open > c.max {
		c.t.Errorf("%d connections are open", open)
	}
}

func (c *crowd) OnInactive(ctx *channel.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, ctx.Channel())
}

func (c *crowd) active() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.all)
}

func (c *crowd) OnEvent(ctx *channel.Context, event any) {
	if _, ok := event.(bootstrap.Drain); ok {
		ctx.Close()
	}
}

func (c *crowd) OnError(ctx *channel.Context, _ error) { ctx.Close() }

// accept is an Init that now and then refuses, fails or panics.
func (c *crowd) accept(ch *channel.Channel) error {
	switch c.init.Add(1) % 11 {
	case 3:
		return errTest
	case 5:
		panic(errTest)
	case 7:
		ch.Close()
		return nil
	}
	return ch.Pipeline().AddLast("crowd", c)
}

// Clients that come and go, more than may, while the server refuses, fails and ends: there are
// never more than may, and none is left or counted for ever.
func TestServerRandomly(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		_, log := newLog()
		g, clients := newGroup(t, 2), newGroup(t, 2)
		network := local.New(local.Options{Backlog: 4})
		c := newCrowd(t, 4)
		s := &bootstrap.Server{Group: g, Transport: network, Init: c.accept, MaxConns: c.max, Logger: log,
			Config: quietConfig(), OneAcceptor: seed%2 == 0}
		ctx := within(t)
		l, err := s.Bind(local.Addr("")).Wait(ctx)
		if err != nil {
			t.Fatal(err)
		}
		client := &bootstrap.Client{Group: clients, Transport: network, Config: quietConfig(),
			Init: add(newCrowd(t, 1<<30))}
		var coming sync.WaitGroup
		for i := range uint64(4) {
			rnd := rand.New(rand.NewPCG(seed, i))
			coming.Go(func() {
				for n := range 40 {
					comeAndGo(ctx, t, rnd, client, l)
					if n == 25 && i == 0 && seed%3 > 0 {
						endServer(ctx, t, s, g, seed%3 == 2)
					}
				}
			})
		}
		coming.Wait()
		endServer(ctx, t, s, g, false)
		await(t, "the last connection to go", func() bool { return s.Connections() == 0 && c.active() == 0 })
		if n := len(s.Listeners()); n != 0 {
			t.Errorf("seed %d: %d listeners are left", seed, n)
		}
	}
}

// endServer shuts the server down, or its loops under it.
func endServer(ctx context.Context, t *testing.T, s *bootstrap.Server, g *loop.Group, loops bool) {
	if loops {
		if _, err := g.Shutdown(0, patience).Wait(ctx); err != nil {
			t.Error(err)
		}
		return
	}
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if n := s.Connections(); n != 0 {
		t.Errorf("%d connections when the server was shut down", n)
	}
}

func comeAndGo(ctx context.Context, t *testing.T, rnd *rand.Rand, client *bootstrap.Client, l *channel.Channel) {
	f := client.Connect(l.LocalAddr())
	if rnd.IntN(4) == 0 && f.Cancel() {
		return
	}
	ch, err := f.Wait(ctx)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a connect has no end: %v", err)
		}
		return
	}
	if rnd.IntN(3) == 0 {
		ch.Write(&channel.FileRegion{}) // fails when it is flushed, and not before
	}
	if _, err := ch.Close().Wait(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
}
