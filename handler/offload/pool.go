package offload

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"millrace.dev/future"
	"millrace.dev/internal/goid"
	"millrace.dev/internal/loopset"
)

// ErrPoolClosed is fired for messages that come after Pool.Close.
var ErrPoolClosed = errors.New("offload: pool: it is closed")

// PoolOptions configures a Pool. The zero value is a good default.
type PoolOptions struct {
	// Workers is how many goroutines may be at work at once. 0: 16 for each processor,
	// since blocked ones need none.
	Workers int
}

// Pool runs blocking work on goroutines, which it starts when they are needed and then keeps:
// a goroutine whose stack has grown is worth keeping. Close ends them.
//
// Channels share it fairly: one after another gets a worker, for a few messages.
type Pool struct {
	mu      sync.Mutex
	work    sync.Cond // lanes wait, or the pool is closed
	ready   []*lane   // those before head have been taken
	head    int
	max     int
	workers int           // goroutines
	idle    int           // of those, waiting for work
	closed  atomic.Bool   // changes under mu
	done    chan struct{} // closed when the last worker has ended
}

// PoolStats are figures of a Pool.
type PoolStats struct {
	Workers int // goroutines
	Idle    int // of those, without work
	Waiting int // channels whose messages wait for a worker
}

// NewPool returns a pool.
func NewPool(o PoolOptions) *Pool {
	if o.Workers <= 0 {
		o.Workers = 16 * runtime.GOMAXPROCS(0)
	}
	p := &Pool{max: o.Workers, done: make(chan struct{})}
	p.work.L = &p.mu
	return p
}

// Stats returns the present figures. Any goroutine may call it.
func (p *Pool) Stats() PoolStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return PoolStats{Workers: p.workers, Idle: p.idle, Waiting: len(p.ready) - p.head}
}

// Close lets what has been handed over finish, takes nothing more, and waits for the end of
// all workers or of ctx. Any goroutine but a worker's may call it; on a loop's it does not
// wait, and returns future.ErrBlockingOnLoop.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	if !p.closed.Swap(true) && p.workers == 0 {
		close(p.done)
	}
	p.work.Broadcast()
	p.mu.Unlock()
	if loopset.Has(goid.Current()) {
		return future.ErrBlockingOnLoop
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// submit gives a lane with work to the workers, and reports whether the pool takes it. again
// says that a worker hands back what it could not finish, which a closed pool takes too.
func (p *Pool) submit(l *lane, again bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed.Load() && !again {
		return false
	}
	if p.head > 0 && len(p.ready) == cap(p.ready) {
		n := copy(p.ready, p.ready[p.head:])
		clear(p.ready[n:])
		p.ready, p.head = p.ready[:n], 0
	}
	p.ready = append(p.ready, l)
	switch {
	case p.idle > 0:
		p.work.Signal()
	case p.workers < p.max:
		p.workers++
		go p.run()
	}
	return true
}

// next waits for a lane with work; nil: the worker should end.
func (p *Pool) next() *lane {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.head == len(p.ready) {
		if p.closed.Load() {
			return nil
		}
		p.idle++
		p.work.Wait()
		p.idle--
	}
	l := p.ready[p.head]
	p.ready[p.head] = nil
	p.head++
	if p.head == len(p.ready) {
		p.ready, p.head = p.ready[:0], 0
	}
	return l
}

// run is a worker.
func (p *Pool) run() {
	ended := false
	defer func() {
		if !ended { // the work has called runtime.Goexit: another takes its place
			go p.run()
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.workers--
		if p.workers == 0 && p.closed.Load() {
			close(p.done)
		}
	}()
	for l := p.next(); l != nil; l = p.next() {
		l.run()
	}
	ended = true
}
