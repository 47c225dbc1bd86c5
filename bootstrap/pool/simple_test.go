package pool_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"millrace.dev/bootstrap/pool"
	"millrace.dev/channel"
	"millrace.dev/future"
	"millrace.dev/transport/local"
)

func TestTheLastReleasedIsTheNextAcquired(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := pool.NewSimple(pool.Options{Connect: r.connect})
	a, b, c := r.get(p.Acquire()), r.get(p.Acquire()), r.get(p.Acquire())
	if a == b || b == c || p.Acquired() != 3 || p.Idle() != 0 {
		t.Fatalf("%d out, %d idle", p.Acquired(), p.Idle())
	}
	for _, ch := range []*channel.Channel{a, c, b} {
		r.must(p.Release(ch))
	}
	if p.Acquired() != 0 || p.Idle() != 3 {
		t.Fatalf("%d out, %d idle", p.Acquired(), p.Idle())
	}
	for i, want := range []*channel.Channel{b, c, a} {
		if got := r.get(p.Acquire()); got != want {
			t.Errorf("acquire %d: not the one that was released last", i)
		}
	}
}

func TestReleaseOfWhatIsNotOut(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := pool.NewSimple(pool.Options{Connect: r.connect})
	ch := r.get(p.Acquire())
	r.must(p.Release(ch))
	if err := p.Release(ch); !errors.Is(err, pool.ErrNotAcquired) {
		t.Errorf("the second release: %v", err)
	}
	if p.Idle() != 1 {
		t.Errorf("%d idle", p.Idle())
	}
	foreign := r.get(r.connect())
	if err := p.Release(foreign); !errors.Is(err, pool.ErrNotAcquired) {
		t.Errorf("the release of a foreign channel: %v", err)
	}
	if !foreign.IsOpen() {
		t.Error("a foreign channel was closed")
	}
}

func TestAClosedChannelLeavesThePool(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := pool.NewSimple(pool.Options{Connect: r.connect})
	idle, out := r.get(p.Acquire()), r.get(p.Acquire())
	r.must(p.Release(idle))
	// The server closes both.
	await(t, "both connections", func() bool { // on their loops: they count as open before
		var n atomic.Int32
		r.must(r.server.EachConnection(r.ctx, func(*channel.Channel) { n.Add(1) }))
		return n.Load() == 2
	})
	r.must(r.server.EachConnection(r.ctx, func(ch *channel.Channel) { ch.Close() }))
	r.closed(idle)
	r.closed(out)
	await(t, "the pool to forget them", func() bool { return p.Idle() == 0 && p.Acquired() == 0 })
	r.must(p.Release(out)) // allowed, not needed
	if ch := r.get(p.Acquire()); ch == idle || ch == out {
		t.Error("a closed channel was given out")
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	for name, verdict := range map[string]func(ch *channel.Channel) future.Future[bool]{
		"unhealthy": func(ch *channel.Channel) future.Future[bool] { return future.Succeeded(ch.Executor(), false) },
		"failed":    func(ch *channel.Channel) future.Future[bool] { return future.Failed[bool](ch.Executor(), errTest) },
		"panic":     func(*channel.Channel) future.Future[bool] { panic(errTest) },
	} {
		r := newRig(t)
		var mu sync.Mutex
		sick := map[*channel.Channel]bool{}
		p := pool.NewSimple(pool.Options{Connect: r.connect, Healthy: func(ch *channel.Channel) future.Future[bool] {
			if !ch.Loop().InLoop() {
				t.Error("the health was asked for off the channel's loop")
			}
			mu.Lock()
			defer mu.Unlock()
			if sick[ch] {
				return verdict(ch)
			}
			return future.Succeeded(ch.Executor(), true)
		}})
		a, b, c := r.get(p.Acquire()), r.get(p.Acquire()), r.get(p.Acquire())
		mu.Lock()
		sick[b], sick[c] = true, true
		mu.Unlock()
		for _, ch := range []*channel.Channel{a, b, c} {
			r.must(p.Release(ch))
		}
		if got := r.get(p.Acquire()); got != a {
			t.Errorf("%s: not the healthy channel", name)
		}
		r.closed(b)
		r.closed(c)
		if p.Idle() != 0 || p.Acquired() != 1 {
			t.Errorf("%s: %d idle, %d out", name, p.Idle(), p.Acquired())
		}
	}
}

func TestMaxIdle(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := pool.NewSimple(pool.Options{Connect: r.connect, MaxIdle: 1})
	a, b := r.get(p.Acquire()), r.get(p.Acquire())
	r.must(p.Release(a))
	r.must(p.Release(b))
	r.closed(b)
	if p.Idle() != 1 || !a.IsOpen() {
		t.Errorf("%d idle", p.Idle())
	}
}

func TestConnectThatFails(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := pool.NewSimple(pool.Options{Connect: func() pool.Future { return r.client.Connect(local.Addr("nobody")) }})
	if _, err := p.Acquire().Wait(r.ctx); err == nil {
		t.Error("acquired a channel to nobody")
	}
	p = pool.NewSimple(pool.Options{Connect: func() pool.Future { panic(errTest) }})
	r.refused(p.Acquire(), errTest)
	if p.Acquired() != 0 {
		t.Errorf("%d out", p.Acquired())
	}
}

func TestCancelledAcquire(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.client.Transport = silent{local.New(local.Options{})}
	var connecting pool.Future
	p := pool.NewSimple(pool.Options{Connect: func() pool.Future {
		connecting = r.connect()
		return connecting
	}})
	f := p.Acquire()
	if !f.Cancel() {
		t.Fatal("was not cancelled")
	}
	r.refused(connecting, future.ErrCancelled)

	// One that is cancelled too late keeps the channel for the next.
	promise := future.NewPromise[*channel.Channel](nil)
	promise.SetUncancellable()
	r = newRig(t)
	p = pool.NewSimple(pool.Options{Connect: func() pool.Future { return promise.Future() }})
	f = p.Acquire()
	f.Cancel()
	ch := r.get(r.connect())
	promise.TrySucceed(ch)
	if p.Idle() != 1 || r.get(p.Acquire()) != ch {
		t.Error("the channel of the cancelled acquire is lost")
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := pool.NewSimple(pool.Options{Connect: r.connect})
	idle, out := r.get(p.Acquire()), r.get(p.Acquire())
	r.must(p.Release(idle))
	if _, err := p.Close().Wait(r.ctx); err != nil {
		t.Fatal(err)
	}
	if idle.IsOpen() || !out.IsOpen() {
		t.Errorf("idle one open: %v, the other one: %v", idle.IsOpen(), out.IsOpen())
	}
	r.refused(p.Acquire(), pool.ErrClosed)
	r.must(p.Release(out))
	r.closed(out)
	if _, err := p.Close().Wait(r.ctx); err != nil {
		t.Error(err)
	}
}

// A pool that closes while a connect is under way closes what comes of it.
func TestCloseWhileConnecting(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	promise := future.NewPromise[*channel.Channel](nil)
	p := pool.NewSimple(pool.Options{Connect: func() pool.Future { return promise.Future() }})
	f := p.Acquire()
	p.Close()
	ch := r.get(r.connect())
	promise.TrySucceed(ch)
	r.refused(f, pool.ErrClosed)
	r.closed(ch)
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	simple := pool.NewSimple(pool.Options{Connect: r.connect})
	fixed := pool.NewFixed(pool.FixedOptions{Options: pool.Options{Connect: r.connect}, MaxConns: 3})
	for name, p := range map[string]interface {
		Acquire() pool.Future
		Release(*channel.Channel) error
		Acquired() int
		Close() channel.Future
	}{"simple": simple, "fixed": fixed} {
		var wg sync.WaitGroup
		var mu sync.Mutex
		using := map[*channel.Channel]bool{}
		for range 8 {
			wg.Go(func() {
				for i := range 50 {
					ch, err := p.Acquire().Wait(r.ctx)
					if err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					mu.Lock()
					if using[ch] {
						t.Errorf("%s: a channel was given out twice", name)
					}
					using[ch] = true
					if n := len(using); name == "fixed" && n > 3 {
						t.Errorf("%d channels are out, more than 3", n)
					}
					delete(using, ch)
					mu.Unlock()
					if i%10 == 9 {
						ch.Close()
					}
					if err := p.Release(ch); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
		}
		wg.Wait()
		await(t, name+": all to be back", func() bool { return p.Acquired() == 0 })
		if _, err := p.Close().Wait(r.ctx); err != nil {
			t.Error(err)
		}
	}
}
