package loop

import "time"

// poller is what a loop sleeps in. Readiness and completions arrive the same way: as entries of
// loop.ready. The methods are called on the loop's goroutine if nothing else is said.
type poller interface {
	// poll fills l.ready with what there is now, without blocking, and returns how many.
	poll(l *Loop) int
	// park is poll, but if there is nothing it sleeps until there is, or until wake is called, or
	// until the time given (or never). Before it sleeps it must ask l.fallAsleep, afterwards call
	// l.arise and l.slept. It may return early with 0.
	park(l *Loop, until time.Duration) int
	// wake ends the current sleep, or the one that is about to begin. Any goroutine.
	wake()
	// hasEvents reports whether poll would find something. Any goroutine, even after close.
	hasEvents() bool
	// descriptors reports whether control works.
	descriptors() bool
	// control changes the interest in fd from one set to another; the empty set means not watched.
	control(fd int, k token, from, to Ops) error
	// close gives everything back. wake may still be called.
	close() error
}
