package loop

import "time"

// How a loop ends. It is asked to by a task; from then on it is stopping: its handles are told with
// OpShutdown, and it goes on working while tasks arrive within the quiet period or handles are
// still registered, until the deadline at most. Then it is final: handles that are left get
// OpShutdown|OpDone, the queue is closed, what was accepted runs, and what was scheduled for later
// fails with ErrShutdown.
type stopState struct {
	requested bool
	final     bool
	quiet     time.Duration
	deadline  time.Duration
	lastTask  time.Duration // when a task was seen to have run
	seen      uint64        // counters.tasks then
	told      int           // handles in slots before this one know
}

// stopTask asks a loop to end. A second one can only make it end sooner.
type stopTask struct {
	loop     *Loop
	quiet    time.Duration
	deadline time.Duration
}

func (t *stopTask) RunTask() {
	s := &t.loop.stop
	if s.requested {
		s.quiet = min(s.quiet, t.quiet)
		s.deadline = min(s.deadline, t.deadline)
		s.seen++ // asking again does not prolong the quiet period
		return
	}
	s.requested = true
	s.quiet, s.deadline = t.quiet, t.deadline
	s.lastTask, s.seen = t.loop.clock(), t.loop.counters.tasks
}

// tellShutdown tells the handles that do not know yet. A handle may come and go meanwhile.
func (l *Loop) tellShutdown() {
	for l.stop.requested && l.stop.told < l.handles.used {
		l.tellSome()
	}
}

func (l *Loop) tellSome() {
	defer l.contain("handler, at shutdown")
	ev := Event{Ops: OpShutdown}
	if l.stop.final {
		ev.Ops |= OpDone
	}
	for l.stop.told < l.handles.used {
		h := l.handles.at(uint32(l.stop.told)).handle
		l.stop.told++
		if h != nil {
			h.HandleIO(ev)
		}
	}
}

// lateTask tells a handle that was registered after its slot's turn.
type lateTask struct {
	loop  *Loop
	token token
}

func (t *lateTask) RunTask() {
	if h := t.loop.handles.handler(t.token); h != nil {
		h.HandleIO(Event{Ops: OpShutdown})
	}
}

func (s *stopState) tellLate(l *Loop, k token) {
	if int(k.slot) < s.told {
		_ = l.Run(&lateTask{l, k}) // on the loop, and not ended: it is not refused
	}
}

// mayEnd reports, between turns, whether a loop that was asked to end now does.
func (l *Loop) mayEnd() bool {
	s := &l.stop
	now := l.clock()
	if n := l.counters.tasks; n != s.seen {
		s.seen, s.lastTask = n, now
	}
	if s.final || now >= s.deadline {
		return true
	}
	return l.handles.count == 0 && now >= deadlineAfter(s.lastTask, s.quiet) && !l.pending()
}

// stopDeadline is when mayEnd has to be asked again if nothing happens.
func (l *Loop) stopDeadline() time.Duration {
	if l.handles.count == 0 {
		return min(l.stop.deadline, deadlineAfter(l.stop.lastTask, l.stop.quiet))
	}
	return l.stop.deadline
}

// terminate does the last work of the loop. It can be entered again if a handler ends the goroutine.
func (l *Loop) terminate() {
	if !l.stop.final {
		l.stop.final = true
		l.stop.told = 0
	}
	l.tellShutdown()
	l.queue.Close()
	for !l.queue.Empty() {
		l.runTasks()
	}
	for t := l.wheel.popAny(); t != nil; t = l.wheel.popAny() {
		l.abandon(t)
	}
	for rounds := 0; rounds < maxNesting && len(l.turnEnd) > 0; rounds++ {
		l.runTurnEnd()
	}
	l.endLocals()
	if l.poller != nil {
		if err := l.poller.close(); err != nil {
			l.log.Error("millrace: closing a loop's poller", "loop", l.name, "error", err)
		}
	}
	l.handles = handleTable{}
	l.publish()
	l.over.Store(true)
}

// abandon ends a timer that will not fire any more.
func (l *Loop) abandon(t *Timer) {
	defer l.contain("timer, at shutdown")
	if s, ok := t.task.(*scheduled); ok {
		s.promise.TryFail(ErrShutdown)
	}
}
