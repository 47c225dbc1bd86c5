package loop

import "sync/atomic"

// Stats counts what a loop has done since it started. The figures are published between turns, so
// they may be a few turns old while the loop is busy.
type Stats struct {
	Turns   uint64 // rounds of events, timers, tasks
	Events  uint64 // events given to handles
	Tasks   uint64 // tasks run
	Fired   uint64 // timers that fired
	Sleeps  uint64 // times that the loop gave up its processor because there was nothing to do
	Wakeups uint64 // sleeps that a task from another goroutine ended
	Kicks   uint64 // siblings that this loop woke because they had events
	Stale   uint64 // events dropped because their handle was gone
	Panics  uint64 // panics contained
	Handles int    // handles registered now
	Timers  int    // timers waiting now
	Queued  int    // tasks waiting now
}

// add is for groups.
func (s *Stats) add(o Stats) {
	s.Turns += o.Turns
	s.Events += o.Events
	s.Tasks += o.Tasks
	s.Fired += o.Fired
	s.Sleeps += o.Sleeps
	s.Wakeups += o.Wakeups
	s.Kicks += o.Kicks
	s.Stale += o.Stale
	s.Panics += o.Panics
	s.Handles += o.Handles
	s.Timers += o.Timers
	s.Queued += o.Queued
}

// counters are the loop's own, plain because they change for every event and task.
type counters struct {
	turns, events, tasks, timers, sleeps, wakeups, kicks, stale uint64
}

// publicCounters are what others may read.
type publicCounters struct {
	turns, events, tasks, timers, sleeps, wakeups, kicks, stale, panics atomic.Uint64
	handles, waiting, queued                                            atomic.Int64
}

// publishEvery is how many turns a busy loop's figures may be old.
const publishEvery = 64

// publish copies the counters that have changed; an atomic write costs more than the comparison.
func (l *Loop) publish() {
	c, p := &l.counters, &l.public
	set(&p.turns, c.turns)
	set(&p.events, c.events)
	set(&p.tasks, c.tasks)
	set(&p.timers, c.timers)
	set(&p.sleeps, c.sleeps)
	set(&p.wakeups, c.wakeups)
	set(&p.kicks, c.kicks)
	set(&p.stale, c.stale)
	setInt(&p.handles, l.handles.count)
	setInt(&p.waiting, l.wheel.count)
	setInt(&p.queued, l.queue.Len())
}

func set(to *atomic.Uint64, v uint64) {
	if to.Load() != v {
		to.Store(v)
	}
}

func setInt(to *atomic.Int64, v int) {
	if to.Load() != int64(v) {
		to.Store(int64(v))
	}
}

// Stats returns the loop's figures. Any goroutine may call it; on the loop they are exact.
func (l *Loop) Stats() Stats {
	if l.InLoop() {
		l.publish()
	}
	p := &l.public
	return Stats{
		Turns:   p.turns.Load(),
		Events:  p.events.Load(),
		Tasks:   p.tasks.Load(),
		Fired:   p.timers.Load(),
		Sleeps:  p.sleeps.Load(),
		Wakeups: p.wakeups.Load(),
		Kicks:   p.kicks.Load(),
		Stale:   p.stale.Load(),
		Panics:  p.panics.Load(),
		Handles: int(p.handles.Load()),
		Timers:  int(p.waiting.Load()),
		Queued:  int(p.queued.Load()),
	}
}

// Stats returns the sums over all loops.
func (g *Group) Stats() Stats {
	var sum Stats
	for _, l := range g.loops {
		sum.add(l.Stats())
	}
	return sum
}
