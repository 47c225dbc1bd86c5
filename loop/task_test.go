package loop

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"millrace.dev/future"
)

func TestTasksRunInOrderOnTheLoop(t *testing.T) {
	t.Parallel()
	eachPoller(t, func(t *testing.T, o Options) {
		const producers, each = 8, 2000
		g, _ := startGroup(t, o)
		l := g.Next()
		var next [producers]int // the loop's own: the race detector watches
		var wg sync.WaitGroup
		for p := range producers {
			wg.Go(func() {
				for i := range each {
					if err := l.Execute(func() {
						if !l.InLoop() || next[p] != i {
							t.Errorf("producer %d: task %d ran when %d was due (on the loop: %v)", p, i, next[p], l.InLoop())
						}
						next[p]++
					}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		on(t, l, func() {
			for p, n := range next {
				if n != each {
					t.Errorf("producer %d: %d of %d tasks ran", p, n, each)
				}
			}
		})
		if l.InLoop() {
			t.Error("the test's goroutine is taken for the loop's")
		}
	})
}

// TestWakeUps sends one task at a time between loops, so that both sleep before nearly every task,
// with timers going on that make them arm deadlines. A lost wake-up would stop it.
func TestWakeUps(t *testing.T) {
	t.Parallel()
	eachPoller(t, func(t *testing.T, o Options) {
		o.Loops = 2
		o.Tick = time.Millisecond
		g, _ := startGroup(t, o)
		a, b := g.Next(), g.Next()
		done := make(chan struct{})
		left := 20_000
		if testing.Short() {
			left = 2_000
		}
		var ping, pong func()
		ping = func() {
			if left--; left == 0 {
				close(done)
				return
			}
			if left%7 == 0 {
				a.Schedule(time.Duration(left%5)*time.Millisecond, func() {})
			}
			_ = b.Execute(pong)
		}
		pong = func() {
			if left%11 == 0 {
				b.Schedule(time.Duration(left%3)*time.Millisecond, func() {})
			}
			_ = a.Execute(ping)
		}
		if err := a.Execute(ping); err != nil {
			t.Fatal(err)
		}
		await(t, done)
		if s := g.Stats(); s.Sleeps == 0 || s.Wakeups == 0 {
			t.Errorf("%d sleeps and %d wake-ups: the loops never slept", s.Sleeps, s.Wakeups)
		}
	})
}

// TestManyProducersAndPauses lets producers wait for their tasks in between, so that pushes meet the
// loop in all states.
func TestManyProducersAndPauses(t *testing.T) {
	t.Parallel()
	eachPoller(t, func(t *testing.T, o Options) {
		g, _ := startGroup(t, o)
		l := g.Next()
		var wg sync.WaitGroup
		for p := range 4 {
			wg.Go(func() {
				back := make(chan struct{}, 1)
				for i := range 1500 {
					if err := l.Execute(func() { back <- struct{}{} }); err != nil {
						t.Error(err)
						return
					}
					for range p * i % 64 {
						runtime.Gosched()
					}
					<-back
				}
			})
		}
		finished := make(chan struct{})
		go func() { wg.Wait(); close(finished) }()
		await(t, finished)
	})
}

func TestTasksOnTheLoopRunLater(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{})
	l := m.Loop()
	var order []int
	mustDo(t, l.Execute(func() {
		mustDo(t, l.Execute(func() { order = append(order, 2) }))
		order = append(order, 1)
	}))
	m.RunPending()
	if !slices.Equal(order, []int{1, 2}) {
		t.Fatalf("order %v, want 1, 2", order)
	}
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{MaxQueuedTasks: 10})
	l := m.Loop()
	ran := 0
	for i := range 20 {
		if err := l.Execute(func() { ran++ }); (err == nil) != (i < 10) || (err != nil && err != ErrTooManyTasks) {
			t.Fatalf("task %d: %v", i, err)
		}
	}
	mustDo(t, l.Run(funcTask(func() { ran++ }))) // what is bounded elsewhere passes
	m.RunPending()
	if ran != 11 {
		t.Fatalf("%d tasks ran, want 11", ran)
	}
	mustDo(t, l.Execute(func() {}))
}

func TestTasksOfATurnAreBounded(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{MaxTasksPerTurn: 10})
	l := m.Loop()
	left, most := 100, 0
	var again func()
	inTurn := 0
	again = func() {
		if inTurn == 0 {
			l.AtTurnEnd(turnEndFunc(func() { most = max(most, inTurn); inTurn = 0 }))
		}
		inTurn++
		if left--; left > 0 {
			mustDo(t, l.Execute(again))
		}
	}
	mustDo(t, l.Execute(again))
	m.RunPending()
	if left != 0 || most != 10 {
		t.Fatalf("up to %d tasks a turn, %d left; want 10, 0", most, left)
	}
}

// TestBusyLoopGivesWay counts steps of another goroutine on a single processor: without the loop's
// kick there would be one for each 10 ms time slice. Not parallel, because of GOMAXPROCS.
func TestBusyLoopGivesWay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	g, _ := startGroup(t, Options{MaxTasksPerTurn: 1, yieldEvery: 1}) // at every kick
	l := g.Next()
	var steps atomic.Int64
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			default:
				steps.Add(1)
				runtime.Gosched()
			}
		}
	}()
	const turns = 4000
	finished := make(chan int64)
	left := turns
	var again func()
	again = func() {
		if left--; left == 0 {
			finished <- steps.Load()
			return
		}
		_ = l.Execute(again)
	}
	mustDo(t, l.Execute(again))
	n := await(t, finished)
	close(quit)
	<-done
	if n < turns/kickEvery/2 {
		t.Fatalf("another goroutine made %d steps in %d turns of a busy loop, want about %d", n, turns, turns/kickEvery)
	}
}

func TestPanickingTasks(t *testing.T) {
	t.Parallel()
	g, log := startGroup(t, Options{})
	l := g.Next()
	ran := 0
	gate := make(chan struct{})
	mustDo(t, l.Execute(func() { <-gate })) // so that the others make one batch
	for i := range 10 {
		mustDo(t, l.Execute(func() {
			ran++
			if i%2 == 0 {
				panic("task broken")
			}
		}))
	}
	close(gate)
	on(t, l, func() {
		if ran != 10 {
			t.Errorf("%d of 10 tasks ran", ran)
		}
	})
	if n := log.count("task broken"); n < 5 || log.count("TestPanickingTasks") == 0 {
		t.Errorf("%d panics in the log, want 5 with their stacks:\n%s", n, log)
	}
	on(t, l, func() {
		if n := l.Stats().Panics; n != 5 {
			t.Errorf("%d panics counted, want 5", n)
		}
	})
}

// testing's FailNow ends the goroutine that calls it; the loop must survive that.
func TestGoexitDoesNotEndTheLoop(t *testing.T) {
	t.Parallel()
	eachPoller(t, func(t *testing.T, o Options) {
		g, log := startGroup(t, o)
		l := g.Next()
		gate := make(chan struct{})
		var ran []int
		mustDo(t, l.Execute(func() { <-gate }))
		for i := range 4 {
			mustDo(t, l.Execute(func() {
				ran = append(ran, i)
				if i == 1 {
					runtime.Goexit()
				}
			}))
		}
		close(gate)
		on(t, l, func() {
			if !slices.Equal(ran, []int{0, 1, 2, 3}) || !l.InLoop() {
				t.Errorf("tasks that ran: %v, want 0 to 3", ran)
			}
			b := l.Allocator().Allocate(100)
			b.Close()
		})
		if log.count("replacing it") != 1 {
			t.Errorf("the log does not tell:\n%s", log)
		}
	})
}

func TestNowIsTheSameForATurn(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{})
	l := g.Next()
	before := Clock()
	on(t, l, func() {
		first := l.Now()
		for l.clock() == first { // until a fresh reading would differ
		}
		if again := l.Now(); again != first {
			t.Errorf("Now went from %v to %v within a turn", first, again)
		}
		if first < before {
			t.Errorf("Now is %v, before the task was handed over at %v", first, before)
		}
	})
	if now := l.Now(); now < before {
		t.Errorf("off the loop Now is %v, want a fresh time after %v", now, before)
	}
}

func TestWaitOnALoop(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{})
	l := g.Next()
	on(t, l, func() {
		p := future.NewPromise[int](l)
		if _, err := p.Future().Wait(context.Background()); err != future.ErrBlockingOnLoop {
			t.Errorf("Wait on a loop: %v, want ErrBlockingOnLoop", err)
		}
	})
	p := future.NewPromise[int](l)
	where := make(chan bool, 1)
	p.Future().OnComplete(func(future.Future[int]) { where <- l.InLoop() })
	p.TrySucceed(7)
	if !await(t, where) {
		t.Error("the listener did not run on its loop")
	}
}

func TestListenersOnALoopNestLittle(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{})
	l := g.Next()
	const links = 100_000
	done := make(chan int, 1)
	depth, deepest, n := 0, 0, 0
	var next func(future.Future[int])
	next = func(future.Future[int]) {
		depth++
		deepest = max(deepest, depth)
		if n++; n == links {
			done <- deepest
		} else {
			future.Succeeded(l, 1).OnComplete(next)
		}
		depth--
	}
	mustDo(t, l.Execute(func() { future.Succeeded(l, 1).OnComplete(next) }))
	if deepest := await(t, done); deepest > maxNesting+1 {
		t.Fatalf("listeners nested %d deep, want at most %d in a task's", deepest, maxNesting)
	}
}

func TestBrokenRulesPanic(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{})
	l := g.Next()
	var timer Timer
	timer.Init(l, timerFunc(func(*Timer) {}))
	var reg Registration
	on(t, l, func() { reg, _ = l.Attach(ioFunc(func(Event) {})) })
	for name, fn := range map[string]func(){
		"Register":    func() { _, _ = l.Register(0, ioFunc(func(Event) {})) },
		"Attach":      func() { _, _ = l.Attach(ioFunc(func(Event) {})) },
		"AtTurnEnd":   func() { l.AtTurnEnd(turnEndFunc(func() {})) },
		"Timer.Reset": func() { timer.Reset(time.Second) },
		"SetInterest": func() { _ = reg.SetInterest(0) },
		"Deregister":  func() { _ = reg.Deregister() },
		// What would otherwise fail later, on the loop, where nobody knows who has done it.
		"Execute(nil)": func() { _ = l.Execute(nil) },
		"Run(nil)":     func() { _ = l.Run(nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			fn()
		}()
	}
}

func TestAllocationsOfTasks(t *testing.T) {
	countingAllocations(t)
	m, err := NewManual(Options{})
	mustDo(t, err)
	defer m.Close()
	l := m.Loop()
	var task Task = &nopTask{}
	fn := func() {}
	hook := &nopTask{}
	if n := testing.AllocsPerRun(100, func() {
		_ = l.Run(task)
		_ = l.Execute(fn)
		l.AtTurnEnd(hook)
		m.RunPending()
	}); n != 0 {
		t.Fatalf("a turn with two tasks and a turn end allocates %v objects, want 0", n)
	}
}

type nopTask struct{}

func (*nopTask) RunTask() {}
func (*nopTask) TurnEnd() {}

func TestTurnEnds(t *testing.T) {
	t.Parallel()
	m, log := newManual(t, Options{})
	l := m.Loop()
	var order []string
	mustDo(t, l.Execute(func() {
		l.AtTurnEnd(turnEndFunc(func() {
			order = append(order, "end 1")
			l.AtTurnEnd(turnEndFunc(func() { order = append(order, "end of the next turn") }))
			mustDo(t, l.Execute(func() { order = append(order, "task of the next turn") }))
		}))
		l.AtTurnEnd(turnEndFunc(func() { panic("turn end broken") }))
		l.AtTurnEnd(turnEndFunc(func() { order = append(order, "end 2") }))
		order = append(order, "task 1")
	}))
	mustDo(t, l.Execute(func() { order = append(order, "task 2") }))
	m.RunPending()
	want := []string{"task 1", "task 2", "end 1", "end 2", "task of the next turn", "end of the next turn"}
	if !slices.Equal(order, want) {
		t.Fatalf("order %q, want %q", order, want)
	}
	if log.count("turn end broken") == 0 {
		t.Fatal("the panic is not in the log")
	}
}

// A hook that is added by a hook must keep the loop from sleeping.
func TestTurnEndsKeepTheLoopAwake(t *testing.T) {
	t.Parallel()
	eachPoller(t, func(t *testing.T, o Options) {
		g, _ := startGroup(t, o)
		l := g.Next()
		done := make(chan struct{})
		left := 1000
		var hook turnEndFunc
		hook = func() {
			if left--; left == 0 {
				close(done)
				return
			}
			l.AtTurnEnd(hook)
		}
		mustDo(t, l.Execute(func() { l.AtTurnEnd(hook) }))
		await(t, done)
	})
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{Loops: -1}, {Tick: 1}, {MaxTasksPerTurn: -1}, {MaxEventsPerTurn: -1}} {
		if g, err := NewGroup(o); err == nil {
			end(t, g)
			t.Errorf("%+v was accepted", o)
		}
	}
	broken := errors.New("no descriptors")
	opened := 0
	_, err := NewGroup(Options{Loops: 3, newPoller: func(n int) (poller, error) {
		if opened++; opened == 3 {
			return nil, broken
		}
		return newChanPoller(n)
	}})
	if !errors.Is(err, broken) {
		t.Errorf("a group without descriptors: %v", err)
	}
}

func TestGroup(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{Loops: 3, Name: "test"})
	var names []string
	for range 4 {
		names = append(names, g.Next().Name())
	}
	if want := []string{"millrace-test-0", "millrace-test-1", "millrace-test-2", "millrace-test-0"}; !slices.Equal(names, want) {
		t.Fatalf("names %q, want %q", names, want)
	}
	for i, l := range g.Loops() {
		if l.Index() != i || l.Group() != g || l.Logger() == nil || l.Allocator() == nil {
			t.Fatalf("%s does not know its group", l.Name())
		}
		on(t, l, func() {})
	}
	other, _ := startGroup(t, Options{Loops: 1})
	third, _ := startGroup(t, Options{Loops: 1})
	if other.Next().Name() == third.Next().Name() {
		t.Fatal("two groups without a name have loops of the same name")
	}
	if DefaultLoops() < 1 {
		t.Fatal("no loops by default")
	}
}

func TestStats(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{})
	g.watch.stop() // it would have a loop that rests for long give memory back, by a task
	l := g.Next()
	for range 10 {
		on(t, l, func() {})
	}
	on(t, l, func() {
		var timer Timer
		timer.Init(l, timerFunc(func(*Timer) {}))
		timer.Reset(time.Hour)
		reg, err := l.Attach(ioFunc(func(Event) {}))
		mustDo(t, err)
		s := l.Stats()
		if s.Tasks != 11 || s.Turns == 0 || s.Timers != 1 || s.Handles != 1 || s.Events != 0 || s.Fired != 0 {
			t.Errorf("stats: %+v", s)
		}
		timer.Stop()
		mustDo(t, reg.Deregister())
		if s := l.Stats(); s.Timers != 0 || s.Handles != 0 {
			t.Errorf("stats afterwards: %+v", s)
		}
	})
}
