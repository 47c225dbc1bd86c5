package loop

import (
	"sync/atomic"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/internal/goid"
)

// Manual drives a Loop by hand: no goroutine, no descriptors, and a clock that stands still until it is
// told to move. It makes tests of what runs on a loop exact and fast.
//
// The goroutine that made it, or called one of its methods last, counts as the loop's goroutine. The
// methods must not be called by two goroutines at once; Execute, Run and Schedule of the loop may.
type Manual struct {
	loop    Loop
	now     atomic.Int64
	driving bool
}

// ManualTick is the resolution of a manual loop's timers, unless Options.Tick says otherwise.
const ManualTick = time.Millisecond

// NewManual returns a loop to be driven by the caller. Of the options, Name, Logger, Tick,
// MaxTasksPerTurn, MaxQueuedTasks and the allocator count; the allocator is unpooled by default.
// Close ends it.
func NewManual(o Options) (*Manual, error) {
	setDefault(&o.Tick, ManualTick)
	if o.Name == "" {
		o.Name = "manual"
	}
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	m := &Manual{}
	l := &m.loop
	l.name, l.log, l.ticks = o.Name, o.Logger, ticksOf(o.Tick)
	l.maxTasks, l.maxQueued = o.MaxTasksPerTurn, o.MaxQueuedTasks
	l.manual = m
	l.locals.init()
	if l.allocator = o.Allocator; l.allocator == nil {
		l.allocator = buffer.Unpooled()
	}
	m.adopt()
	return m, nil
}

// Loop returns the loop that is driven.
func (m *Manual) Loop() *Loop { return &m.loop }

// Now returns the loop's time, which starts at 0.
func (m *Manual) Now() time.Duration { return time.Duration(m.now.Load()) }

// RunPending runs tasks, due timers and turn ends until there is nothing left to do at the present
// time, and returns how many tasks and timers ran. Inside one of them it does nothing and returns 0.
func (m *Manual) RunPending() int {
	if m.driving || m.loop.over.Load() {
		return 0
	}
	m.adopt()
	m.driving = true
	defer func() { m.driving = false }()
	l := &m.loop
	before := l.counters.tasks + l.counters.timers
	for {
		l.runTurn()
		if !l.pending() {
			break
		}
	}
	return int(l.counters.tasks + l.counters.timers - before)
}

// Advance moves the clock on by d, and runs everything that becomes due on the way at its own time. It
// returns how many tasks and timers ran.
func (m *Manual) Advance(d time.Duration) int {
	if m.driving || m.loop.over.Load() {
		return 0
	}
	target := deadlineAfter(m.Now(), d)
	ran := m.RunPending()
	for {
		tick, ok := m.loop.wheel.next()
		if at := m.loop.tickStart(tick); !ok || at > target {
			break
		} else if at > m.Now() {
			m.now.Store(int64(at))
		}
		ran += m.RunPending()
	}
	m.now.Store(int64(target))
	return ran + m.RunPending()
}

// NextTimer returns how long it is until a timer may fire, and whether there is one. It may be less
// than the time of the earliest timer, never more.
func (m *Manual) NextTimer() (time.Duration, bool) {
	tick, ok := m.loop.wheel.next()
	if !ok {
		return 0, false
	}
	return max(m.loop.tickStart(tick)-m.Now(), 0), true
}

// Close ends the loop as Group.Shutdown does without a quiet period and timeout: what was accepted runs,
// handles get OpShutdown and then OpShutdown|OpDone, scheduled functions fail with ErrShutdown, and later
// tasks are refused.
func (m *Manual) Close() {
	if m.driving || m.loop.over.Load() {
		return
	}
	m.adopt()
	(&stopTask{loop: &m.loop}).RunTask()
	m.RunPending()
	m.driving = true
	defer func() { m.driving = false }()
	m.loop.terminate()
}

func (m *Manual) adopt() { m.loop.owner.Store(goid.Current()) }
