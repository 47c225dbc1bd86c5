package pool

import (
	"errors"
	"runtime/debug"
	"slices"
	"sync"

	"millrace.dev/channel"
	"millrace.dev/future"
)

// Errors of pools.
var (
	// ErrClosed fails an Acquire of a closed pool.
	ErrClosed = errors.New("pool: closed")
	// ErrNotAcquired refuses the release of a channel that is open and was not acquired
	// here, or was released before.
	ErrNotAcquired = errors.New("pool: channel: was not acquired from this pool, or was released already")
	// ErrTooManyPending fails an Acquire when MaxPending others wait.
	ErrTooManyPending = errors.New("pool: too many acquires wait")
	// ErrAcquireTimeout fails an Acquire that has waited longer than AcquireTimeout.
	ErrAcquireTimeout = errors.New("pool: acquire timed out")
)

// Future is a channel that is being acquired. A listener runs on the channel's loop, or if
// the future is done already where it is added.
type Future = future.Future[*channel.Channel]

// Options are what both kinds of pool need.
type Options struct {
	// Connect makes a new connection, such as by bootstrap.Client.Connect. Any goroutine
	// may call it, and it must not wait. Required.
	Connect func() Future
	// Healthy says whether an idle channel can be used again, on the channel's loop. By
	// default a channel can that is active. One that can't is closed, as is one whose
	// future fails or has no answer by the time that the acquire is given up.
	Healthy func(ch *channel.Channel) future.Future[bool]
	// MaxIdle bounds the idle channels: with so many, one that is released is closed. 0 is
	// without bound.
	MaxIdle int
}

func isActive(ch *channel.Channel) future.Future[bool] {
	return future.Succeeded(ch.Executor(), ch.IsActive())
}

// Simple is a pool without a bound on the channels that are out. Its methods may be called
// from any goroutine.
type Simple struct {
	options Options
	left    func(ch *channel.Channel) // hears of channels that have closed; may be nil

	mu     sync.Mutex
	closed bool
	idle   []*channel.Channel        // the one released last is at the end
	out    map[*channel.Channel]bool // false while its health is asked for
}

// NewSimple returns an empty pool. It panics if o.Connect is nil.
func NewSimple(o Options) *Simple {
	if o.Connect == nil {
		panic("pool: Options.Connect: is nil")
	}
	if o.Healthy == nil {
		o.Healthy = isActive
	}
	return &Simple{options: o, out: make(map[*channel.Channel]bool)}
}

// Acquire gives out a channel, which the caller releases or closes. Cancelling the future
// gives up a connect under way.
func (p *Simple) Acquire() Future {
	to := future.NewPromise[*channel.Channel](nil)
	p.acquire(to, to.Future())
	return to.Future()
}

// acquire gives a channel to to; a connect under way is given up when wanted fails.
func (p *Simple) acquire(to *future.Promise[*channel.Channel], wanted Future) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		to.TryFail(ErrClosed)
		return
	}
	n := len(p.idle)
	if n == 0 {
		p.mu.Unlock()
		p.connect(to, wanted)
		return
	}
	ch := p.idle[n-1]
	p.idle[n-1] = nil
	p.idle = p.idle[:n-1]
	p.out[ch] = false
	p.mu.Unlock()
	if ch.Loop().Run(&check{p, ch, to, wanted}) != nil { // it has ended with its loop
		p.forget(ch)
		p.acquire(to, wanted)
	}
}

// connect makes a new channel.
func (p *Simple) connect(to *future.Promise[*channel.Channel], wanted Future) {
	connecting, err := p.callConnect()
	if err != nil {
		to.TryFail(err)
		return
	}
	if !connecting.IsDone() {
		wanted.OnComplete(func(f Future) {
			if f.IsFailed() {
				connecting.Cancel()
			}
		})
	}
	connecting.OnComplete(func(f Future) {
		ch, err := f.Result()
		if err != nil {
			to.TryFail(err)
			return
		}
		p.mu.Lock()
		p.out[ch] = false
		p.mu.Unlock()
		ch.CloseFuture().OnCompleteWith(p, func(any, channel.Future) { p.forget(ch) })
		p.give(ch, to)
	})
}

// callConnect makes an error of a panic, for the caller may be somebody who releases.
func (p *Simple) callConnect() (f Future, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &future.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return p.options.Connect(), nil
}

// give hands a channel out, or keeps it when the acquire was given up.
func (p *Simple) give(ch *channel.Channel, to *future.Promise[*channel.Channel]) {
	p.mu.Lock()
	closed := p.closed
	if _, ok := p.out[ch]; ok {
		p.out[ch] = true
	}
	p.mu.Unlock()
	if closed {
		ch.Close()
		to.TryFail(ErrClosed)
		return
	}
	if !to.TrySucceed(ch) {
		_ = p.Release(ch) // it is out, or has closed
	}
}

// check asks for the health of an idle channel, on its loop.
type check struct {
	pool   *Simple
	ch     *channel.Channel
	to     *future.Promise[*channel.Channel]
	wanted Future
}

// RunTask is for the loop.
func (c *check) RunTask() {
	healthy := future.FlatMap(future.Succeeded(c.ch.Executor(), c.ch), c.pool.options.Healthy)
	healthy.OnComplete(func(f future.Future[bool]) {
		if healthy, err := f.Result(); healthy && err == nil && c.ch.IsOpen() {
			c.pool.give(c.ch, c.to)
			return
		}
		c.ch.Close()
		c.pool.forget(c.ch)
		if err := c.wanted.Err(); err != nil {
			c.to.TryFail(err)
			return
		}
		c.pool.acquire(c.to, c.wanted)
	})
	if !healthy.IsDone() { // who gives up need not wait for an answer that may never come
		c.wanted.OnComplete(func(f Future) {
			if f.IsFailed() {
				healthy.Cancel()
			}
		})
	}
}

// Release takes a channel back. It returns ErrNotAcquired for an open channel that is not
// out. The caller must not use the channel any more.
func (p *Simple) Release(ch *channel.Channel) error {
	_, err := p.release(ch)
	return err
}

// release reports whether the channel is idle now; if not it is closed, or about to be.
func (p *Simple) release(ch *channel.Channel) (keep bool, err error) {
	p.mu.Lock()
	known := p.out[ch]
	if known {
		delete(p.out, ch)
	}
	keep = known && !p.closed && ch.IsOpen() && (p.options.MaxIdle <= 0 || len(p.idle) < p.options.MaxIdle)
	if keep {
		p.idle = append(p.idle, ch)
	}
	p.mu.Unlock()
	switch {
	case !known && ch.IsOpen():
		return false, ErrNotAcquired
	case keep && !ch.IsOpen(): // it has closed meanwhile, and was forgotten before it was kept
		p.forget(ch)
	case !keep:
		ch.Close()
	}
	return keep, nil
}

// forget drops a channel that has closed, or is about to.
func (p *Simple) forget(ch *channel.Channel) {
	p.mu.Lock()
	p.idle = slices.DeleteFunc(p.idle, func(c *channel.Channel) bool { return c == ch })
	delete(p.out, ch)
	p.mu.Unlock()
	if p.left != nil {
		p.left(ch)
	}
}

// Idle returns how many channels wait to be acquired.
func (p *Simple) Idle() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}

// Acquired returns how many channels are out, or about to be.
func (p *Simple) Acquired() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.out)
}

// Close closes the idle channels; those that are out are closed when they are released.
// The future is done when the idle ones have closed. A second call does nothing.
func (p *Simple) Close() channel.Future {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	var closing []channel.Future
	for _, ch := range idle {
		closing = append(closing, ch.Close())
	}
	return future.Map(future.All(nil, closing...), func([]future.Void) (v future.Void, err error) { return v, nil })
}
