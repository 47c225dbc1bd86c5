package future

import (
	"runtime/debug"
	"sync/atomic"
)

// Map returns the future of fn applied to f's value. fn runs on f's executor once f has succeeded; if
// it returns an error, or doesn't return (see PanicError), the returned future fails with that. If f fails, the
// returned future fails with the same error. Cancelling the returned future cancels f.
//
// A cancellation that comes when f has succeeded but fn hasn't run yet keeps fn from running, and f's
// value from reaching anybody here. A value that has to be closed or given back is for a listener of f.
func Map[T, U any](f Future[T], fn func(T) (U, error)) Future[U] {
	p := NewPromise[U](f.Executor())
	follow(p, f)
	f.OnComplete(func(f Future[T]) {
		v, err := f.Result()
		if err != nil {
			p.TryFail(err)
			return
		}
		if !p.SetUncancellable() {
			return
		}
		returned := false
		defer failUnless(&returned, p)
		u, err := fn(v)
		returned = true
		settle(p, u, err)
	})
	return p.Future()
}

// FlatMap is Map for a function that starts more work: the returned future gets the result of the
// future that fn returns. Cancelling the returned future cancels whichever of the two is under way; as
// with Map, a value that comes together with the cancellation reaches nobody.
func FlatMap[T, U any](f Future[T], fn func(T) Future[U]) Future[U] {
	p := NewPromise[U](f.Executor())
	follow(p, f)
	f.OnComplete(func(f Future[T]) {
		v, err := f.Result()
		if err != nil {
			p.TryFail(err)
			return
		}
		if p.Future().IsDone() {
			return // cancelled in between
		}
		returned := false
		defer failUnless(&returned, p)
		inner := fn(v)
		returned = true
		inner.CascadeTo(p)
	})
	return p.Future()
}

// CascadeTo completes p with f's result once that is there, and cancels f if p is cancelled before. If p
// was completed by somebody else it keeps that result, and f's value is for other listeners of f only.
func (f Future[T]) CascadeTo(p *Promise[T]) {
	follow(p, f)
	f.OnCompleteWith(p, cascade[T])
}

func cascade[T any](to any, f Future[T]) {
	v, err := f.Result()
	settle(to.(*Promise[T]), v, err)
}

// All returns the future of all values, in the order of fs. It fails as soon as one of them fails, or is
// cancelled, with that error; the others go on. Cancelling it cancels all that are still pending.
// Listeners run on ex.
func All[T any](ex Executor, fs ...Future[T]) Future[[]T] {
	values := make([]T, len(fs))
	if len(fs) == 0 {
		return Succeeded(ex, values)
	}
	p := NewPromise[[]T](ex)
	var missing atomic.Int64
	var failed atomic.Bool // and not cancelled, whatever the error
	missing.Store(int64(len(fs)))
	p.OnCancel(func() {
		for i := 0; i < len(fs) && !failed.Load(); i++ {
			fs[i].Cancel()
		}
	})
	for i, f := range fs {
		f.OnComplete(func(f Future[T]) {
			v, err := f.Result()
			if err != nil {
				if p.SetUncancellable() {
					failed.Store(true)
					p.TryFail(err)
				}
				return
			}
			values[i] = v
			if missing.Add(-1) == 0 {
				p.TrySucceed(values)
			}
		})
	}
	return p.Future()
}

// follow makes a cancellation of p travel back to f.
func follow[T, U any](p *Promise[T], f Future[U]) {
	if !f.IsDone() {
		p.OnCancel(func() { f.Cancel() })
	}
}

func settle[T any](p *Promise[T], v T, err error) {
	if err != nil {
		p.TryFail(err)
		return
	}
	p.TrySucceed(v)
}

// failUnless is deferred around a function that p waits for; without it p would never be done
// when that panics or calls runtime.Goexit.
func failUnless[T any](returned *bool, p *Promise[T]) {
	if value := recover(); value != nil || !*returned {
		p.TryFail(&PanicError{Value: value, Stack: debug.Stack()})
	}
}
