package loop

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"millrace.dev/future"
	"millrace.dev/internal/goid"
	"millrace.dev/internal/loopset"
)

func waitDone(t *testing.T, f future.Future[future.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := f.Wait(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestShutdown(t *testing.T) {
	t.Parallel()
	eachPoller(t, func(t *testing.T, o Options) {
		o.Loops = 2
		g, _ := startGroup(t, o)
		l := g.Next()
		var id uintptr
		on(t, l, func() { id = goid.Current() })
		if !loopset.Has(id) {
			t.Error("the loop's goroutine is not in the set of loops")
		}
		pending := l.Schedule(time.Hour, func() { t.Error("ran") })
		f := g.Shutdown(0, patience)
		waitDone(t, f)
		if f.Cancel() || !f.IsSuccess() || g.Done() != f || g.Shutdown(0, 0) != f {
			t.Errorf("the future of the shutdown: %v", f.Err())
		}
		if err := l.Execute(func() {}); err != ErrShutdown {
			t.Errorf("Execute afterwards: %v, want ErrShutdown", err)
		}
		if err := l.Run(&nopTask{}); err != ErrShutdown {
			t.Errorf("Run afterwards: %v, want ErrShutdown", err)
		}
		if pending.Err() != ErrShutdown {
			t.Errorf("what was scheduled: %v, want ErrShutdown", pending.Err())
		}
		if late := l.Schedule(0, func() {}); late.Err() != ErrShutdown {
			t.Errorf("Schedule afterwards: %v, want ErrShutdown", late.Err())
		}
		if l.InLoop() {
			t.Error("the test's goroutine is taken for that of a loop that has ended")
		}
	})
}

// Every task that Execute accepted runs, whenever the shutdown comes.
func TestShutdownRunsWhatWasAccepted(t *testing.T) {
	t.Parallel()
	for range 20 {
		g, _ := startGroup(t, Options{})
		l := g.Next()
		var ran, accepted atomic.Int64
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for l.Execute(func() { ran.Add(1) }) == nil {
					accepted.Add(1)
				}
			})
		}
		for ran.Load() < 100 {
			runtime.Gosched()
		}
		waitDone(t, g.Shutdown(0, 0))
		wg.Wait()
		if ran.Load() != accepted.Load() {
			t.Fatalf("%d of %d accepted tasks ran", ran.Load(), accepted.Load())
		}
	}
}

func TestQuietPeriodIsExtendedByTasks(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{})
	l := m.Loop()
	s := &l.stop
	(&stopTask{l, 100 * time.Millisecond, time.Second}).RunTask()
	step := func(d time.Duration, want bool) {
		t.Helper()
		m.Advance(d)
		if got := l.mayEnd(); got != want {
			t.Fatalf("at %v, last task at %v: may end is %v, want %v", m.Now(), s.lastTask, got, want)
		}
	}
	step(0, false)
	step(99*time.Millisecond, false)
	mustDo(t, l.Execute(func() {}))
	step(0, false)
	step(99*time.Millisecond, false)
	if got, want := l.stopDeadline(), 199*time.Millisecond; got != want {
		t.Fatalf("looks again at %v, want %v", got, want)
	}
	(&stopTask{l, time.Hour, time.Hour}).RunTask() // asking again, or trimming, is no task
	l.counters.tasks++
	step(time.Millisecond, true)
	// Tasks that keep coming cannot hold it up beyond the deadline.
	for m.Now() < time.Second {
		mustDo(t, l.Execute(func() {}))
		step(50*time.Millisecond, m.Now()+50*time.Millisecond >= time.Second)
	}
}

func TestHandlesHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{})
	l := m.Loop()
	var events []Event
	reg, err := l.Attach(ioFunc(func(ev Event) { events = append(events, ev) }))
	mustDo(t, err)
	(&stopTask{l, 0, time.Second}).RunTask()
	m.RunPending()
	if !slices.Equal(events, []Event{{Ops: OpShutdown}}) {
		t.Fatalf("the handle was told %+v, want OpShutdown once", events)
	}
	if l.mayEnd() || l.stopDeadline() != time.Second {
		t.Fatal("the loop may end with a handle registered")
	}
	// A second request can shorten the time, not extend it.
	(&stopTask{l, time.Hour, time.Hour}).RunTask()
	if l.stop.quiet != 0 || l.stop.deadline != time.Second {
		t.Fatalf("the time was extended to %v, %v", l.stop.quiet, l.stop.deadline)
	}
	mustDo(t, reg.Deregister())
	if !l.mayEnd() {
		t.Fatal("the loop may not end with nothing left")
	}
}

func TestHandlesRegisteredDuringShutdown(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{})
	l := m.Loop()
	told := map[string]int{}
	handle := func(name string, then func()) Handle {
		return ioFunc(func(ev Event) {
			if ev.Ops&OpDone != 0 {
				return // when the test ends
			}
			told[name]++
			if then != nil {
				then()
			}
		})
	}
	var regs []Registration
	attach := func(name string, then func()) {
		reg, err := l.Attach(handle(name, then))
		mustDo(t, err)
		regs = append(regs, reg)
	}
	attach("first", func() {
		mustDo(t, regs[0].Deregister())
		attach("in the slot of the first", nil)
	})
	attach("second", func() { attach("after all others", nil) })
	attach("broken", func() { panic("broken") })
	attach("last", nil)
	(&stopTask{l, 0, time.Second}).RunTask()
	m.RunPending()
	attach("later", nil)
	m.RunPending()
	want := []string{"after all others", "broken", "first", "in the slot of the first", "last", "later", "second"}
	for _, name := range want {
		if told[name] != 1 {
			t.Errorf("%s was told %d times, want once", name, told[name])
		}
	}
	if len(told) != len(want) {
		t.Errorf("told: %v", told)
	}
}

func TestLastEvent(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{})
	l := g.Next()
	var events []Event
	var reg Registration
	ended := make(chan struct{})
	on(t, l, func() {
		var err error
		reg, err = l.Attach(ioFunc(func(ev Event) {
			events = append(events, ev)
			if ev.Ops&OpDone == 0 {
				return // does not close
			}
			if _, err := l.Attach(ioFunc(func(Event) {})); err != ErrShutdown {
				t.Errorf("Attach at the end: %v, want ErrShutdown", err)
			}
			if err := l.Execute(func() { close(ended) }); err != nil {
				t.Errorf("the last task: %v", err)
			}
			var tm Timer
			tm.Init(l, timerFunc(func(*Timer) {}))
			if tm.Reset(0); tm.Active() {
				t.Error("a timer was set at the end")
			}
		}))
		mustDo(t, err)
	})
	waitDone(t, g.Shutdown(0, time.Millisecond))
	await(t, ended)
	if want := []Event{{Ops: OpShutdown}, {Ops: OpShutdown | OpDone}}; !slices.Equal(events, want) {
		t.Fatalf("events %+v, want %+v", events, want)
	}
	if err := reg.Deregister(); err != ErrNotRegistered || reg.Valid() {
		t.Fatalf("Deregister after the end: %v", err)
	}
}

func TestGoexitDuringShutdown(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{})
	l := g.Next()
	var told [3]int
	on(t, l, func() {
		for i := range told {
			_, err := l.Attach(ioFunc(func(ev Event) {
				if ev.Ops&OpDone != 0 {
					told[i]++
					runtime.Goexit()
				}
			}))
			mustDo(t, err)
		}
	})
	waitDone(t, g.Shutdown(0, 0))
	if told != [3]int{1, 1, 1} {
		t.Fatalf("last events: %v, want one each", told)
	}
}

func TestShutdownFromALoop(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{Loops: 2})
	on(t, g.Next(), func() { g.Shutdown(0, 0) })
	waitDone(t, g.Done())
}

func TestManualClose(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{})
	l := m.Loop()
	ran := false
	var events []Event
	_, err := l.Attach(ioFunc(func(ev Event) { events = append(events, ev) }))
	mustDo(t, err)
	mustDo(t, l.Execute(func() {
		ran = true
		m.Close() // inside a task: does nothing
	}))
	f := l.Schedule(time.Hour, func() {})
	m.Close()
	m.Close()
	if !ran || f.Err() != ErrShutdown || l.Execute(func() {}) != ErrShutdown {
		t.Fatalf("task ran: %v; scheduled: %v", ran, f.Err())
	}
	if want := []Event{{Ops: OpShutdown}, {Ops: OpShutdown | OpDone}}; !slices.Equal(events, want) {
		t.Fatalf("events %+v, want %+v", events, want)
	}
	if m.RunPending() != 0 || m.Advance(time.Hour) != 0 {
		t.Fatal("a closed loop ran something")
	}
}

func TestManualIsNotReentrant(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{})
	ran := 0
	mustDo(t, m.Loop().Execute(func() {
		mustDo(t, m.Loop().Execute(func() { ran++ }))
		if m.RunPending() != 0 || m.Advance(time.Hour) != 0 || ran != 0 || m.Now() != 0 {
			t.Error("the loop ran within itself")
		}
	}))
	if n := m.RunPending(); n != 2 || ran != 1 {
		t.Fatalf("%d tasks ran, want 2", n)
	}
}

func TestManualFollowsItsDriver(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{})
	l := m.Loop()
	if !l.InLoop() || l.Group() != nil || l.Name() != "manual" {
		t.Fatal("its maker is not on the loop")
	}
	handed := make(chan error)
	go func() { handed <- l.Execute(func() {}) }()
	mustDo(t, await(t, handed))
	if m.RunPending() != 1 {
		t.Fatal("a task from another goroutine did not run")
	}
	took := make(chan bool)
	go func() { m.RunPending(); took <- l.InLoop() }()
	if !await(t, took) || l.InLoop() {
		t.Fatal("the goroutine that drives it is not on the loop")
	}
	m.RunPending()
	if !l.InLoop() {
		t.Fatal("the loop did not come back")
	}
}
