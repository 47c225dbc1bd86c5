package micro

import (
	"container/heap"
	"math"
	"runtime"
	"testing"
	"time"

	"millrace.dev/future"
	"millrace.dev/loop"
)

// timerCount is how many timers wait at a time.
const timerCount = 100_000

// timerDelays are those of connections that have come at random and may be idle for a minute.
func timerDelays() []time.Duration {
	random := seeded()
	delays := make([]time.Duration, timerCount)
	for i := range delays {
		delays[i] = time.Second + time.Duration(random.Int64N(int64(time.Minute)))
	}
	return delays
}

// timerSet has a timer for each delay.
type timerSet struct {
	schedule func(delays []time.Duration)
	cancel   func(reversed bool) (fired int)
	settle   func() // waits until all that was asked for is done; nil: it is
}

// nth is the number of the timer that is cancelled after i others.
func nth(i int, reversed bool) int {
	if reversed {
		return timerCount - 1 - i
	}
	return i
}

type nopTimer struct{}

func (nopTimer) RunTimer(*loop.Timer) {}
func nopFunc()                        {}

// BenchmarkTimers schedules 100,000 timers and then cancels them, in the order in which they
// were scheduled and in the opposite one. The time is that of scheduling and cancelling one.
func BenchmarkTimers(b *testing.B) {
	delays := timerDelays()
	for _, order := range []string{"same", "reversed"} {
		run := func(by, alt string, make func(b *testing.B, l *loop.Loop, by string) timerSet) {
			b.Run("by="+by+"/order="+order+"/alt="+alt, func(b *testing.B) {
				l := startLoop(b)
				set := make(b, l, by)
				if by == "loop" {
					onLoop(b, l, func() { timerRounds(b, set, delays, order == "reversed") })
					return
				}
				timerRounds(b, set, delays, order == "reversed")
			})
		}
		for _, by := range []string{"loop", "goroutine"} {
			run(by, "afterfunc", afterFuncs)
			if by == "loop" {
				run(by, "heap", heapTimers)
				run(by, "millrace", loopTimers)
			}
			run(by, "millrace-schedule", scheduled)
		}
	}
}

func timerRounds(b *testing.B, set timerSet, delays []time.Duration, reversed bool) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rounds := 0
	for b.Loop() {
		rounds++
		set.schedule(delays)
		if fired := set.cancel(reversed); fired > 0 {
			b.Errorf("%d timers have fired", fired)
		}
		if set.settle != nil {
			set.settle()
		}
	}
	runtime.ReadMemStats(&after)
	timers := float64(rounds * len(delays))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/timers, "ns/op")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/timers, "B/op")
	b.ReportMetric(math.Round(float64(after.Mallocs-before.Mallocs)/timers), "allocs/op")
}

func afterFuncs(_ *testing.B, _ *loop.Loop, _ string) timerSet {
	timers := make([]*time.Timer, timerCount)
	return timerSet{
		schedule: func(delays []time.Duration) {
			for i, d := range delays {
				timers[i] = time.AfterFunc(d, nopFunc)
			}
		},
		cancel: func(reversed bool) (fired int) {
			for i := range timers {
				if !timers[nth(i, reversed)].Stop() {
					fired++
				}
			}
			return fired
		},
	}
}

func loopTimers(_ *testing.B, l *loop.Loop, _ string) timerSet {
	timers := make([]loop.Timer, timerCount)
	for i := range timers {
		timers[i].Init(l, nopTimer{})
	}
	return timerSet{
		schedule: func(delays []time.Duration) {
			for i, d := range delays {
				timers[i].Reset(d)
			}
		},
		cancel: func(reversed bool) (fired int) {
			for i := range timers {
				if !timers[nth(i, reversed)].Stop() {
					fired++
				}
			}
			return fired
		},
	}
}

func scheduled(b *testing.B, l *loop.Loop, by string) timerSet {
	futures := make([]future.Future[future.Void], timerCount)
	set := timerSet{
		schedule: func(delays []time.Duration) {
			for i, d := range delays {
				futures[i] = l.Schedule(d, nopFunc)
			}
		},
		cancel: func(reversed bool) (fired int) {
			for i := range futures {
				if !futures[nth(i, reversed)].Cancel() {
					fired++
				}
			}
			return fired
		},
	}
	if by != "loop" {
		set.settle = func() { onLoop(b, l, nopFunc) }
	}
	return set
}

// heapTimer is an entry of a binary heap by time, the form that timers have in most libraries.
type heapTimer struct {
	at    time.Duration
	index int // in the heap; -1: not there
}

type timerHeap []*heapTimer

func (h timerHeap) Len() int           { return len(h) }
func (h timerHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *timerHeap) Push(x any) {
	t := x.(*heapTimer)
	t.index = len(*h)
	*h = append(*h, t)
}
func (h *timerHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	*h = (*h)[:last]
	t.index = -1
	return t
}

func heapTimers(_ *testing.B, _ *loop.Loop, _ string) timerSet {
	timers := make([]heapTimer, timerCount)
	var waiting timerHeap
	return timerSet{
		schedule: func(delays []time.Duration) {
			for i, d := range delays {
				timers[i].at = loop.Clock() + d
				heap.Push(&waiting, &timers[i])
			}
		},
		cancel: func(reversed bool) (fired int) {
			for i := range timers {
				heap.Remove(&waiting, timers[nth(i, reversed)].index)
			}
			return fired
		},
	}
}
