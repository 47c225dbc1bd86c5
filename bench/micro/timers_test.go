package micro

import (
	"container/heap"
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

// timerSet schedules and cancels timers by number.
type timerSet struct {
	schedule func(i int, d time.Duration)
	cancel   func(i int)
	settle   func() // waits until all that was asked for is done; nil: it is
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
	b.ReportAllocs()
	rounds := 0
	for b.Loop() {
		rounds++
		for i, d := range delays {
			set.schedule(i, d)
		}
		for i := range delays {
			if reversed {
				i = len(delays) - 1 - i
			}
			set.cancel(i)
		}
		if set.settle != nil {
			set.settle()
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rounds*len(delays)), "ns/op")
}

func afterFuncs(b *testing.B, _ *loop.Loop, _ string) timerSet {
	timers := make([]*time.Timer, timerCount)
	return timerSet{
		schedule: func(i int, d time.Duration) { timers[i] = time.AfterFunc(d, nopFunc) },
		cancel: func(i int) {
			if !timers[i].Stop() {
				b.Error("a timer has fired")
			}
		},
	}
}

func loopTimers(b *testing.B, l *loop.Loop, _ string) timerSet {
	timers := make([]loop.Timer, timerCount)
	for i := range timers {
		timers[i].Init(l, nopTimer{})
	}
	return timerSet{
		schedule: func(i int, d time.Duration) { timers[i].Reset(d) },
		cancel: func(i int) {
			if !timers[i].Stop() {
				b.Error("a timer has fired")
			}
		},
	}
}

func scheduled(b *testing.B, l *loop.Loop, by string) timerSet {
	futures := make([]future.Future[future.Void], timerCount)
	set := timerSet{
		schedule: func(i int, d time.Duration) { futures[i] = l.Schedule(d, nopFunc) },
		cancel: func(i int) {
			if !futures[i].Cancel() {
				b.Error("a timer has fired")
			}
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
		schedule: func(i int, d time.Duration) {
			timers[i].at = loop.Clock() + d
			heap.Push(&waiting, &timers[i])
		},
		cancel: func(i int) { heap.Remove(&waiting, timers[i].index) },
	}
}
