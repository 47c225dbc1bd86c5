package loop

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"
)

func benchGroup(b *testing.B, o Options) *Group {
	b.Helper()
	setDefault(&o.Loops, 1)
	o.MaxQueuedTasks = -1
	o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	g, err := NewGroup(o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if _, err := g.Shutdown(0, time.Minute).Wait(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return g
}

// countTask counts down without atomics: only the loop runs it.
type countTask struct {
	left int
	done chan struct{}
}

func (c *countTask) RunTask() {
	if c.left--; c.left == 0 {
		close(c.done)
	}
}

func benchProducers(b *testing.B, producers int, o Options) {
	l := benchGroup(b, o).Next()
	task := &countTask{left: b.N, done: make(chan struct{})}
	var start sync.WaitGroup
	start.Add(1)
	for i := range producers {
		n := b.N / producers
		if i == 0 {
			n += b.N % producers
		}
		go func() {
			start.Wait()
			for range n {
				if err := l.Run(task); err != nil {
					b.Error(err)
				}
			}
		}()
	}
	b.ReportAllocs()
	b.ResetTimer()
	start.Done()
	<-task.done
}

// The time of a task handed to a loop and run there.
func BenchmarkExecute1Producer(b *testing.B)  { benchProducers(b, 1, Options{}) }
func BenchmarkExecute8Producers(b *testing.B) { benchProducers(b, 8, Options{}) }
func BenchmarkExecute8ProducersPortable(b *testing.B) {
	benchProducers(b, 8, Options{newPoller: newChanPoller})
}

// From the loop itself, 128 at a time.
func BenchmarkExecuteOnLoop(b *testing.B) {
	const batch = 128
	l := benchGroup(b, Options{}).Next()
	rounds := b.N/batch + 1
	done := make(chan struct{})
	task := &countTask{left: rounds * batch, done: done}
	var again func()
	again = func() {
		for range batch {
			_ = l.Run(task)
		}
		if rounds--; rounds > 0 {
			_ = l.Execute(again)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	if err := l.Execute(again); err != nil {
		b.Fatal(err)
	}
	<-done
}

// oneWay measures from handing over to running, and how long the producer's goroutine, which then
// waits, has been without work before.
func oneWay(b *testing.B, pause time.Duration) {
	l := benchGroup(b, Options{}).Next()
	back := make(chan struct{}, 1)
	var start time.Time
	var total time.Duration
	task := funcTask(func() {
		total += time.Since(start)
		back <- struct{}{}
	})
	for range b.N {
		if pause > 0 {
			time.Sleep(pause)
		}
		start = time.Now()
		_ = l.Run(task)
		<-back
	}
	b.ReportMetric(float64(total)/float64(b.N), "oneway-ns")
}

func BenchmarkOneWay(b *testing.B)         { oneWay(b, 0) }
func BenchmarkOneWaySleeping(b *testing.B) { oneWay(b, 300*time.Microsecond) }

// The same through a Go channel, for comparison in the same run.
func BenchmarkGoChannel1Producer(b *testing.B)  { benchChannel(b, 1) }
func BenchmarkGoChannel8Producers(b *testing.B) { benchChannel(b, 8) }

func BenchmarkGoChannelOneWay(b *testing.B) {
	tasks, back := make(chan Task, 1024), make(chan struct{}, 1)
	var start time.Time
	var total time.Duration
	task := funcTask(func() {
		total += time.Since(start)
		back <- struct{}{}
	})
	go func() {
		for t := range tasks {
			t.RunTask()
		}
	}()
	for range b.N {
		start = time.Now()
		tasks <- task
		<-back
	}
	close(tasks)
	b.ReportMetric(float64(total)/float64(b.N), "oneway-ns")
}

func benchChannel(b *testing.B, producers int) {
	tasks := make(chan Task, 1024)
	task := &countTask{left: b.N / producers * producers, done: make(chan struct{})}
	if task.left == 0 {
		return
	}
	go func() {
		for t := range tasks {
			t.RunTask()
		}
	}()
	for range producers {
		go func() {
			for range b.N / producers {
				tasks <- task
			}
		}()
	}
	<-task.done
	close(tasks)
}

// There and back: two wake-ups.
func BenchmarkRoundTrip(b *testing.B) {
	l := benchGroup(b, Options{}).Next()
	back := make(chan struct{}, 1)
	task := funcTask(func() { back <- struct{}{} })
	b.ReportAllocs()
	for b.Loop() {
		_ = l.Run(task)
		<-back
	}
}

type nopTimer struct{}

func (nopTimer) RunTimer(*Timer) {}

// The cost of one timer with 100,000 others waiting.
func BenchmarkTimers100000(b *testing.B) {
	m, err := NewManual(Options{Tick: 10 * time.Millisecond})
	if err != nil {
		b.Fatal(err)
	}
	timers := make([]Timer, 100_000)
	for i := range timers {
		timers[i].Init(m.Loop(), nopTimer{})
		timers[i].Reset(time.Duration(i%60_000) * time.Millisecond)
	}
	i := 0
	next := func() *Timer {
		i = (i + 7919) % len(timers)
		return &timers[i]
	}
	b.Run("set and stop", func(b *testing.B) {
		m.RunPending() // this goroutine drives it now
		b.ReportAllocs()
		for b.Loop() {
			t := next()
			t.Stop()
			t.Reset(30 * time.Second)
		}
	})
	b.Run("put off", func(b *testing.B) {
		m.RunPending()
		b.ReportAllocs()
		for b.Loop() {
			next().Reset(60 * time.Second)
		}
	})
	b.Run("fire", func(b *testing.B) {
		m.RunPending()
		b.ReportAllocs()
		for b.Loop() {
			next().Reset(0)
			m.Advance(0)
		}
	})
}

func BenchmarkClock(b *testing.B) {
	for b.Loop() {
		if Clock() < 0 {
			b.Fatal("negative")
		}
	}
}
