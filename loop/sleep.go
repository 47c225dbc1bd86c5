package loop

import "time"

// How a loop sleeps, and is woken only when it does.
//
// The state is awake while the loop works. Just before it sleeps it stores asleep and then looks at
// the queue once more; a producer pushes first and then looks at the state. So either the loop sees
// the task, or the producer sees that the loop is asleep, and the first producer to turn asleep into
// woken wakes it. While the loop is awake a task costs its producer one atomic load for all this.
const (
	awake  = iota // working
	asleep        // parked, or just about to
	woken         // a producer has woken it, or is about to
)

func (l *Loop) wakeIfAsleep() {
	if l.state.Load() == asleep && l.state.CompareAndSwap(asleep, woken) && l.poller != nil {
		l.poller.wake()
	}
}

// fallAsleep is called by the poller right before it parks. If it returns false there is work.
func (l *Loop) fallAsleep() bool {
	l.state.Store(asleep)
	return l.queue.Empty()
}

// arise is called by the poller when it no longer sleeps. It reports whether somebody has
// woken the loop; the poller's wake signal is then set, or will be at any moment.
func (l *Loop) arise() bool {
	if l.state.Load() == awake || l.state.Swap(awake) == asleep {
		return false
	}
	l.counters.wakeups++
	return true
}

// never is the deadline of a sleep that only an event or a task ends.
const never = time.Duration(-1)

// sleepUntil returns the time at which the loop has something to do even if nothing happens.
func (l *Loop) sleepUntil() time.Duration {
	until := never
	if tick, ok := l.wheel.next(); ok {
		until = l.tickStart(tick)
	}
	if l.stop.requested {
		if at := l.stopDeadline(); until == never || at < until {
			until = at
		}
	}
	return until
}

// slept is called by pollers that gave up the processor: there is no need to kick.
func (l *Loop) slept() {
	l.busy = 0
	l.counters.sleeps++
}
