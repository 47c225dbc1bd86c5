package loop

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"millrace.dev/future"
)

func TestTimersFireAtTheirTime(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{Tick: 10 * time.Millisecond})
	l := m.Loop()
	type firing struct{ want, at time.Duration }
	var fired []firing
	set := func(d time.Duration) {
		tm := &Timer{}
		tm.Init(l, timerFunc(func(*Timer) { fired = append(fired, firing{d, m.Now()}) }))
		tm.Reset(d)
		if !tm.Active() || tm.Loop() != l {
			t.Fatalf("the timer for %v is not active", d)
		}
	}
	for _, d := range []time.Duration{time.Hour, 0, 25 * time.Millisecond, -time.Second, 30 * time.Millisecond,
		time.Millisecond, 700 * time.Millisecond, 42 * time.Second, 50 * time.Hour} {
		set(d)
	}
	if n := m.RunPending(); n != 2 {
		t.Fatalf("%d timers fired at once, want the two that were due", n)
	}
	m.Advance(60 * time.Hour)
	if len(fired) != 9 {
		t.Fatalf("%d timers fired, want 9", len(fired))
	}
	for _, f := range fired {
		if late := f.at - max(f.want, 0); late < 0 || late >= 10*time.Millisecond {
			t.Errorf("the timer for %v fired at %v", f.want, f.at)
		}
	}
	if m.Now() != 60*time.Hour || l.Now() != m.Now() {
		t.Fatalf("the time is %v, want 60h", m.Now())
	}
}

func TestTimersAreNeverEarlyWithinATick(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{Tick: 10 * time.Millisecond})
	var at time.Duration
	tm := &Timer{}
	tm.Init(m.Loop(), timerFunc(func(*Timer) { at = m.Now() }))
	m.Advance(9 * time.Millisecond)
	tm.Reset(5 * time.Millisecond) // due at 14 ms: the tick at 10 ms would be early
	m.Advance(10 * time.Millisecond)
	if at != 0 {
		t.Fatalf("fired at %v, want not before 14ms", at)
	}
	if d, ok := m.NextTimer(); !ok || d != time.Millisecond {
		t.Fatalf("the next timer is in %v, %v; want 1ms", d, ok)
	}
	m.Advance(time.Millisecond)
	if at != 20*time.Millisecond {
		t.Fatalf("fired at %v, want 20ms", at)
	}
}

func TestTimerStopAndReset(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{})
	fired := 0
	tm := &Timer{}
	tm.Init(m.Loop(), timerFunc(func(tm *Timer) {
		if tm.Active() {
			t.Error("a timer that fires is still active")
		}
		fired++
	}))
	if tm.Stop() || tm.Active() {
		t.Fatal("a new timer is active")
	}
	tm.Reset(10 * time.Millisecond)
	if !tm.Stop() || tm.Stop() || tm.Active() {
		t.Fatal("a stopped timer is active")
	}
	m.Advance(time.Second)
	if fired != 0 {
		t.Fatal("a stopped timer fired")
	}
	tm.Reset(10 * time.Millisecond)
	tm.Reset(100 * time.Millisecond) // later
	m.Advance(99 * time.Millisecond)
	if fired != 0 {
		t.Fatal("a timer that was put off fired at its first time")
	}
	tm.Reset(100 * time.Millisecond)
	tm.Reset(10 * time.Millisecond) // earlier
	m.Advance(10 * time.Millisecond)
	if fired != 1 {
		t.Fatalf("a timer that was moved forward fired %d times, want 1", fired)
	}
	m.Advance(time.Second)
	if fired != 1 {
		t.Fatal("a timer fired twice")
	}
	if _, ok := m.NextTimer(); ok {
		t.Fatal("there is a next timer with none set")
	}
}

func TestTimerResetsItself(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{Tick: 10 * time.Millisecond})
	var at []time.Duration
	tm := &Timer{}
	tm.Init(m.Loop(), timerFunc(func(tm *Timer) {
		at = append(at, m.Now())
		tm.Reset(100 * time.Millisecond)
	}))
	tm.Reset(0)
	m.Advance(350 * time.Millisecond)
	want := []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond, 300 * time.Millisecond}
	if !slices.Equal(at, want) {
		t.Fatalf("fired at %v, want %v", at, want)
	}
}

// A timer that is due and has not run yet can still be stopped or moved.
func TestTimersStopEachOther(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{})
	fired := 0
	var a, b Timer
	stopOther := func(other *Timer) timerFunc {
		return func(*Timer) {
			fired++
			if !other.Stop() {
				t.Error("the other timer was not active")
			}
		}
	}
	a.Init(m.Loop(), stopOther(&b))
	b.Init(m.Loop(), stopOther(&a))
	a.Reset(time.Second)
	b.Reset(time.Second)
	m.Advance(time.Second)
	if fired != 1 {
		t.Fatalf("%d timers fired, want 1", fired)
	}
}

func TestTimersOfATurnAreBounded(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{MaxTasksPerTurn: 10})
	l := m.Loop()
	inTurn, most, fired := 0, 0, 0
	timers := make([]Timer, 100)
	for i := range timers {
		timers[i].Init(l, timerFunc(func(*Timer) {
			if inTurn == 0 {
				l.AtTurnEnd(turnEndFunc(func() { most = max(most, inTurn); inTurn = 0 }))
			}
			inTurn++
			fired++
		}))
		timers[i].Reset(time.Second)
	}
	m.Advance(time.Second)
	if fired != 100 || most != 10 {
		t.Fatalf("%d timers fired, up to %d a turn; want 100, 10", fired, most)
	}
}

func TestPanickingTimers(t *testing.T) {
	t.Parallel()
	m, log := newManual(t, Options{})
	fired := 0
	timers := make([]Timer, 6)
	for i := range timers {
		timers[i].Init(m.Loop(), timerFunc(func(*Timer) {
			fired++
			if i%2 == 0 {
				panic("timer broken")
			}
		}))
		timers[i].Reset(time.Second)
	}
	m.Advance(time.Second)
	if fired != 6 || log.count("timer broken") < 3 {
		t.Fatalf("%d of 6 timers fired; log:\n%s", fired, log)
	}
}

func TestTimersAllocateNothing(t *testing.T) {
	countingAllocations(t)
	m, err := NewManual(Options{})
	mustDo(t, err)
	defer m.Close()
	var tm Timer
	tm.Init(m.Loop(), nopTimer{})
	if n := testing.AllocsPerRun(100, func() {
		tm.Reset(time.Second)
		tm.Stop()
		tm.Reset(time.Millisecond)
		m.Advance(time.Second)
	}); n != 0 {
		t.Fatalf("a timer allocates %v objects, want 0", n)
	}
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{})
	l := m.Loop()
	ran := 0
	f := l.Schedule(10*time.Millisecond, func() { ran++ })
	told := false
	f.OnComplete(func(f future.Future[future.Void]) { told = f.IsSuccess() && l.InLoop() })
	m.Advance(9 * time.Millisecond)
	if ran != 0 || f.IsDone() || f.Executor() != future.Executor(l) {
		t.Fatal("ran early")
	}
	m.Advance(time.Millisecond)
	if ran != 1 || !f.IsSuccess() || !told || f.Cancel() {
		t.Fatalf("ran %d times; %v; listener told: %v", ran, f.Err(), told)
	}
}

func TestScheduleCancel(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{})
	l := m.Loop()
	f := l.Schedule(time.Second, func() { t.Error("a cancelled function ran") })
	if !f.Cancel() || f.Cancel() || !f.IsCancelled() {
		t.Fatal("it cannot be cancelled")
	}
	if n := l.Stats().Timers; n != 0 {
		t.Fatalf("%d timers are left", n)
	}
	m.Advance(time.Minute)

	var self future.Future[future.Void]
	self = l.Schedule(time.Second, func() {
		if self.Cancel() {
			t.Error("a running function was cancelled")
		}
	})
	m.Advance(time.Second)
	if !self.IsSuccess() {
		t.Fatal("not done")
	}
}

func TestSchedulePanic(t *testing.T) {
	t.Parallel()
	m, log := newManual(t, Options{})
	broken := errors.New("broken")
	f := m.Loop().Schedule(0, func() { panic(broken) })
	m.RunPending()
	var p *future.PanicError
	if !errors.As(f.Err(), &p) || !errors.Is(f.Err(), broken) || log.count("broken") == 0 {
		t.Fatalf("the future's error: %v; log:\n%s", f.Err(), log)
	}
}

// A function that ends the loop's goroutine hasn't succeeded, and its future says so.
func TestScheduleGoexit(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{Loops: 1})
	f := g.Next().Schedule(0, runtime.Goexit)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var p *future.PanicError
	if _, err := f.Wait(ctx); !errors.As(err, &p) || p.Value != nil {
		t.Fatalf("the future's error: %v", err)
	}
}

func TestScheduleFromElsewhere(t *testing.T) {
	t.Parallel()
	eachPoller(t, func(t *testing.T, o Options) {
		o.Tick = time.Millisecond
		g, _ := startGroup(t, o)
		l := g.Next()
		start := Clock()
		at := make(chan time.Duration, 1)
		f := l.Schedule(20*time.Millisecond, func() { at <- Clock() })
		if got := await(t, at) - start; got < 20*time.Millisecond {
			t.Errorf("ran after %v, want not before 20ms", got)
		}
		done := make(chan struct{})
		f.OnComplete(func(future.Future[future.Void]) { close(done) })
		await(t, done)

		never := l.Schedule(time.Hour, func() { t.Error("ran") })
		on(t, l, func() {
			if n := l.Stats().Timers; n != 1 {
				t.Errorf("%d timers, want 1", n)
			}
		})
		if !never.Cancel() {
			t.Error("cannot be cancelled")
		}
		on(t, l, func() {
			if n := l.Stats().Timers; n != 0 {
				t.Errorf("%d timers after the cancellation, want 0", n)
			}
		})
	})
}

// A loop that sleeps until a far timer must wake for a nearer one, and for many in a row.
func TestSleepingLoopMeetsNearerTimers(t *testing.T) {
	t.Parallel()
	eachPoller(t, func(t *testing.T, o Options) {
		o.Tick = time.Millisecond
		g, _ := startGroup(t, o)
		l := g.Next()
		far := l.Schedule(time.Hour, func() {})
		for i := range 20 {
			ran := make(chan struct{})
			l.Schedule(time.Duration(20-i)*time.Millisecond, func() { close(ran) })
			await(t, ran)
		}
		if far.IsDone() {
			t.Error("the far timer is done")
		}
	})
}
