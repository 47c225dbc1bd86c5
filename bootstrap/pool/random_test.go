package pool_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"millrace.dev/bootstrap/pool"
	"millrace.dev/channel"
	"millrace.dev/future"
)

// Callers that acquire, give up, release, close and forget to release, at once, while connects
// fail and the peer hangs up: never are there more connections than may be, or two who have the
// same, and in the end all places are free and every connection has gone.
func TestFixedRandomly(t *testing.T) {
	t.Parallel()
	const max = 3
	for seed := range uint64(4) {
		r := newRig(t)
		var connects atomic.Uint64
		open := &connections{T: t, max: max, users: map[*channel.Channel]bool{}}
		p := r.fixed(func(o *pool.FixedOptions) {
			o.MaxConns, o.MaxPending, o.MaxIdle = max, 4, int(seed%3)
			o.Connect = func() pool.Future {
				switch connects.Add(1) % 7 {
				case 3:
					return future.Failed[*channel.Channel](nil, errTest)
				case 5:
					panic(errTest)
				}
				return open.count(r.connect())
			}
		})
		var callers sync.WaitGroup
		for i := range uint64(6) {
			rnd := rand.New(rand.NewPCG(seed, i))
			callers.Go(func() {
				for range 60 {
					r.use(p, rnd, open)
				}
			})
		}
		callers.Wait()
		await(t, "every place to be free", func() bool { return p.Acquired() == 0 && p.Pending() == 0 })
		if n := p.Idle(); n > max {
			t.Errorf("%d idle channels", n)
		}
		if _, err := p.Close().Wait(r.ctx); err != nil {
			t.Error(err)
		}
		await(t, "every connection to close", func() bool { return r.server.Connections() == 0 })
	}
}

// connections are those that a pool has made, and who has them.
type connections struct {
	*testing.T
	max   int64
	open  atomic.Int64
	mu    sync.Mutex
	users map[*channel.Channel]bool
}

// count counts a connection, before the pool hears of it, until it closes.
func (c *connections) count(f pool.Future) pool.Future {
	f.OnComplete(func(f pool.Future) {
		ch, err := f.Result()
		if err != nil {
			return
		}
		if n := c.open.Add(1); n > c.max {
			c.Errorf("%d connections are open", n)
		}
		ch.CloseFuture().OnComplete(func(channel.Future) { c.open.Add(-1) })
	})
	return f
}

// used notes whether somebody has the channel.
func (c *connections) used(ch *channel.Channel, now bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users[ch] == now {
		c.Errorf("%v has two users", ch)
	}
	c.users[ch] = now
}

// use is one call of Acquire and what follows.
func (r *rig) use(p *pool.Fixed, rnd *rand.Rand, open *connections) {
	f := p.Acquire()
	if rnd.IntN(5) == 0 && f.Cancel() {
		return
	}
	ch, err := f.Wait(r.ctx)
	if err != nil {
		if !errors.Is(err, errTest) && !errors.Is(err, pool.ErrTooManyPending) {
			r.Errorf("acquire: %v", err)
		}
		return
	}
	open.used(ch, true)
	switch rnd.IntN(6) {
	case 0: // closed, and not released
		open.used(ch, false)
		ch.Close()
		return
	case 1:
		ch.Close()
		r.closed(ch)
	case 2: // the peer hangs up on somebody
		_ = r.server.EachConnection(context.Background(), func(ch *channel.Channel) {
			if ch.ID()%4 == 0 {
				ch.Close()
			}
		})
	}
	open.used(ch, false)
	if err := p.Release(ch); err != nil {
		r.Errorf("release: %v", err)
	}
}
