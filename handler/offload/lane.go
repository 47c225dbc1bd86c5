package offload

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"millrace.dev/channel"
)

// PanicError is what becomes of a panic in the work, or of its calling runtime.Goexit.
type PanicError struct {
	Value any    // what was given to panic; nil after runtime.Goexit
	Stack []byte // of the worker at that point
}

// Error describes the panic's value, without the stack.
func (e *PanicError) Error() string {
	if e.Value == nil {
		return "offload: the work has ended its goroutine"
	}
	return fmt.Sprintf("offload: the work panicked: %v", e.Value)
}

// Unwrap returns the panic's value if it was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// errEnded is why Call's methods fail once nobody can take what they give.
var errEnded = errors.New("offload: the channel has closed")

// kind is what an item on its way through the lane is.
type kind uint8

const (
	work     kind = iota // a message for the work; what follows passes a worker unchanged
	read                 // a message for the next handler
	other                // the same, of a type that is not worked on
	write                // a message for the peer
	failure              // an error for the next handlers
	event                // a user event
	shutdown             // OnShutdown(Inbound)
	finished             // the work of one message is done
)

type item struct {
	kind kind
	msg  any // an error for failure
}

// turnLength is how many messages of one channel a worker does before it looks for others.
const turnLength = 16

// lane is what a handler and the workers share: what waits to be worked on, and what came of
// it. At most one worker is in it at a time, which keeps the order.
type lane struct {
	pool *Pool
	do   func(ctx context.Context, msg any) error
	ctx  context.Context
	wake func() // tells the loop that out has something; any goroutine

	mu       sync.Mutex
	room     sync.Cond // out has room again, the channel is writable again, or it has ended
	in       []item
	head     int // those of in before it have been taken
	out      []item
	limit    int  // of items in out, for one that gives many
	busy     bool // a worker has it, or it waits for one
	woken    bool // the loop has been told and has not looked yet
	ended    bool // nobody takes what comes
	discard  bool // nor is what waits to be worked on
	writable bool
}

// push puts an item behind the others. It reports false when the pool is closed; the item is
// still the caller's then.
func (l *lane) push(i item) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pool.closed.Load() {
		return false
	}
	if !l.busy {
		// Under the lock, so that the order of lane and pool is the same for all.
		if !l.pool.submit(l, false) {
			return false
		}
		l.busy = true
	}
	if l.head > 0 && len(l.in) == cap(l.in) {
		n := copy(l.in, l.in[l.head:])
		clear(l.in[n:])
		l.in, l.head = l.in[:n], 0
	}
	l.in = append(l.in, i)
	return true
}

// run is a worker's turn.
func (l *lane) run() {
	again := false
	defer func() {
		if again { // also after runtime.Goexit
			l.pool.submit(l, true)
		}
	}()
	for range turnLength {
		i, discard, ok := l.next()
		if !ok {
			again = false
			return
		}
		again = true
		switch {
		case i.kind != work:
			l.give(i)
		case discard:
			channel.Dispose(i.msg)
			l.give(item{finished, nil})
		default:
			l.workOn(i.msg)
		}
	}
}

// keptItems is how much room for items an idle lane keeps.
const keptItems = 16

// next takes the next item, or ends the worker's stay when there is none.
func (l *lane) next() (i item, discard, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.head == len(l.in) {
		l.in, l.head = l.in[:0], 0
		if cap(l.in) > keptItems {
			l.in = nil
		}
		l.busy = false
		return item{}, false, false
	}
	i = l.in[l.head]
	l.in[l.head] = item{}
	l.head++
	return i, l.discard, true
}

// workOn does the work of one message. Whatever it does ends with finished.
func (l *lane) workOn(msg any) {
	returned := false
	defer func() {
		value := recover()
		if value != nil || !returned {
			l.give(item{failure, &PanicError{value, debug.Stack()}})
		}
		l.give(item{finished, nil})
	}()
	err := l.do(l.ctx, msg)
	returned = true
	if err != nil {
		l.give(item{failure, err})
	}
}

// give passes an item to the loop.
func (l *lane) give(i item) {
	l.mu.Lock()
	wake := l.add(i)
	l.mu.Unlock()
	if wake {
		l.wake()
	}
}

// add puts an item into out, and reports whether the loop has to be told.
func (l *lane) add(i item) (wake bool) {
	l.out = append(l.out, i)
	wake = !l.woken
	l.woken = true
	return wake
}

// wait is give for work that makes many messages: it waits until there is room for one.
func (l *lane) wait(i item) error {
	l.mu.Lock()
	for !l.ended && (len(l.out) >= l.limit || i.kind == write && !l.writable) {
		l.room.Wait()
	}
	if l.ended {
		l.mu.Unlock()
		channel.Dispose(i.msg)
		return errEnded
	}
	wake := l.add(i)
	l.mu.Unlock()
	if wake {
		l.wake()
	}
	return nil
}

// take gives the loop everything that has come, in exchange for an empty slice.
func (l *lane) take(empty []item) []item {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.out
	l.out = empty
	l.woken = false
	l.room.Broadcast()
	return out
}

// setWritable tells work that waits to write.
func (l *lane) setWritable(writable bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writable = writable
	l.room.Broadcast()
}

// end says that nobody takes what comes any more.
func (l *lane) end(discard bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.discard = discard
	l.room.Broadcast()
}
