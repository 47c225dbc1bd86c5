package loop

import "runtime/debug"

// The parts of a turn. Each runs a batch under one deferred recover and keeps its place in the
// loop, so that after a panic (or a Goexit, with a new goroutine) the rest of the batch follows.

// TurnEnder is told when the turn in which it asked for that is over.
type TurnEnder interface {
	// TurnEnd runs on the loop, after the events, timers and tasks of the turn.
	TurnEnd()
}

// AtTurnEnd has h.TurnEnd called once, at the end of this turn, when all events, timers and tasks
// of the turn have run; a call during TurnEnd counts for the next turn, which then follows without
// sleep. It gathers small pieces of work, such as the flushes of a turn. It does not allocate in
// the long run. Only on the loop's goroutine.
func (l *Loop) AtTurnEnd(h TurnEnder) {
	l.mustBeOn("AtTurnEnd")
	l.turnEnd = append(l.turnEnd, h)
}

func (l *Loop) serveEvents() {
	for l.served < l.readyN {
		l.serveSome()
	}
}

func (l *Loop) serveSome() {
	defer l.containHandler()
	for l.served < l.readyN {
		r := &l.ready[l.served]
		l.served++
		h := l.handles.handler(r.token)
		if h == nil {
			l.dropStale(r)
			continue
		}
		l.counters.events++
		ev := r.event
		r.event.Buffer = nil
		h.HandleIO(ev)
	}
}

// containHandler also makes the handle that panicked blind: its readiness lasts, and would bring the
// same panic turn after turn.
func (l *Loop) containHandler() {
	value := recover()
	if value == nil {
		return
	}
	l.nesting = 0
	l.ReportPanic("handler", value)
	r := Registration{l, l.ready[l.served-1].token}
	if err := r.SetInterest(0); err != nil && err != ErrNotRegistered {
		l.log.Error("millrace: dropping the interest of a handle that panicked", "loop", l.name, "error", err)
	}
}

// dropStale gives back what belongs to an event whose handle is gone.
func (l *Loop) dropStale(r *readyEvent) {
	l.counters.stale++
	if b := r.event.Buffer; b != nil {
		r.event.Buffer = nil
		b.Close()
	}
}

func (l *Loop) runTimers() {
	if l.wheel.count == 0 {
		return
	}
	l.wheel.advance(l.tickOf(l.turnTime()))
	// The bound also ends a turn in which timers keep resetting themselves to now.
	for left := l.maxTasks; left > 0 && l.wheel.slots[dueSlot].first != nil; {
		left = l.fireSome(left)
	}
}

func (l *Loop) fireSome(left int) (rest int) {
	defer l.contain("timer")
	for rest = left; rest > 0; {
		t := l.wheel.popDue()
		if t == nil {
			return rest
		}
		rest--
		l.counters.timers++
		t.task.RunTimer(t)
	}
	return rest
}

func (l *Loop) runTasks() {
	for left := l.maxTasks; left > 0 && !l.queue.Empty(); {
		left = l.runSome(left)
	}
}

func (l *Loop) runSome(left int) (rest int) {
	defer l.contain("task")
	for rest = left; rest > 0; {
		task := l.queue.Pop()
		if task == nil {
			return rest
		}
		rest--
		l.counters.tasks++
		task.RunTask()
	}
	return rest
}

func (l *Loop) runTurnEnd() {
	if l.ends == len(l.ending) {
		if len(l.turnEnd) == 0 {
			return
		}
		l.ending, l.turnEnd, l.ends = l.turnEnd, l.ending[:0], 0
	}
	for l.ends < len(l.ending) {
		l.endSome()
	}
	clear(l.ending)
	l.ending, l.ends = l.ending[:0], 0
}

func (l *Loop) endSome() {
	defer l.contain("turn end")
	for l.ends < len(l.ending) {
		h := l.ending[l.ends]
		l.ends++
		h.TurnEnd()
	}
}

// contain is deferred around every batch: a handler's panic never takes the loop down.
func (l *Loop) contain(where string) {
	if value := recover(); value != nil {
		l.nesting = 0
		l.ReportPanic(where, value)
	}
}

// ReportPanic logs a panic that was contained, with the stack of the caller, and counts it. It
// is for packages that run foreign code on the loop.
func (l *Loop) ReportPanic(where string, value any) {
	l.public.panics.Add(1)
	l.log.Error("millrace: panic contained", "loop", l.name, "where", where, "panic", value,
		"stack", string(debug.Stack()))
}

// maxNesting bounds listeners inside listeners; see future.Host.
const maxNesting = 16

// EnterListener reports whether a future's listener may run inside what is running now; if so,
// LeaveListener has to follow. It is part of future.Host.
func (l *Loop) EnterListener() bool {
	if l.nesting >= maxNesting {
		return false
	}
	l.nesting++
	return true
}

// LeaveListener undoes a successful EnterListener.
func (l *Loop) LeaveListener() { l.nesting-- }
