package loop

import "time"

// TimerTask is what a Timer runs.
type TimerTask interface {
	// RunTimer runs on the timer's loop. The timer is no longer active and may be Reset.
	RunTimer(t *Timer)
}

// Timer runs a task once, some time from now, on its loop. It is made to be part of a larger
// struct (48 bytes, no allocation) and must not be copied while active. Setting, moving and
// stopping cost the same with one timer as with 100,000. All methods but Active are for the
// loop's goroutine only.
//
// A timer never fires early; it fires up to one tick (Options.Tick) late, or later if the loop
// is busy. Timers of the same tick fire in no particular order.
type Timer struct {
	next, prev *Timer // list of the slot
	loop       *Loop
	task       TimerTask
	place      uint64 // tick<<16 | slot+1; 0: not in the wheel
}

// Init ties the timer to its loop and task, once, before anything else.
func (t *Timer) Init(l *Loop, task TimerTask) { t.loop, t.task = l, task }

// Loop returns the loop that Init named.
func (t *Timer) Loop() *Loop { return t.loop }

// Reset makes the timer fire d from this moment, whether or not it was active. With d <= 0 it
// fires in the next turn at the latest.
func (t *Timer) Reset(d time.Duration) {
	l := t.loop
	if !l.InLoop() { // asked here, where it is no call
		l.mustBeOn("Timer.Reset")
	}
	if l.stop.final {
		return // nothing fires any more
	}
	l.scheduleAt(t, deadlineAfter(l.clock(), d))
}

// scheduleAt makes t fire at the time given.
func (l *Loop) scheduleAt(t *Timer, at time.Duration) {
	if l.wheel.count == 0 {
		l.wheel.skipTo(l.tickOf(l.clock()))
	}
	l.wheel.schedule(t, l.tickAfter(at))
}

// Stop keeps the timer from firing and reports whether it was active.
func (t *Timer) Stop() bool {
	if t.place == 0 {
		return false
	}
	if l := t.loop; !l.InLoop() {
		l.mustBeOn("Timer.Stop")
	}
	return t.loop.wheel.cancel(t)
}

// Active reports whether the timer is going to fire.
func (t *Timer) Active() bool { return t.place != 0 }

func (t *Timer) set(tick uint64, slot int) { t.place = tick<<16 | uint64(slot+1) }
func (t *Timer) tick() uint64              { return t.place >> 16 }
func (t *Timer) slot() (slot int, linked bool) {
	return int(t.place&0xffff) - 1, t.place != 0
}

// forever is later than any deadline that can be reached.
const forever = time.Duration(1<<63 - 1)

// deadlineAfter is now + d, within bounds.
func deadlineAfter(now, d time.Duration) time.Duration {
	if d <= 0 {
		return now
	}
	if d > forever-now {
		return forever
	}
	return now + d
}
