package pool

import (
	"runtime/debug"

	"millrace.dev/channel"
	"millrace.dev/future"
)

// Pool is what the two kinds of pool have in common.
type Pool interface {
	// Acquire gives out a channel, which the caller releases or closes.
	Acquire() Future
	// Release takes it back.
	Release(ch *channel.Channel) error
}

// Use acquires a channel, calls work with it, and releases it when work's future is done:
// one request over a pool. work runs on the channel's loop and must not block; what its
// future gets, the returned one gets, once the channel is back. Any goroutine may call Use.
//
// After a failure the channel is closed, since what is still to come on it would reach the
// next to use it; so work gives answers that leave the connection in order as values.
// Cancelling the returned future gives up the acquire or cancels work's future, whichever is
// under way, and never loses a channel. (FlatMap of Acquire would: a cancellation that comes
// with the channel keeps its function from being called, and nobody releases.)
func Use[T any](p Pool, work func(ch *channel.Channel) future.Future[T]) future.Future[T] {
	u := &use[T]{pool: p, work: work}
	u.result.Init(nil)
	acquired := p.Acquire()
	if !acquired.IsDone() {
		u.result.OnCancel(func() { acquired.Cancel() })
	}
	acquired.OnComplete(u.begin)
	return u.result.Future()
}

// use is a call of Use.
type use[T any] struct {
	pool   Pool
	work   func(ch *channel.Channel) future.Future[T]
	result future.Promise[T]
}

func (u *use[T]) begin(f Future) {
	ch, err := f.Result()
	if err != nil {
		u.result.TryFail(err)
		return
	}
	if ch.Loop().InLoop() {
		u.run(ch)
	} else if err := ch.Loop().Execute(func() { u.run(ch) }); err != nil {
		ch.Close()
		_ = u.pool.Release(ch)
		u.result.TryFail(err)
	}
}

func (u *use[T]) run(ch *channel.Channel) {
	if u.result.Future().IsDone() { // cancelled while the channel was on its way
		_ = u.pool.Release(ch)
		return
	}
	working := u.call(ch)
	working.OnComplete(func(f future.Future[T]) {
		if f.IsFailed() {
			ch.Close()
		}
		_ = u.pool.Release(ch) // it is out, or has closed
	})
	working.CascadeTo(&u.result)
}

// call makes a failure of a panic, so that the channel comes back.
func (u *use[T]) call(ch *channel.Channel) (working future.Future[T]) {
	defer func() {
		if v := recover(); v != nil {
			working = future.Failed[T](ch.Executor(), &future.PanicError{Value: v, Stack: debug.Stack()})
		}
	}()
	return u.work(ch)
}
