package pool_test

import (
	"errors"
	"testing"
	"time"

	"millrace.dev/bootstrap/pool"
	"millrace.dev/channel"
	"millrace.dev/future"
	"millrace.dev/transport/local"
)

func (r *rig) fixed(edit func(o *pool.FixedOptions)) *pool.Fixed {
	o := pool.FixedOptions{Options: pool.Options{Connect: r.connect}, MaxConns: 2, AcquireTimeout: -1}
	if edit != nil {
		edit(&o)
	}
	return pool.NewFixed(o)
}

func TestAcquiresWaitInOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.fixed(nil)
	a, b := r.get(p.Acquire()), r.get(p.Acquire())
	first, second := p.Acquire(), p.Acquire()
	if first.IsDone() || p.Pending() != 2 || p.Acquired() != 2 {
		t.Fatalf("%d pending, %d out", p.Pending(), p.Acquired())
	}
	r.must(p.Release(b))
	if got := r.get(first); got != b {
		t.Error("the first one did not get the channel that came back")
	}
	if second.IsDone() {
		t.Error("the second one overtook, or there are too many")
	}
	r.must(p.Release(a))
	if got := r.get(second); got != a {
		t.Error("the second one did not get the channel that came back")
	}
	if err := p.Release(r.get(r.connect())); !errors.Is(err, pool.ErrNotAcquired) {
		t.Errorf("the release of a foreign channel: %v", err)
	}
}

func TestTooManyPending(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.fixed(func(o *pool.FixedOptions) { o.MaxConns, o.MaxPending = 1, 1 })
	ch := r.get(p.Acquire())
	waiting := p.Acquire()
	r.refused(p.Acquire(), pool.ErrTooManyPending)
	r.must(p.Release(ch))
	r.get(waiting)

	p = r.fixed(func(o *pool.FixedOptions) { o.MaxConns, o.MaxPending = 1, -1 })
	r.get(p.Acquire())
	r.refused(p.Acquire(), pool.ErrTooManyPending)
}

func TestAcquireTimeout(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.fixed(func(o *pool.FixedOptions) { o.MaxConns, o.AcquireTimeout = 1, time.Millisecond })
	var ch *channel.Channel
	for ch == nil { // the time holds for the connect, too
		got, err := p.Acquire().Wait(r.ctx)
		if err != nil && !errors.Is(err, pool.ErrAcquireTimeout) {
			t.Fatal(err)
		}
		ch = got
	}
	r.refused(p.Acquire(), pool.ErrAcquireTimeout)
	if p.Pending() != 0 || p.Acquired() != 1 {
		t.Errorf("%d pending, %d out", p.Pending(), p.Acquired())
	}
	r.must(p.Release(ch))
	await(t, "the channel to be idle", func() bool { return p.Acquired() == 0 })
}

// A connect that takes too long is given up, and its place is free again.
func TestAcquireTimeoutWhileConnecting(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.client.Transport = silent{local.New(local.Options{})}
	p := r.fixed(func(o *pool.FixedOptions) { o.MaxConns, o.AcquireTimeout = 1, time.Millisecond })
	for range 3 {
		r.refused(p.Acquire(), pool.ErrAcquireTimeout)
	}
	await(t, "the places", func() bool { return p.Acquired() == 0 && p.Pending() == 0 })
}

func TestCancelledWait(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.fixed(func(o *pool.FixedOptions) { o.MaxConns = 1 })
	ch := r.get(p.Acquire())
	first, second := p.Acquire(), p.Acquire()
	if !first.Cancel() {
		t.Fatal("was not cancelled")
	}
	if p.Pending() != 1 {
		t.Errorf("%d pending", p.Pending())
	}
	r.must(p.Release(ch))
	r.get(second)
}

// A place doesn't depend on whether a health check has an answer.
func TestAPlaceIsFreeWhenACheckIsGivenUp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	asked := make(chan struct{}, 1)
	p := r.fixed(func(o *pool.FixedOptions) {
		o.MaxConns = 1
		o.Healthy = func(ch *channel.Channel) future.Future[bool] {
			asked <- struct{}{}
			return future.NewPromise[bool](ch.Executor()).Future()
		}
	})
	ch := r.get(p.Acquire())
	r.must(p.Release(ch))
	f := p.Acquire()
	<-asked
	if !f.Cancel() {
		t.Fatal("was not cancelled")
	}
	r.closed(ch)
	if next := r.get(p.Acquire()); next == ch {
		t.Error("a closed channel was given out")
	}
}

func TestAPlaceIsFreeWhenItsChannelCloses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.fixed(func(o *pool.FixedOptions) { o.MaxConns = 1 })
	ch := r.get(p.Acquire())
	waiting := p.Acquire()
	ch.Close() // and nobody releases it
	next := r.get(waiting)
	if next == ch {
		t.Error("a closed channel was given out")
	}
	r.must(p.Release(ch)) // allowed, and without effect
	if p.Acquired() != 1 {
		t.Errorf("%d out", p.Acquired())
	}
	r.must(p.Release(next))
}

func TestAPlaceIsFreeWhenAConnectFails(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	fails := future.NewPromise[*channel.Channel](nil)
	calls := 0
	p := r.fixed(func(o *pool.FixedOptions) {
		o.MaxConns = 1
		o.Connect = func() pool.Future {
			if calls++; calls == 1 {
				return fails.Future()
			}
			return r.connect()
		}
	})
	first, second := p.Acquire(), p.Acquire()
	fails.TryFail(errTest)
	r.refused(first, errTest)
	r.get(second)
}

func TestCloseFixed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.fixed(nil)
	idle, out := r.get(p.Acquire()), r.get(p.Acquire())
	waiting := p.Acquire()
	r.must(p.Release(idle))
	idle = r.get(waiting)
	waiting = p.Acquire()
	if _, err := p.Close().Wait(r.ctx); err != nil {
		t.Fatal(err)
	}
	r.refused(waiting, pool.ErrClosed)
	r.refused(p.Acquire(), pool.ErrClosed)
	for _, ch := range []*channel.Channel{idle, out} {
		if !ch.IsOpen() {
			t.Error("a channel that is out was closed")
		}
		r.must(p.Release(ch))
		r.closed(ch)
	}
	// The pool hears of the end on the channel's loop.
	await(t, "the places", func() bool { return p.Acquired() == 0 && p.Pending() == 0 })
}

func TestWrongOptions(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(){
		"no Connect": func() { pool.NewSimple(pool.Options{}) },
		"no MaxConns": func() {
			pool.NewFixed(pool.FixedOptions{Options: pool.Options{Connect: func() (f pool.Future) { return f }}})
		},
		"fixed no Connect": func() { pool.NewFixed(pool.FixedOptions{MaxConns: 1}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			make()
		}()
	}
}
