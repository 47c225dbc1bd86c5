package pool

import (
	"container/list"
	"sync"
	"time"

	"millrace.dev/channel"
	"millrace.dev/future"
)

// FixedOptions are the options of a Fixed pool.
type FixedOptions struct {
	Options
	// MaxConns bounds the channels that are out, and with them the pool's connections.
	// Required.
	MaxConns int
	// MaxPending bounds the acquires that wait while MaxConns channels are out. Default
	// 1,024; a negative value lets none wait.
	MaxPending int
	// AcquireTimeout bounds an acquire, its wait and its connect. Default 30 s; a negative
	// value is without bound.
	AcquireTimeout time.Duration
}

const (
	defaultMaxPending     = 1024
	defaultAcquireTimeout = 30 * time.Second
)

// Fixed is a pool with a bound on the channels that are out. Acquires beyond it wait in the
// order in which they came. Its methods may be called from any goroutine.
type Fixed struct {
	simple     *Simple
	max        int
	maxPending int
	timeout    time.Duration

	mu      sync.Mutex
	closed  bool
	used    int // acquires under way and channels that are out
	out     map[*channel.Channel]struct{}
	waiting list.List // of *acquire
}

// NewFixed returns an empty pool. It panics if o.Connect is nil or o.MaxConns is not
// positive.
func NewFixed(o FixedOptions) *Fixed {
	if o.MaxConns <= 0 {
		panic("pool: FixedOptions.MaxConns: is not positive")
	}
	p := &Fixed{
		simple: NewSimple(o.Options), max: o.MaxConns, maxPending: o.MaxPending, timeout: o.AcquireTimeout,
		out: make(map[*channel.Channel]struct{}),
	}
	if p.maxPending == 0 {
		p.maxPending = defaultMaxPending
	}
	if p.timeout == 0 {
		p.timeout = defaultAcquireTimeout
	}
	p.simple.left = p.left
	return p
}

// acquire is one call of Acquire.
type acquire struct {
	pool  *Fixed
	to    *future.Promise[*channel.Channel]
	timer *time.Timer

	place *list.Element // while it waits; guarded by the pool's mutex
}

// Acquire gives out a channel, which the caller releases or closes. Cancelling the future
// gives up the wait, or a connect under way.
func (p *Fixed) Acquire() Future {
	a := &acquire{pool: p, to: future.NewPromise[*channel.Channel](nil)}
	if p.timeout > 0 {
		a.timer = time.AfterFunc(p.timeout, func() { a.to.TryFail(ErrAcquireTimeout) })
	}
	p.mu.Lock()
	var err error
	start := false
	switch {
	case p.closed:
		err = ErrClosed
	case p.used < p.max:
		p.used++
		start = true
	case p.waiting.Len() >= p.maxPending:
		err = ErrTooManyPending
	default:
		a.place = p.waiting.PushBack(a)
	}
	p.mu.Unlock()
	a.to.Future().OnComplete(a.settled)
	switch {
	case err != nil:
		a.to.TryFail(err)
	case start:
		a.start()
	}
	return a.to.Future()
}

// start has its turn. Who gives up doesn't end it at once: the place is free when a connect under
// way has ended.
func (a *acquire) start() {
	inner := future.NewPromise[*channel.Channel](nil)
	a.pool.simple.acquire(inner, a.to.Future())
	inner.Future().OnComplete(a.acquired)
}

// acquired passes the channel on.
func (a *acquire) acquired(f Future) {
	p := a.pool
	ch, err := f.Result()
	if err != nil {
		a.to.TryFail(err)
		p.free()
		return
	}
	p.mu.Lock()
	p.out[ch] = struct{}{}
	p.mu.Unlock()
	if !a.to.TrySucceed(ch) {
		_ = p.Release(ch) // it is out
	} else if !ch.IsOpen() {
		p.left(ch) // which may have been told before it was out
	}
}

// settled cleans up when the acquire is done, in whatever way.
func (a *acquire) settled(f Future) {
	if a.timer != nil {
		a.timer.Stop()
	}
	if !f.IsFailed() {
		return
	}
	p := a.pool
	p.mu.Lock()
	if a.place != nil {
		p.waiting.Remove(a.place)
		a.place = nil
	}
	p.mu.Unlock()
}

// free gives a place that has become free to who has waited longest.
func (p *Fixed) free() {
	p.mu.Lock()
	p.used--
	first := p.waiting.Front()
	if first == nil || p.closed {
		p.mu.Unlock()
		return
	}
	a := p.waiting.Remove(first).(*acquire)
	a.place = nil
	p.used++
	p.mu.Unlock()
	a.start()
}

// Release takes a channel back. It returns ErrNotAcquired for an open channel that is not
// out. The caller must not use the channel any more.
func (p *Fixed) Release(ch *channel.Channel) error {
	if !p.take(ch) {
		if ch.IsOpen() {
			return ErrNotAcquired
		}
		return nil
	}
	idle, err := p.simple.release(ch)
	if idle {
		p.free()
	} else { // its place is free once it has closed, or there would be one more meanwhile
		ch.CloseFuture().OnComplete(func(channel.Future) { p.free() })
	}
	return err
}

func (p *Fixed) take(ch *channel.Channel) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, known := p.out[ch]
	delete(p.out, ch)
	return known
}

// left hears of every channel that closes; those that were out need no release.
func (p *Fixed) left(ch *channel.Channel) {
	if p.take(ch) {
		p.free()
	}
}

// Idle returns how many channels wait to be acquired.
func (p *Fixed) Idle() int { return p.simple.Idle() }

// Acquired returns how many channels are out, or about to be.
func (p *Fixed) Acquired() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// Pending returns how many acquires wait.
func (p *Fixed) Pending() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting.Len()
}

// Close fails the acquires that wait with ErrClosed and closes the idle channels; those
// that are out are closed when they are released. The future is done when the idle ones
// have closed.
func (p *Fixed) Close() channel.Future {
	p.mu.Lock()
	p.closed = true
	var waiting []*acquire
	for e := p.waiting.Front(); e != nil; e = e.Next() {
		waiting = append(waiting, e.Value.(*acquire))
	}
	p.mu.Unlock()
	for _, a := range waiting {
		a.to.TryFail(ErrClosed)
	}
	return p.simple.Close()
}
