package future

import (
	"context"
	"errors"

	"millrace.dev/internal/goid"
	"millrace.dev/internal/loopset"
)

// Void is the value of a future that only says when something was done.
type Void = struct{}

var (
	// ErrPending is what Result reports before the future is done.
	ErrPending = errors.New("future: not done yet")
	// ErrDone says that a promise has its result already.
	ErrDone = errors.New("future: already done")
	// ErrCancelled is the error of a cancelled future. It also matches context.Canceled.
	ErrCancelled error = cancelledError{}
	// ErrBlockingOnLoop says that Wait was called where waiting would stop an event loop.
	ErrBlockingOnLoop = errors.New("future: waiting on an event loop's goroutine would block the loop")
)

// cancelledError lets code that knows only the context package recognise a cancellation.
type cancelledError struct{}

func (cancelledError) Error() string        { return "future: cancelled" }
func (cancelledError) Is(target error) bool { return target == context.Canceled }

// Source is what a Future reads its result from: a Promise, or something that answers for
// many futures at once and tells them apart by their tokens, such as a channel's ledger of
// writes. All methods may be called from any goroutine.
type Source[T any] interface {
	// Result returns the outcome, and whether there is one yet.
	Result(token uint64) (v T, err error, done bool)
	// Listen calls fn(arg, f) once when the future is done: on Executor's goroutine, at once
	// if it is done already and the caller is there. Deliver does exactly that.
	Listen(token uint64, arg any, fn func(arg any, f Future[T]))
	// Cancel completes the future with ErrCancelled if that is still possible.
	Cancel(token uint64) bool
	// Executor returns where listeners run; nil means wherever the future is completed.
	Executor() Executor
}

// Future is the result of something that may not have happened yet. It is a small value: copy
// it freely. The zero Future is done, successful, and has the zero value of T.
type Future[T any] struct {
	src   Source[T]
	token uint64
}

// Make returns the future that src knows under token. Every Source may give tokens its own meaning.
func Make[T any](src Source[T], token uint64) Future[T] { return Future[T]{src, token} }

// Succeeded returns a future that is done and has the value v. Its listeners run on ex.
func Succeeded[T any](ex Executor, v T) Future[T] {
	return Future[T]{src: &completed[T]{ex: ex, value: v}}
}

// Failed returns a future that is done with err, which must not be nil. Its listeners run on ex.
func Failed[T any](ex Executor, err error) Future[T] {
	if err == nil {
		panic("future: Failed with a nil error")
	}
	return Future[T]{src: &completed[T]{ex: ex, err: err}}
}

// completed is the source of a future that was done from the start.
type completed[T any] struct {
	value T
	err   error
	ex    Executor
}

func (c *completed[T]) Result(uint64) (T, error, bool) { return c.value, c.err, true }
func (c *completed[T]) Cancel(uint64) bool             { return false }
func (c *completed[T]) Executor() Executor             { return c.ex }
func (c *completed[T]) Listen(token uint64, arg any, fn func(any, Future[T])) {
	Deliver(c.ex, Future[T]{c, token}, arg, fn)
}

// IsDone reports whether the future has its result: a value, an error, or a cancellation.
func (f Future[T]) IsDone() bool {
	_, _, done := f.get()
	return done
}

// IsSuccess reports whether the future is done and has a value.
func (f Future[T]) IsSuccess() bool {
	_, err, done := f.get()
	return done && err == nil
}

// IsFailed reports whether the future is done and has an error; a cancelled future has.
func (f Future[T]) IsFailed() bool { return f.Err() != nil }

// IsCancelled reports whether the future is done and its error is, or wraps, ErrCancelled.
func (f Future[T]) IsCancelled() bool {
	err := f.Err()
	return err != nil && errors.Is(err, ErrCancelled)
}

// Result returns the future's value or its error, without waiting: ErrPending if it is not done.
func (f Future[T]) Result() (T, error) {
	v, err, done := f.get()
	if !done {
		return v, ErrPending
	}
	return v, err
}

// Err returns the error that the future failed with; nil while it is pending or when it succeeded.
func (f Future[T]) Err() error {
	_, err, _ := f.get()
	return err
}

// get returns zero and nil while the future is not done.
func (f Future[T]) get() (v T, err error, done bool) {
	if f.src == nil {
		return v, nil, true
	}
	if v, err, done = f.src.Result(f.token); !done {
		var zero T
		return zero, nil, false
	}
	return v, err, true
}

// Cancel asks for the work to be given up. It reports whether the future is now cancelled because
// of this call; it is not when the result came first or when the work can no longer be stopped.
func (f Future[T]) Cancel() bool { return f.src != nil && f.src.Cancel(f.token) }

// Executor returns where the listeners run, or nil if they run wherever the future is completed.
func (f Future[T]) Executor() Executor {
	if f.src == nil {
		return nil
	}
	return f.src.Executor()
}

// OnComplete calls fn once the future is done, on its executor: at once if it is done and the
// caller runs there, otherwise later. Listeners run in the order in which they were added. A
// panic of fn is logged and goes no further. Any goroutine may call it.
func (f Future[T]) OnComplete(fn func(Future[T])) { f.OnCompleteWith(fn, callPlain[T]) }

// callPlain is the listener behind OnComplete: the function travels as the argument.
func callPlain[T any](fn any, f Future[T]) { fn.(func(Future[T]))(f) }

// OnCompleteWith is OnComplete for a function that finds what it needs in arg, so that it need
// not be a closure. With a pointer as arg nothing but the list entry is allocated, and nothing at
// all if the future is done and the caller is on its executor.
func (f Future[T]) OnCompleteWith(arg any, fn func(arg any, f Future[T])) {
	if f.src == nil {
		call(nil, f, arg, fn)
		return
	}
	f.src.Listen(f.token, arg, fn)
}

// Wait blocks until the future is done or ctx ends, and returns the result or ctx's error. On the
// goroutine of any event loop it returns ErrBlockingOnLoop at once, even if the future is done, so
// that the mistake shows in the first test and not under load. On a goroutine that drives the
// future's own executor by hand it does so only while the future is pending.
//
// A wait that ctx ended leaves its entry in the future's list of listeners until that is done.
func (f Future[T]) Wait(ctx context.Context) (T, error) {
	var zero T
	if loopset.Has(goid.Current()) {
		return zero, ErrBlockingOnLoop
	}
	if v, err, done := f.get(); done {
		return v, err
	}
	if ex := f.Executor(); ex != nil && ex.InLoop() {
		return zero, ErrBlockingOnLoop
	}
	done := make(chan struct{})
	f.OnCompleteWith(done, closeDone[T])
	select {
	case <-done:
		return f.Result()
	case <-ctx.Done():
		return zero, ctx.Err()
	}
}

func closeDone[T any](done any, _ Future[T]) { close(done.(chan struct{})) }
