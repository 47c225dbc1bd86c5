package loop

import (
	"runtime/debug"
	"time"

	"millrace.dev/future"
)

// Schedule runs fn on the loop's goroutine, once, when d has passed; never early, and up to one tick
// late. Cancelling the returned future prevents that, unless fn is running or has run, and takes the
// timer out of the loop. If fn panics, the panic is logged and the future fails with a
// *future.PanicError; if the loop ends first, with ErrShutdown. Any goroutine may call it.
func (l *Loop) Schedule(d time.Duration, fn func()) future.Future[future.Void] {
	s := &scheduled{fn: fn, due: deadlineAfter(l.clock(), d)}
	s.promise.Init(l)
	s.timer.Init(l, s)
	if l.InLoop() {
		s.RunTask()
	} else if err := l.submit(s, l.maxQueued); err != nil {
		return future.Failed[future.Void](l, err)
	}
	return future.Make[future.Void](s, 0)
}

// scheduled is a function waiting for its time: timer, result and the tasks that carry it to the
// loop, in one allocation.
type scheduled struct {
	timer   Timer
	promise future.Promise[future.Void]
	due     time.Duration
	fn      func()
}

// RunTask puts the timer into the wheel, or takes it out when the future was cancelled.
func (s *scheduled) RunTask() {
	l := s.timer.loop
	switch {
	case s.promise.Future().IsDone():
		s.fn = nil
		s.timer.Stop()
	case l.stop.final:
		s.promise.TryFail(ErrShutdown)
	default:
		l.scheduleAt(&s.timer, s.due)
	}
}

func (s *scheduled) RunTimer(*Timer) {
	if !s.promise.SetUncancellable() {
		return
	}
	defer s.failUnlessDone()
	fn := s.fn
	s.fn = nil
	fn()
	s.promise.TrySucceed(future.Void{})
}

func (s *scheduled) failUnlessDone() {
	value := recover()
	if value != nil {
		s.timer.loop.ReportPanic("scheduled function", value)
	}
	if value != nil || !s.promise.Future().IsDone() { // a panic, or runtime.Goexit
		s.promise.TryFail(&future.PanicError{Value: value, Stack: debug.Stack()})
	}
}

// The rest makes it the source of its own future.

func (s *scheduled) Result(uint64) (v future.Void, err error, done bool) {
	v, err = s.promise.Future().Result()
	if err == future.ErrPending {
		return v, nil, false
	}
	return v, err, true
}

func (s *scheduled) Listen(_ uint64, arg any, fn func(any, future.Future[future.Void])) {
	s.promise.Future().OnCompleteWith(arg, fn)
}

func (s *scheduled) Executor() future.Executor { return s.timer.loop }

func (s *scheduled) Cancel(uint64) bool {
	if !s.promise.Future().Cancel() {
		return false
	}
	if l := s.timer.loop; l.InLoop() {
		s.RunTask()
	} else {
		_ = l.Run(s) // if the loop has ended its timers are gone anyway
	}
	return true
}
