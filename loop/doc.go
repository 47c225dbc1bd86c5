// Package loop has the event loops: goroutines that own descriptors, tasks and timers.
//
// A Loop waits for events of its descriptors, tasks from other goroutines (Execute, Run), and
// timers, and runs what belongs to them one after the other. Whatever belongs to a loop is touched
// on its goroutine only, so handlers need no locks; in exchange, nothing on a loop may block. A
// watchdog reports whatever does. A Group is a number of loops with one allocator and one logger.
//
// A loop is an ordinary goroutine. It asks its epoll descriptor for events without blocking, and
// when there is nothing to do it parks in Go's own network poller, which watches that descriptor:
// see poller_linux.go for how, and sleep.go for how it is woken. On other systems loops run tasks
// and timers only, and Register returns an error that matches errors.ErrUnsupported.
//
// A Local is a variable that each loop has for itself, and a Recycler a free list for each loop.
// Tests drive a loop by hand with NewManual.
package loop
