package inbox

import (
	"sync"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/loop"
)

// keep is how many places a queue that has run empty keeps, and how many used ones it may
// have in front.
const keep = 16

// Inbox is a queue of messages with one producer at a time on any goroutine, and a
// channel's loop as its consumer. Buffers count with their readable bytes, everything else
// as 1. Init must come first.
type Inbox struct {
	limit int64
	wake  func()

	mu      sync.Mutex
	loop    *loop.Loop // nil while the channel is not registered
	queue   []any
	head    int
	size    int64
	ended   bool
	failure error
	posted  bool // RunTask is queued
	waiting bool // the producer wants to hear of room
	closed  bool

	// The consumer's own.
	driver  channel.Driver
	reg     loop.Registration
	reading bool
}

// Init sets the bound, and what is called when a producer that found no room may try again:
// on the channel's loop, or on the goroutine that called Close.
func (in *Inbox) Init(limit int64, wake func()) { in.limit, in.wake = limit, wake }

// Limit returns the bound.
func (in *Inbox) Limit() int64 { return in.limit }

// Closed is what Room returns when the channel has closed.
const Closed = -1

// Room returns how much the producer may put. With less than least it returns 0, and wake
// will be called once half of the inbox is empty, or it is Closed.
func (in *Inbox) Room(least int64) int64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	room := in.limit - in.size
	switch {
	case in.closed:
		return Closed
	case room >= least:
		return room
	}
	in.waiting = true
	return 0
}

// Put hands msg over. It reports false, and msg stays the caller's, when the channel has
// closed. The bound is the caller's to keep.
func (in *Inbox) Put(msg any) bool {
	in.mu.Lock()
	if in.closed {
		in.mu.Unlock()
		return false
	}
	if in.head >= keep && in.head >= len(in.queue)/2 {
		n := copy(in.queue, in.queue[in.head:])
		clear(in.queue[n:])
		in.queue, in.head = in.queue[:n], 0
	}
	in.queue = append(in.queue, msg)
	in.size += sizeOf(msg)
	in.postAndUnlock()
	return true
}

// End says that nothing follows: with a nil error because the peer has ended its direction
// in order, otherwise because the connection is lost. A loss may follow an end.
func (in *Inbox) End(err error) {
	in.mu.Lock()
	if in.closed || in.failure != nil || (in.ended && err == nil) {
		in.mu.Unlock()
		return
	}
	in.ended = true
	in.failure = err
	in.postAndUnlock()
}

// postAndUnlock has the loop deliver.
func (in *Inbox) postAndUnlock() {
	l := in.loop
	post := l != nil && !in.posted
	in.posted = in.posted || post
	in.mu.Unlock()
	if post {
		_ = l.Run(in) // refused: the loop has ended, and closed the channel
	}
}

func sizeOf(msg any) int64 {
	if b, ok := msg.(*buffer.Buffer); ok {
		if b.IsClosed() {
			return 0 // by mistake of who sent it: its receiver will say so, and nothing is locked
		}
		return int64(b.Len())
	}
	return 1
}

// The rest is for the loop.

// Attach starts deliveries, when the channel registers, and has the loop tell the channel of
// its end, for a transport without a descriptor that the loop would watch.
func (in *Inbox) Attach(d channel.Driver) error {
	reg, err := d.Loop().Attach(in)
	if err != nil {
		return err
	}
	in.reg, in.driver = reg, d
	in.mu.Lock()
	in.loop = d.Loop()
	if in.failure == nil {
		in.mu.Unlock()
		return nil
	}
	in.postAndUnlock()
	return nil
}

// Detach ends what Attach has started, when the channel deregisters.
func (in *Inbox) Detach() error {
	in.reading = false
	in.mu.Lock()
	in.loop = nil
	in.mu.Unlock()
	if !in.reg.Valid() {
		return nil
	}
	return in.reg.Deregister()
}

// HandleIO implements loop.Handle: only the loop's end comes this way.
func (in *Inbox) HandleIO(ev loop.Event) {
	if ev.Ops&loop.OpShutdown != 0 {
		in.driver.LoopEnding(ev.Ops&loop.OpDone != 0)
	}
}

// Start is StartRead.
func (in *Inbox) Start() {
	if in.reading {
		return
	}
	in.reading = true
	in.mu.Lock()
	if in.head == len(in.queue) && !in.ended {
		in.mu.Unlock()
		return
	}
	in.postAndUnlock() // not inside what asked for it
}

// Stop is StopRead.
func (in *Inbox) Stop() { in.reading = false }

// Close ends the inbox, tells the producer, and returns what nobody has read, which is now
// the caller's. Any goroutine may call it while the channel is not registered.
func (in *Inbox) Close() (unread []any) {
	in.mu.Lock()
	in.closed = true
	in.loop = nil
	unread = in.queue[in.head:]
	in.queue, in.head, in.size = nil, 0, 0
	wake := in.waiting
	in.waiting = false
	in.mu.Unlock()
	if wake {
		in.wake()
	}
	return unread
}

// RunTask delivers. It is the loop's.
func (in *Inbox) RunTask() {
	in.mu.Lock()
	in.posted = false
	attached := in.loop != nil
	in.mu.Unlock()
	if !attached {
		return
	}
	if in.reading {
		in.deliver()
	}
	in.goOn()
}

// deliver passes one batch on.
func (in *Inbox) deliver() {
	d := in.driver
	begun := false
	for range d.Channel().Config().MaxReadsPerTurn {
		msg := in.pop()
		if msg == nil {
			break
		}
		if !begun {
			begun = true
			d.BeginBatch()
		}
		d.Read(msg)
		if !d.Reading() {
			break
		}
	}
	if begun {
		d.EndBatch()
	}
}

// pop removes the next message; nil when there is none.
func (in *Inbox) pop() any {
	in.mu.Lock()
	if in.head == len(in.queue) {
		in.mu.Unlock()
		return nil
	}
	msg := in.queue[in.head]
	in.queue[in.head] = nil
	in.head++
	in.size -= sizeOf(msg)
	if in.head == len(in.queue) {
		in.head, in.queue = 0, in.queue[:0]
		if cap(in.queue) > keep {
			in.queue = nil
		}
	}
	wake := in.waiting && in.size <= in.limit/2
	if wake {
		in.waiting = false
	}
	in.mu.Unlock()
	if wake {
		in.wake()
	}
	return msg
}

// goOn decides what follows a batch.
func (in *Inbox) goOn() {
	in.mu.Lock()
	empty := in.head == len(in.queue)
	switch {
	case in.loop == nil: // closed, or deregistered
		in.mu.Unlock()
	case in.failure != nil && (empty || !in.reading):
		err := in.failure
		in.mu.Unlock()
		in.driver.Fail(err)
	case !in.reading:
		in.mu.Unlock()
	case !empty:
		in.postAndUnlock()
	case in.ended:
		in.mu.Unlock()
		in.driver.InputClosed()
	default:
		in.mu.Unlock()
	}
}
