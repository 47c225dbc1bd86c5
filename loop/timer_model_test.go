package loop

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"millrace.dev/future"
)

// timerModel is timers and scheduled functions of a loop beside the times at which they are due.
type timerModel struct {
	t      *testing.T
	rnd    *rand.Rand
	m      *Manual
	l      *Loop
	timers []Timer
	due    map[*Timer]time.Duration
	plans  []*plan
	fired  int
	budget int // of what callbacks may do
}

// plan is a call of Schedule.
type plan struct {
	due       time.Duration
	f         future.Future[future.Void]
	ran       bool
	cancelled bool
}

const modelTick = 10 * time.Millisecond

// delay draws one, of every order of magnitude.
func (o *timerModel) delay() time.Duration {
	switch o.rnd.IntN(12) {
	case 0:
		return 0
	case 1:
		return -time.Duration(o.rnd.Uint64() >> 1)
	case 2:
		return math.MaxInt64 - time.Duration(o.rnd.IntN(3))
	case 3:
		return modelTick * time.Duration(o.rnd.IntN(5)) // many at the same time
	}
	return time.Duration(o.rnd.Uint64N(1 << (10 + o.rnd.IntN(40))))
}

// step does something to some timer, also from inside of callbacks.
func (o *timerModel) step() {
	tm := &o.timers[o.rnd.IntN(len(o.timers))]
	switch o.rnd.IntN(6) {
	case 0, 1, 2:
		d := o.delay()
		tm.Reset(d)
		o.due[tm] = deadlineAfter(o.m.Now(), d)
	case 3:
		_, want := o.due[tm]
		if got := tm.Stop(); got != want {
			o.t.Fatalf("Stop says %v, want %v", got, want)
		}
		delete(o.due, tm)
	case 4:
		d := o.delay()
		p := &plan{due: deadlineAfter(o.m.Now(), d)}
		p.f = o.l.Schedule(d, func() { o.planned(p) })
		o.plans = append(o.plans, p)
	case 5:
		if len(o.plans) > 0 {
			p := o.plans[o.rnd.IntN(len(o.plans))]
			if p.f.Cancel() != (!p.ran && !p.cancelled) {
				o.t.Fatalf("Cancel of a function that ran: %v, was cancelled: %v", p.ran, p.cancelled)
			}
			p.cancelled = !p.ran
		}
	}
	if _, want := o.due[tm]; tm.Active() != want {
		o.t.Fatalf("Active says %v, want %v", tm.Active(), want)
	}
}

// RunTimer implements TimerTask.
func (o *timerModel) RunTimer(tm *Timer) {
	due, ok := o.due[tm]
	if !ok {
		o.t.Fatal("a timer fired that wasn't set")
	}
	delete(o.due, tm)
	o.inTime(due)
}

func (o *timerModel) planned(p *plan) {
	if p.ran || p.cancelled {
		o.t.Fatalf("a function ran: again %v, cancelled %v", p.ran, p.cancelled)
	}
	p.ran = true
	o.inTime(p.due)
}

func (o *timerModel) inTime(due time.Duration) {
	o.fired++
	if late := o.m.Now() - due; late < 0 || late >= modelTick {
		o.t.Fatalf("due at %v, fired at %v", due, o.m.Now())
	}
	for range o.rnd.IntN(3) {
		if o.budget--; o.budget > 0 {
			o.step()
		}
	}
}

// check compares when nothing is due.
func (o *timerModel) check() {
	o.t.Helper()
	now, waiting, earliest := o.m.Now(), 0, time.Duration(math.MaxInt64)
	overdue := func(due time.Duration) {
		waiting++
		earliest = min(earliest, due)
		if due <= now-modelTick {
			o.t.Fatalf("due at %v, and at %v it hasn't fired", due, now)
		}
	}
	for _, due := range o.due {
		overdue(due)
	}
	for _, p := range o.plans {
		switch {
		case p.cancelled != p.f.IsCancelled() || p.ran != p.f.IsSuccess():
			o.t.Fatalf("ran %v, cancelled %v, future %v", p.ran, p.cancelled, p.f.Err())
		case !p.ran && !p.cancelled:
			overdue(p.due)
		}
	}
	if got := o.l.Stats().Timers; got != waiting {
		o.t.Fatalf("%d timers, want %d", got, waiting)
	}
	if d, ok := o.m.NextTimer(); ok != (waiting > 0) || ok && earliest < math.MaxInt64-modelTick && d > earliest+modelTick-now {
		o.t.Fatalf("the next in %v, %v; want it in %v", d, ok, earliest-now)
	}
}

// TestTimersRandomly sets, moves and stops timers from everywhere, for any time, while the clock
// goes on in steps and leaps.
func TestTimersRandomly(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		m, _ := newManual(t, Options{Tick: modelTick})
		o := &timerModel{t: t, rnd: rand.New(rand.NewPCG(seed, 3)), m: m, l: m.Loop(),
			timers: make([]Timer, 30), due: map[*Timer]time.Duration{}}
		for i := range o.timers {
			o.timers[i].Init(o.l, o)
		}
		for range 300 {
			o.budget = 20
			for range o.rnd.IntN(4) {
				o.step()
			}
			m.Advance(time.Duration(o.rnd.Uint64N(1 << (8 + o.rnd.IntN(36)))))
			o.check()
		}
		m.Close()
		for _, p := range o.plans {
			if !p.f.IsDone() || !p.ran && !p.cancelled && !errors.Is(p.f.Err(), ErrShutdown) {
				t.Fatalf("seed %d: after the loop's end: %v", seed, p.f.Err())
			}
		}
		if o.fired < 100 {
			t.Fatalf("seed %d: only %d timers fired", seed, o.fired)
		}
	}
}
