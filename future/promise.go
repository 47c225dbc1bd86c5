package future

import "sync/atomic"

// Promise is the writing side of a future: whoever does the work completes it, once. Any goroutine
// may call its methods. It must not be copied after first use.
type Promise[T any] struct {
	value T
	err   error
	ex    Executor
	// listeners holds the newest listener; &noMore once all were called and none can follow.
	// Until then additions are told in order even if the result is known already.
	listeners atomic.Pointer[listener]
	state     atomic.Uint32
	draining  bool // touched on ex's goroutine only
}

// The states of a promise, in the order in which it can pass through them.
const (
	pending       = iota
	uncancellable // pending, but Cancel comes too late
	completing    // value and err are being written
	done
)

// listener has no type parameter so that one noMore serves every promise; fn holds a
// func(any, Future[T]), and a func fits an interface without allocation.
type listener struct {
	next *listener
	arg  any
	fn   any
}

var noMore listener

// NewPromise returns a pending promise whose listeners run on ex; with nil they run wherever
// it is completed.
func NewPromise[T any](ex Executor) *Promise[T] { return &Promise[T]{ex: ex} }

// Init prepares a promise that is part of a larger struct. It must come before any other use.
func (p *Promise[T]) Init(ex Executor) { p.ex = ex }

// Future returns the reading side.
func (p *Promise[T]) Future() Future[T] { return Future[T]{src: promiseSource[T]{p}} }

// Succeed completes the promise with v, or returns ErrDone if it is done already (or cancelled).
func (p *Promise[T]) Succeed(v T) error {
	if !p.TrySucceed(v) {
		return ErrDone
	}
	return nil
}

// Fail completes the promise with err, which must not be nil, or returns ErrDone if it is done already.
func (p *Promise[T]) Fail(err error) error {
	if !p.TryFail(err) {
		return ErrDone
	}
	return nil
}

// TrySucceed completes the promise with v and reports whether it was still pending.
func (p *Promise[T]) TrySucceed(v T) bool { return p.complete(v, nil, uncancellable) }

// TryFail completes the promise with err, which must not be nil, and reports whether it was still pending.
func (p *Promise[T]) TryFail(err error) bool {
	if err == nil {
		panic("future: a promise cannot fail with a nil error")
	}
	var zero T
	return p.complete(zero, err, uncancellable)
}

// SetUncancellable says that the work has begun and cannot be given up any more. It reports whether
// the promise is not cancelled: false means that there is nothing left to do.
func (p *Promise[T]) SetUncancellable() bool {
	for {
		if p.state.CompareAndSwap(pending, uncancellable) {
			return true
		}
		switch p.state.Load() {
		case pending, completing: // a competitor is between two states
		case uncancellable:
			return true
		default:
			return p.err != ErrCancelled
		}
	}
}

// OnCancel calls fn on the promise's executor if the future is cancelled, which the future then already is.
func (p *Promise[T]) OnCancel(fn func()) {
	p.Future().OnComplete(func(f Future[T]) {
		if f.IsCancelled() {
			fn()
		}
	})
}

func (p *Promise[T]) complete(v T, err error, latest uint32) bool {
	for {
		s := p.state.Load()
		if s > latest {
			return false
		}
		if p.state.CompareAndSwap(s, completing) {
			break
		}
	}
	p.value, p.err = v, err
	p.state.Store(done)
	if !p.listeners.CompareAndSwap(nil, &noMore) {
		p.notify()
	}
	return true
}

// notify has the listeners called on the executor; on this goroutine if there is no other.
func (p *Promise[T]) notify() {
	if p.ex == nil {
		p.drain()
		return
	}
	host, _ := p.ex.(Host)
	if p.ex.InLoop() && p.drainHere(host) {
		return
	}
	if submit(p.ex, host, (*drainTask[T])(p)) != nil {
		p.drain()
	}
}

// drainHere calls the listeners, on the executor's goroutine, unless the nesting is too deep.
func (p *Promise[T]) drainHere(host Host) bool {
	if p.draining {
		return true // further out on this stack; it will get to the new ones
	}
	if host != nil {
		if !host.EnterListener() {
			return false
		}
		defer host.LeaveListener()
	}
	p.draining = true
	defer p.drained() // also when a listener ends its goroutine
	p.drain()
	return true
}

func (p *Promise[T]) drained() { p.draining = false }

// drainTask is a promise on its way to its executor, to call its listeners there.
type drainTask[T any] Promise[T]

func (d *drainTask[T]) RunTask() {
	p := (*Promise[T])(d)
	host, _ := p.ex.(Host)
	if !p.drainHere(host) {
		p.drain() // a task is never nested
	}
}

// drain calls listeners, oldest first, until there are none and no more can come. One recover
// serves a whole batch: after a panic the rest of the batch goes on in a new one.
func (p *Promise[T]) drain() {
	for {
		batch := p.listeners.Load()
		if batch == &noMore {
			return
		}
		if batch == nil {
			if p.listeners.CompareAndSwap(nil, &noMore) {
				return
			}
			continue
		}
		if !p.listeners.CompareAndSwap(batch, nil) {
			continue
		}
		for next := reverse(batch); next != nil; {
			next = p.callAll(next)
		}
	}
}

func (p *Promise[T]) callAll(l *listener) (rest *listener) {
	returned := false
	defer func() {
		if value := recover(); value != nil {
			report(p.ex, value)
		} else if !returned { // runtime.Goexit: nobody but this function runs any more
			for rest != nil {
				rest = p.callAll(rest)
			}
			p.drain()
		}
	}()
	for rest = l; rest != nil; {
		l, rest = rest, rest.next
		l.fn.(func(any, Future[T]))(l.arg, p.Future())
	}
	returned = true
	return rest
}

func reverse(l *listener) *listener {
	var head *listener
	for l != nil {
		l.next, head, l = head, l, l.next
	}
	return head
}

// promiseSource keeps the methods of Source out of Promise's own.
type promiseSource[T any] struct{ *Promise[T] }

func (s promiseSource[T]) Executor() Executor { return s.ex }

func (s promiseSource[T]) Result(uint64) (v T, err error, ok bool) {
	if s.state.Load() != done {
		return v, nil, false
	}
	return s.value, s.err, true
}

func (s promiseSource[T]) Cancel(uint64) bool {
	var zero T
	return s.complete(zero, ErrCancelled, pending)
}

func (s promiseSource[T]) Listen(_ uint64, arg any, fn func(any, Future[T])) {
	var l *listener
	for {
		head := s.listeners.Load()
		if head == &noMore {
			Deliver(s.ex, s.Future(), arg, fn)
			return
		}
		if l == nil {
			l = &listener{arg: arg, fn: fn}
		}
		l.next = head
		if s.listeners.CompareAndSwap(head, l) {
			break
		}
	}
	// Completed elsewhere, and the task that tells the listeners is still queued: whoever asks
	// on the executor need not wait for it, nor overtake those that it was to tell.
	if s.state.Load() == done && s.ex != nil && s.ex.InLoop() {
		host, _ := s.ex.(Host)
		s.drainHere(host)
	}
}
