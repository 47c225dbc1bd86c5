package loop

import (
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"millrace.dev/future"
)

var (
	// ErrShutdown says that the loop has ended and takes nothing more.
	ErrShutdown = errors.New("loop: shut down")
	// ErrTooManyTasks says that a loop's queue has reached Options.MaxQueuedTasks.
	ErrTooManyTasks = errors.New("loop: too many tasks queued")
	// ErrNotRegistered says that a Registration has ended, or never was one.
	ErrNotRegistered = errors.New("loop: not registered")
)

// Group is a fixed number of loops that share an allocator, a logger and a watchdog. All its
// methods may be called from any goroutine.
type Group struct {
	loops   []*Loop
	next    atomic.Uint32
	running atomic.Int32
	watch   *watchdog
	memory  groupMemory
	done    *future.Promise[future.Void]
}

var groupNumber atomic.Uint64

var _ future.Host = (*Loop)(nil)

// NewGroup starts the loops. It fails if an option makes no sense or the system refuses descriptors.
// Shutdown ends the group; until then its goroutines run.
func NewGroup(o Options) (*Group, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	if o.Name == "" {
		o.Name = strconv.FormatUint(groupNumber.Add(1), 10)
	}
	g := &Group{done: future.NewPromise[future.Void](nil)}
	g.done.SetUncancellable()
	g.memory.init(&o)
	for i := range o.Loops {
		l, err := newLoop(g, i, &o)
		if err != nil {
			for _, started := range g.loops {
				err = errors.Join(err, started.poller.close())
			}
			return nil, err
		}
		g.loops = append(g.loops, l)
	}
	g.running.Store(int32(len(g.loops)))
	g.watch = startWatchdog(g.loops, o.WatchdogThreshold, o.Logger)
	for _, l := range g.loops {
		go l.run()
	}
	return g, nil
}

// Next returns the group's loops in turn.
func (g *Group) Next() *Loop {
	return g.loops[(g.next.Add(1)-1)%uint32(len(g.loops))]
}

// Loops returns all loops. The caller must not change the slice.
func (g *Group) Loops() []*Loop { return g.loops }

// Shutdown ends the loops gracefully. Each tells its handles to close (OpShutdown) and goes on until no
// task has come for the quiet period and no handle is registered any more, but no longer than timeout;
// then it refuses tasks with ErrShutdown, runs what it had accepted, and ends. The future is done when
// all loops have ended; it cannot be cancelled, and its listeners run on one of the goroutines that
// end. Calling it again returns the same future, and can shorten both times but not extend them.
func (g *Group) Shutdown(quiet, timeout time.Duration) future.Future[future.Void] {
	quiet, deadline := max(quiet, 0), deadlineAfter(Clock(), timeout)
	for _, l := range g.loops {
		_ = l.Run(&stopTask{l, quiet, deadline}) // refused only if it has ended already
	}
	return g.done.Future()
}

// Done returns the future that Shutdown returns, without asking for it.
func (g *Group) Done() future.Future[future.Void] { return g.done.Future() }

func (g *Group) loopEnded() {
	if g.running.Add(-1) == 0 {
		g.watch.stop()
		g.done.TrySucceed(future.Void{})
	}
}
