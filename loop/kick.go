package loop

import (
	"runtime"
	"time"
)

// What a busy loop owes to others.
//
// A loop that always has events never enters Go's scheduler by itself. But it is the scheduler that
// looks at the runtime's network poller, in which the other loops sleep, and it looks there only when
// a processor has nothing else to do. So while every processor has a busy loop (or any other busy
// goroutine), a sleeping loop would be noticed by the runtime's monitor only, which looks every 10 ms
// or more: the p99 of its connections was measured at 10 to 700 ms. Yielding alone does not help, since
// the scheduler prefers the goroutine that has yielded to looking at the poller.
//
// Therefore a busy loop looks at the descriptors of its sleeping siblings itself, and wakes those that
// have events; then it yields, so that they get to run. With that the p99 was 0.3 ms.
//
// It also yields now and then for the sake of other goroutines, which would else wait for the end of its
// 10 ms time slice. Not often: where a processor is idle, and nobody waits, Gosched wakes a thread for
// it, which costs more than a hundred times what it costs where it is needed (6 % of a server's time
// when it was done every eighth turn).

// kickEvery is how many turns a loop may be busy before it looks at its siblings.
const kickEvery = 8

// kickSiblings is how many sleeping siblings are looked at each time.
const kickSiblings = 4

// yieldEvery is how long a loop may be busy before it yields, with nothing known to wait.
const yieldEvery = 2 * time.Millisecond

// kick is called between turns.
func (l *Loop) kick() {
	if l.busy++; l.busy < kickEvery {
		return
	}
	l.busy = 0
	now := Clock()
	if !l.wakeSiblings() && now-l.yielded < l.yieldEvery {
		return
	}
	l.yielded = now
	runtime.Gosched()
}

// wakeSiblings wakes loops that sleep though they have events; a few at a time, each in turn. It
// reports whether any sibling was woken, now or before, and has not run yet.
func (l *Loop) wakeSiblings() (waiting bool) {
	loops := l.group.loops
	for looked, n := 0, 0; n < len(loops) && looked < kickSiblings; n++ {
		if l.sibling++; l.sibling >= len(loops) {
			l.sibling = 0
		}
		o := loops[l.sibling]
		switch o.state.Load() { // awake, if it is the loop itself
		case woken:
			waiting = true
		case asleep:
			looked++
			if o.poller.hasEvents() {
				l.counters.kicks++
				o.wakeIfAsleep()
				waiting = true
			}
		}
	}
	return waiting
}
