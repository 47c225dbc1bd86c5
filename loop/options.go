package loop

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"millrace.dev/buffer"
)

// The defaults of Options.
const (
	DefaultWatchdogThreshold = 250 * time.Millisecond
	DefaultMaxTasksPerTurn   = 1024
	DefaultMaxEventsPerTurn  = 256
	DefaultMaxQueuedTasks    = 1 << 20
	DefaultTick              = 10 * time.Millisecond
)

// minTick keeps the arithmetic of the timing wheel in range for centuries.
const minTick = 100 * time.Microsecond

// Options configures a Group. The zero value is a good start.
type Options struct {
	// Loops is how many loops the group has; 0 means DefaultLoops().
	Loops int
	// Name becomes part of the loops' names, "millrace-<name>-<index>", in logs and profiles.
	// By default groups are numbered.
	Name string
	// Logger receives contained panics and the watchdog's warnings; slog.Default() by default.
	Logger *slog.Logger
	// Allocator is where the loops get buffers from. A *buffer.Pooled is shared, with a cache for each
	// loop in front of it; anything else is used as it is. By default a group has a pool of its own, on
	// the Go heap; buffer.NewAllocator makes one of each kind.
	Allocator buffer.Allocator
	// WatchdogThreshold is how long a turn of a loop may last before it is reported.
	// 0 means DefaultWatchdogThreshold; a negative value switches the watchdog off.
	WatchdogThreshold time.Duration
	// MaxTasksPerTurn bounds the tasks (and, apart, the timers) that run before a loop looks at
	// its descriptors again. 0 means DefaultMaxTasksPerTurn.
	MaxTasksPerTurn int
	// MaxEventsPerTurn bounds the descriptors served before tasks and timers get their turn.
	// 0 means DefaultMaxEventsPerTurn.
	MaxEventsPerTurn int
	// MaxQueuedTasks bounds what Execute lets wait in one loop's queue; 0 means
	// DefaultMaxQueuedTasks, a negative value no bound.
	MaxQueuedTasks int
	// Tick is the resolution of timers: they fire up to one tick late. 0 means DefaultTick;
	// the least is 100 microseconds.
	Tick time.Duration

	// newPoller replaces the platform's poller in tests.
	newPoller func(maxEvents int) (poller, error)
	// yieldEvery replaces the constant in tests.
	yieldEvery time.Duration
}

// DefaultLoops returns the number of loops of a group that does not say: one for each
// processor that Go code may run on at the same time.
func DefaultLoops() int { return runtime.GOMAXPROCS(0) }

func (o *Options) setDefaults() error {
	if o.Loops < 0 {
		return fmt.Errorf("loop: %d loops", o.Loops)
	}
	if o.Tick != 0 && o.Tick < minTick {
		return errors.New("loop: a tick of less than 100 microseconds")
	}
	setDefault(&o.Loops, DefaultLoops())
	setDefault(&o.WatchdogThreshold, DefaultWatchdogThreshold)
	setDefault(&o.MaxTasksPerTurn, DefaultMaxTasksPerTurn)
	setDefault(&o.MaxEventsPerTurn, DefaultMaxEventsPerTurn)
	setDefault(&o.MaxQueuedTasks, DefaultMaxQueuedTasks)
	setDefault(&o.Tick, DefaultTick)
	setDefault(&o.yieldEvery, yieldEvery)
	if o.MaxTasksPerTurn < 0 || o.MaxEventsPerTurn < 0 {
		return errors.New("loop: negative bound on a turn")
	}
	o.MaxQueuedTasks = max(o.MaxQueuedTasks, 0)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.newPoller == nil {
		o.newPoller = newPoller
	}
	return nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
