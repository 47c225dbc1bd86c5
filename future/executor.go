package future

import (
	"fmt"
	"log/slog"
	"runtime/debug"
)

// Executor is where a future's listeners run: an event loop.
type Executor interface {
	// Execute runs the task later on the executor's goroutine, after the tasks that
	// were accepted before it. It returns an error, and never runs the task, when the
	// executor takes no more. Any goroutine may call it.
	Execute(task func()) error
	// InLoop reports whether the caller runs on the executor's goroutine.
	InLoop() bool
}

// Task is a unit of work that needs no closure.
type Task interface {
	// RunTask does the work, on the executor's goroutine.
	RunTask()
}

// Host is what an Executor may offer besides. Listeners use it where it exists; an
// executor without it gets plain Execute calls, unbounded nesting, and slog's default logger.
type Host interface {
	Executor
	// Run is Execute for a Task. Unlike Execute it must not refuse because too much
	// is queued already: a refused listener would have to run on a foreign goroutine.
	Run(task Task) error
	// EnterListener reports whether one more listener may run inside the current one;
	// when it says yes, LeaveListener must follow. Only on the executor's goroutine.
	// A bound is needed because listeners that start the next operation, which is done
	// at once, which runs the next listener, would otherwise end in a stack overflow.
	EnterListener() bool
	// LeaveListener undoes an EnterListener that returned true.
	LeaveListener()
	// ReportPanic logs a panic that was contained, with the stack of the caller.
	ReportPanic(where string, value any)
}

// Deliver runs fn(arg, f) on ex the way every Source must call its listeners: at once when
// the caller is on ex already (and not nested too deeply), otherwise as a task; on the
// calling goroutine when ex is nil or has ended, so that no listener is ever lost.
// A panic of fn is contained and logged. Any goroutine may call it.
func Deliver[T any](ex Executor, f Future[T], arg any, fn func(arg any, f Future[T])) {
	if ex == nil {
		call(ex, f, arg, fn)
		return
	}
	host, _ := ex.(Host)
	if ex.InLoop() {
		if host == nil {
			call(ex, f, arg, fn)
			return
		}
		if host.EnterListener() {
			call(ex, f, arg, fn)
			host.LeaveListener()
			return
		}
	}
	if submit(ex, host, &delivery[T]{ex, f, arg, fn}) != nil {
		call(ex, f, arg, fn)
	}
}

func submit(ex Executor, host Host, task Task) error {
	if host != nil {
		return host.Run(task)
	}
	return ex.Execute(task.RunTask)
}

// delivery is a listener call on its way to its executor.
type delivery[T any] struct {
	ex  Executor
	f   Future[T]
	arg any
	fn  func(arg any, f Future[T])
}

func (d *delivery[T]) RunTask() { call(d.ex, d.f, d.arg, d.fn) }

func call[T any](ex Executor, f Future[T], arg any, fn func(arg any, f Future[T])) {
	defer contain(ex)
	fn(arg, f)
}

// contain is deferred around listeners: whoever completes a future is in the middle of
// something else, and must not be unwound by a listener's mistake.
func contain(ex Executor) {
	if value := recover(); value != nil {
		report(ex, value)
	}
}

func report(ex Executor, value any) {
	const where = "future listener"
	if host, ok := ex.(Host); ok {
		host.ReportPanic(where, value)
		return
	}
	slog.Error("millrace: panic contained", "where", where, "panic", value, "stack", string(debug.Stack()))
}

// PanicError is what a future fails with when the function that should have produced its
// value panicked instead, or ended its goroutine.
type PanicError struct {
	Value any    // what was passed to panic; nil after runtime.Goexit
	Stack []byte // the stack at that point, as debug.Stack formats it
}

// Error describes the panic's value, without the stack.
func (e *PanicError) Error() string {
	if e.Value == nil {
		return "future: the function has ended its goroutine"
	}
	return fmt.Sprintf("panic: %v", e.Value)
}

// Unwrap returns the panic's value when that was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
