package pool_test

import (
	"errors"
	"testing"

	"millrace.dev/bootstrap/pool"
	"millrace.dev/channel"
	"millrace.dev/future"
)

var _ = []pool.Pool{(*pool.Simple)(nil), (*pool.Fixed)(nil)}

func TestUse(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := pool.NewFixed(pool.FixedOptions{Options: pool.Options{Connect: r.connect}, MaxConns: 1})
	var used [2]*channel.Channel
	for i := range used {
		got, err := pool.Use(p, func(ch *channel.Channel) future.Future[bool] {
			used[i] = ch
			return future.Succeeded(ch.Executor(), ch.Loop().InLoop() && p.Acquired() == 1)
		}).Wait(r.ctx)
		if err != nil || !got {
			t.Errorf("on its loop with the channel: %v, %v", got, err)
		}
		if p.Acquired() != 0 || p.Idle() != 1 {
			t.Errorf("%d out and %d idle afterwards", p.Acquired(), p.Idle())
		}
	}
	if used[0] != used[1] {
		t.Error("the second did not get the channel of the first")
	}
}

// Failed work says nothing about what is still to come on its channel.
func TestUseClosesAfterFailure(t *testing.T) {
	t.Parallel()
	for name, work := range map[string]func(ch *channel.Channel) future.Future[int]{
		"failure": func(ch *channel.Channel) future.Future[int] { return future.Failed[int](ch.Executor(), errTest) },
		"panic":   func(*channel.Channel) future.Future[int] { panic(errTest) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			p := pool.NewFixed(pool.FixedOptions{Options: pool.Options{Connect: r.connect}, MaxConns: 1})
			var used *channel.Channel
			_, err := pool.Use(p, func(ch *channel.Channel) future.Future[int] {
				used = ch
				return work(ch)
			}).Wait(r.ctx)
			if !errors.Is(err, errTest) {
				t.Errorf("ended with %v", err)
			}
			r.closed(used)
			await(t, "the place in the pool", func() bool { return p.Acquired() == 0 && p.Idle() == 0 })
		})
	}
}

func TestUsePassesAcquireErrors(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := pool.NewSimple(pool.Options{Connect: r.connect})
	p.Close()
	_, err := pool.Use(p, func(*channel.Channel) future.Future[int] {
		t.Error("work without a channel")
		return future.Future[int]{}
	}).Wait(r.ctx)
	if !errors.Is(err, pool.ErrClosed) {
		t.Errorf("ended with %v", err)
	}
}

func TestUseCancelled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := pool.NewFixed(pool.FixedOptions{Options: pool.Options{Connect: r.connect}, MaxConns: 1})
	started := make(chan *future.Promise[int], 1)
	f := pool.Use(p, func(ch *channel.Channel) future.Future[int] {
		work := future.NewPromise[int](ch.Executor())
		started <- work
		return work.Future()
	})
	work := <-started
	if !f.Cancel() || !work.Future().IsCancelled() {
		t.Error("the work was not cancelled")
	}
	await(t, "the place in the pool", func() bool { return p.Acquired() == 0 && p.Idle() == 0 })
}

// late is a pool whose channel comes when it is too late to cancel the acquire.
type late struct {
	acquire  *future.Promise[*channel.Channel]
	released []*channel.Channel
}

func (l *late) Acquire() pool.Future { return l.acquire.Future() }

func (l *late) Release(ch *channel.Channel) error {
	l.released = append(l.released, ch)
	return nil
}

// A channel that comes after all is released, or the pool would have one less for ever.
func TestUseCancelledAsTheChannelComes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := &late{acquire: future.NewPromise[*channel.Channel](nil)}
	p.acquire.SetUncancellable()
	f := pool.Use(p, func(*channel.Channel) future.Future[int] {
		t.Error("work after the cancellation")
		return future.Future[int]{}
	})
	if !f.Cancel() {
		t.Fatal("could not be cancelled")
	}
	ch := r.get(r.connect())
	if err := p.acquire.Succeed(ch); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	r.must(ch.Loop().Execute(func() { close(done) })) // behind what Use has queued
	<-done
	if len(p.released) != 1 || p.released[0] != ch {
		t.Errorf("released: %v", p.released)
	}
}
