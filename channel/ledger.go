package channel

import (
	"sync"

	"millrace.dev/future"
)

// ledger is the Channel seen as the source of its write futures. A write's future is the
// channel and the write's number, so a write that nobody listens to allocates nothing.
type ledger Channel

// outcome of the writes that did not succeed; published once, when the channel stops
// taking writes out of its queue.
type outcome struct {
	lastDone uint64 // writes up to it have succeeded
	err      error  // the others have failed with it
}

// listeners are those of a channel's writes, by write. A channel has them only while
// somebody listens.
type listeners struct {
	list      []listener
	told      int // those before it have run
	notifying bool
}

var listenerLists = sync.Pool{New: func() any { return &listeners{list: make([]listener, 0, 4)} }}

type listener struct {
	write uint64
	arg   any
	fn    func(arg any, f Future)
}

// Result is for any goroutine.
func (l *ledger) Result(write uint64) (v future.Void, err error, done bool) {
	if write <= l.doneWrites.Load() {
		return v, nil, true
	}
	if o := l.failure.Load(); o != nil {
		if write <= o.lastDone {
			return v, nil, true
		}
		return v, o.err, true
	}
	return v, nil, false
}

// Listen is for any goroutine.
func (l *ledger) Listen(write uint64, arg any, fn func(arg any, f Future)) {
	ch := (*Channel)(l)
	onLoop := ch.loop.InLoop()
	if _, _, done := l.Result(write); done && !(onLoop && ch.listeners != nil && ch.listeners.notifying) {
		future.Deliver(ch.loop, ch.writeFuture(write), arg, fn)
		return
	}
	if !onLoop {
		if err := ch.loop.Run(&listening{l, listener{write, arg, fn}}); err != nil {
			// The loop has ended, and with it the channel: the outcome is final.
			future.Deliver(nil, ch.writeFuture(write), arg, fn)
		}
		return
	}
	ch.addListener(listener{write, arg, fn}) // also when done: others of this write may come first
}

// listening is a listener from another goroutine on its way to the loop.
type listening struct {
	ledger *ledger
	listener
}

// RunTask is for the loop.
func (l *listening) RunTask() { l.ledger.Listen(l.write, l.arg, l.fn) }

// Cancel can't take back a write: its bytes have their place in the stream.
func (l *ledger) Cancel(uint64) bool { return false }

// Executor returns the channel's loop.
func (l *ledger) Executor() future.Executor { return l.loop }

// writeFuture returns the future of a write.
func (ch *Channel) writeFuture(write uint64) Future {
	return future.Make[future.Void]((*ledger)(ch), write)
}

// writesDone publishes that every write up to last has succeeded. Once the others were said to
// have failed it comes too late: a transport may hear of the last bytes only when it closes, and
// a future doesn't change any more.
func (ch *Channel) writesDone(last uint64) {
	if ch.failure.Load() != nil {
		return
	}
	ch.doneWrites.Store(last)
	if ch.listeners != nil {
		ch.notifyListeners()
	}
}

// failWrites fails every write that has not been sent, and those to come. The messages stay
// in the queue as long as the transport may still be sending one.
func (ch *Channel) failWrites(err error) {
	if ch.failure.Load() != nil {
		return
	}
	ch.failure.Store(&outcome{ch.doneWrites.Load(), err})
	if ch.listeners != nil {
		ch.notifyListeners()
	}
}

// addListener keeps the listeners in the order of their writes, and those of one write in
// the order in which they came. Nearly all come in that order already.
func (ch *Channel) addListener(w listener) {
	if ch.listeners == nil {
		ch.listeners = listenerLists.Get().(*listeners)
	}
	ls := ch.listeners
	l := append(ls.list, w)
	for i := len(l) - 1; i > ls.told && l[i-1].write > w.write; i-- {
		l[i-1], l[i] = l[i], l[i-1]
	}
	ls.list = l
}

// notifyListeners runs the listeners of the writes that are done, in order. A listener may
// write, listen or close; what that completes is run by the outermost call.
func (ch *Channel) notifyListeners() {
	ls := ch.listeners
	if ls.notifying {
		return
	}
	ls.notifying = true
	for ls.told < len(ls.list) {
		w := ls.list[ls.told]
		if _, _, done := (*ledger)(ch).Result(w.write); !done {
			break
		}
		ls.list[ls.told] = listener{}
		ls.told++
		ch.runListener(w)
	}
	ls.notifying = false
	ch.dropTold()
}

// keptListeners is the capacity up to which a list is kept for another channel.
const keptListeners = 64

// dropTold gives up the listeners that have run.
func (ch *Channel) dropTold() {
	ls := ch.listeners
	left := len(ls.list) - ls.told
	if left > 0 && ls.told <= left {
		return // moving them costs more than has been gained
	}
	n := copy(ls.list, ls.list[ls.told:])
	clear(ls.list[n:])
	ls.list, ls.told = ls.list[:n], 0
	if n > 0 {
		return
	}
	ch.listeners = nil
	if cap(ls.list) <= keptListeners {
		listenerLists.Put(ls)
	}
}

func (ch *Channel) runListener(w listener) {
	was, outbound, returned := ch.current, ch.outbound, false
	ch.outbound = false // what the listener writes is an entry of its own
	defer func() {
		ch.current, ch.outbound = was, outbound
		if v := recover(); v != nil {
			err := newPanicError(nil, v)
			ch.Logger().Error("future listener panicked", "channel", ch, "panic", v, "stack", string(err.Stack))
		} else if !returned { // runtime.Goexit: the others are called here or never
			ch.listeners.notifying = false
			ch.notifyListeners()
		}
	}()
	w.fn(w.arg, ch.writeFuture(w.write))
	returned = true
}
