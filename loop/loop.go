package loop

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/pprof"
	"sync/atomic"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/future"
	"millrace.dev/internal/goid"
	"millrace.dev/internal/loopset"
	"millrace.dev/loop/internal/mpsc"
)

// Loop is one goroutine that owns descriptors, tasks and timers: whatever belongs to a loop is
// touched on that goroutine only, and so needs no locks. Loops come from a Group, or from
// NewManual for tests.
type Loop struct {
	// Read and written by any goroutine.
	owner atomic.Uintptr // goid of the loop's goroutine
	state atomic.Uint32  // awake, asleep, woken: see sleep.go
	turn  atomic.Uint64  // number of the current turn: see watchdog.go
	over  atomic.Bool    // the loop has ended
	trims atomic.Bool    // the loop may have memory to spare when it is idle
	// trimmed is the turn in which the loop last returned spare memory.
	trimmed atomic.Uint64
	queue   mpsc.Queue // its consumer side is the loop's own

	// Constant after creation.
	group      *Group
	index      int // in the group
	name       string
	log        *slog.Logger
	ticks      ticks
	maxTasks   int
	maxQueued  int
	yieldEvery time.Duration // see kick.go
	poller     poller        // nil in a manual loop
	manual     *Manual
	allocator  buffer.Allocator
	cache      *buffer.Cache // the allocator, if it is one

	// The loop's own.
	now      time.Duration // the time of this turn, once nowKnown
	nowKnown bool
	nesting  int           // listeners on the stack
	busy     int           // turns since the loop last slept or was kicked: see kick.go
	yielded  time.Duration // when it last yielded
	sibling  int           // index in the group of the loop looked at last

	locals  localTable
	handles handleTable
	ready   []readyEvent
	readyN  int // events of this turn, of which
	served  int // these were handed out

	wheel    wheel
	turnEnd  []TurnEnder // registered for the end of this turn
	ending   []TurnEnder // being called, of which
	ends     int         // these were called
	stop     stopState
	counters counters
	public   publicCounters
}

// processStart is the zero of all loops' clocks.
var processStart = time.Now()

// Clock returns the monotonic time since the process started, in the terms of Loop.Now but read
// afresh. Any goroutine may call it.
func Clock() time.Duration { return time.Since(processStart) }

func newLoop(g *Group, index int, o *Options) (*Loop, error) {
	l := &Loop{
		group:      g,
		index:      index,
		name:       fmt.Sprintf("millrace-%s-%d", o.Name, index),
		log:        o.Logger,
		ticks:      ticksOf(o.Tick),
		maxTasks:   o.MaxTasksPerTurn,
		maxQueued:  o.MaxQueuedTasks,
		yieldEvery: o.yieldEvery,
		ready:      make([]readyEvent, o.MaxEventsPerTurn),
	}
	l.locals.init()
	var err error
	if l.poller, err = o.newPoller(o.MaxEventsPerTurn); err != nil {
		return nil, err
	}
	l.initAllocator(&g.memory)
	return l, nil
}

// Name returns the loop's name, "millrace-<group>-<index>", which is also on its goroutine's profile
// label "loop".
func (l *Loop) Name() string { return l.name }

// Index returns the loop's place in Group.Loops; 0 for a manual loop. It suits arrays with an entry for
// each loop of a group.
func (l *Loop) Index() int { return l.index }

// Group returns the group that the loop belongs to; nil for a manual loop.
func (l *Loop) Group() *Group { return l.group }

// Logger returns the logger of the loop's group. Any goroutine may call it.
func (l *Loop) Logger() *slog.Logger { return l.log }

// InLoop reports whether the caller runs on the loop's goroutine. It costs about two nanoseconds.
func (l *Loop) InLoop() bool { return l.owner.Load() == goid.Current() }

// mustBeOn lets everything pass once the loop has ended: nothing that is left has an effect then.
func (l *Loop) mustBeOn(what string) {
	if !l.InLoop() && !l.over.Load() {
		panic("loop: " + what + " called off the loop's goroutine")
	}
}

// Now returns the monotonic time since the process started. On the loop's goroutine it is read
// once a turn, so it costs next to nothing and is the same for everything in a turn; elsewhere
// it is read afresh. A manual loop has a clock of its own, which starts at 0.
func (l *Loop) Now() time.Duration {
	if l.manual != nil || !l.InLoop() {
		return l.clock()
	}
	return l.turnTime()
}

// turnTime is Now on the loop's goroutine.
func (l *Loop) turnTime() time.Duration {
	if !l.nowKnown {
		l.now, l.nowKnown = l.clock(), true
	}
	return l.now
}

// clock reads the time afresh.
func (l *Loop) clock() time.Duration {
	if l.manual != nil {
		return time.Duration(l.manual.now.Load())
	}
	return Clock()
}

// run is the loop's goroutine.
func (l *Loop) run() {
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(profileLabel, l.name)))
	id := goid.Current()
	loopset.Add(id, l)
	l.owner.Store(id)
	l.allocatorBind()
	defer l.release(id)
	for {
		l.runTurn()
		if l.stop.requested && l.mayEnd() {
			l.terminate()
			return
		}
		l.wait()
	}
}

// release runs when the goroutine ends. If that is not the loop's end, then a handler has
// called runtime.Goexit (testing's FailNow does): the loop goes on with a new goroutine.
func (l *Loop) release(id uintptr) {
	l.allocatorUnbind()
	l.owner.Store(0)
	loopset.Remove(id)
	if l.over.Load() {
		l.group.loopEnded()
		return
	}
	l.log.Error("millrace: a handler or task ended the loop's goroutine; replacing it", "loop", l.name)
	l.nesting = 0
	go l.run()
}

// runTurn does once whatever there is to do.
func (l *Loop) runTurn() {
	l.turn.Add(1)
	l.counters.turns++
	l.nowKnown = false
	l.serveEvents()
	l.runTimers()
	l.runTasks()
	l.tellShutdown()
	l.runTurnEnd()
	if l.counters.turns%publishEvery == 0 {
		l.publish()
	}
}

// pending reports whether the next turn has work already.
func (l *Loop) pending() bool {
	return !l.queue.Empty() || len(l.turnEnd) > 0 || l.wheel.slots[dueSlot].first != nil ||
		(l.stop.requested && l.stop.told < l.handles.used)
}

// wait gets the events for the next turn. It sleeps if there is nothing else to do.
func (l *Loop) wait() {
	l.served, l.readyN = 0, 0
	if l.pending() {
		l.readyN = l.poller.poll(l)
	} else {
		l.publish()
		l.readyN = l.poller.park(l, l.sleepUntil())
	}
	l.kick()
}

// Execute runs the task on the loop's goroutine, after those that were accepted before it. It
// returns ErrShutdown when the loop has ended and ErrTooManyTasks when Options.MaxQueuedTasks are
// waiting; the task then never runs. An accepted task always runs. Any goroutine may call it; on
// the loop the task runs in this turn or the next.
func (l *Loop) Execute(task func()) error {
	if task == nil {
		panic("loop: Execute of nil")
	}
	return l.submit(funcTask(task), l.maxQueued)
}

// Run is Execute for a Task, which needs no closure. It never returns ErrTooManyTasks: it is meant
// for work that is bounded elsewhere, such as a channel's operations.
func (l *Loop) Run(task Task) error {
	if task == nil {
		panic("loop: Run of nil")
	}
	return l.submit(task, 0)
}

// Task is a unit of work for a loop.
type Task = future.Task

// funcTask lets a func travel as a Task; a func fits an interface, so this does not allocate.
type funcTask func()

func (f funcTask) RunTask() { f() }

func (l *Loop) submit(task Task, limit int) error {
	var err error
	if l.InLoop() {
		err = l.queue.PushLocal(task, limit)
	} else if err = l.queue.Push(task, limit); err == nil {
		l.wakeIfAsleep()
	}
	switch err {
	case nil:
		return nil
	case mpsc.ErrFull:
		return ErrTooManyTasks
	default:
		return ErrShutdown
	}
}
