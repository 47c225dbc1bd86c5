package loop

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// counted is a value that knows where it was made, and how often its kind was.
type counted struct {
	on *Loop
	n  int
}

func TestLocalBelongsToItsLoop(t *testing.T) {
	t.Parallel()
	var made atomic.Int32
	v := NewLocal(func(l *Loop) counted { made.Add(1); return counted{on: l} }, nil)
	a, _ := startGroup(t, Options{Loops: 2})
	b, _ := startGroup(t, Options{Loops: 2})
	loops := slices.Concat(a.Loops(), b.Loops())
	for range 3 {
		for _, l := range loops {
			on(t, l, func() {
				value := v.Get(l)
				if value.on != l || v.Current() != value || Current() != l {
					t.Errorf("%s: the value of %v", l.Name(), value.on)
				}
				value.n++
				v.Use(func(used *counted) {
					if used != value {
						t.Error("Use on a loop gets another value")
					}
				})
			})
		}
	}
	if n := made.Load(); n != int32(len(loops)) {
		t.Errorf("%d values for %d loops", n, len(loops))
	}
	for _, l := range loops {
		on(t, l, func() {
			if n := v.Get(l).n; n != 3 {
				t.Errorf("%s: counted %d, want 3", l.Name(), n)
			}
		})
	}
}

func TestLocalOffLoops(t *testing.T) {
	t.Parallel()
	v := NewLocal(func(l *Loop) counted { return counted{on: l} }, nil)
	if Current() != nil || v.Current() != nil {
		t.Error("a goroutine of its own is on a loop")
	}
	m, _ := newManual(t, Options{})
	_ = m.Loop().Execute(func() {
		if Current() != nil || v.Get(m.Loop()).on != m.Loop() {
			t.Error("a loop that is driven by hand is the goroutine's own, or has no values")
		}
	})
	if m.RunPending() != 1 {
		t.Error("the task has not run")
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				v.Use(func(value *counted) {
					before := value.n
					value.n++
					runtime.Gosched() // another that has the same value would count now
					if value.n != before+1 || value.on != nil {
						t.Errorf("value %+v, counted %d before", *value, before)
					}
				})
			}
		})
	}
	wg.Wait()
}

func TestLocalMisuse(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{})
	v := NewLocal[counted](nil, nil)
	for name, call := range map[string]func(){
		"Get":    func() { v.Get(g.Next()) },
		"Remove": func() { v.Remove(g.Next()) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if s, _ := recover().(string); !strings.Contains(s, "Local."+name) {
					t.Errorf("panic %q", s)
				}
			}()
			call()
		})
	}
}

// The values of a loop end with it, last made first, while those of others stay.
func TestLocalEndsWithItsLoop(t *testing.T) {
	t.Parallel()
	eachPoller(t, func(t *testing.T, o Options) {
		g, log := startGroup(t, o)
		other, _ := startGroup(t, o)
		var ended []string
		end := func(name string) func(*Loop, *counted) {
			return func(l *Loop, value *counted) {
				if !l.InLoop() {
					t.Error("an end off the loop")
				}
				ended = append(ended, fmt.Sprint(name, value.n))
			}
		}
		first := NewLocal(nil, end("first"))
		second := NewLocal(func(l *Loop) counted { first.Get(l).n++; return counted{} }, end("second"))
		bad := NewLocal(nil, func(*Loop, *counted) { panic("end") })
		late := NewLocal(nil, end("late"))
		last := NewLocal(nil, func(l *Loop, value *counted) { late.Get(l).n = 7; first.Get(l).n++ })
		for _, l := range []*Loop{g.Next(), other.Next()} {
			on(t, l, func() {
				second.Get(l)
				bad.Get(l)
				last.Get(l)
			})
		}
		ended = nil
		l := g.Next()
		on(t, l, func() { _ = l.Execute(func() { first.Get(l).n++ }) })
		waitDone(t, g.Shutdown(0, patience))
		if got := strings.Join(ended, " "); got != "late7 second0 first3" {
			t.Errorf("ended %q", got)
		}
		if log.count("end of a loop-local value") != 1 {
			t.Errorf("the panic of an end is not in the log: %s", log)
		}
		if v := first.Get(l); v == first.Get(l) { // the test's goroutine may: the loop is over
			t.Error("a loop that has ended keeps values")
		}
		on(t, other.Next(), func() {
			if n := first.Get(other.Next()).n; n != 1 {
				t.Errorf("the other group's value counts %d", n)
			}
		})
		ended = nil
	})
}

// An end that makes values without end does not keep the loop from ending.
func TestLocalEndIsBounded(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{})
	var again *Local[counted]
	ends := 0
	again = NewLocal(nil, func(l *Loop, _ *counted) { ends++; again.Get(l) })
	again.Get(m.Loop())
	m.Close()
	if ends == 0 || ends > 2*maxNesting {
		t.Errorf("%d ends", ends)
	}
}

func TestLocalOfALoopWhoseGoroutineEnds(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{})
	l := g.Next()
	v := NewLocal[counted](nil, nil)
	on(t, l, func() { v.Get(l).n = 5 })
	if err := l.Execute(runtime.Goexit); err != nil {
		t.Fatal(err)
	}
	on(t, l, func() {
		if v.Current().n != 5 {
			t.Error("the loop's new goroutine has another value")
		}
	})
}

func TestLocalInitThatAsksForItself(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{})
	var v *Local[counted]
	depth := 0
	v = NewLocal(func(l *Loop) counted {
		if depth++; depth == 1 {
			v.Get(l).n = 3
		}
		return counted{}
	}, nil)
	if v.Get(m.Loop()).n != 3 || depth != 2 {
		t.Errorf("value %+v after %d inits", *v.Get(m.Loop()), depth)
	}
}

// The table against a map, with numbers that collide and ones that don't.
func TestLocalTable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		m, _ := newManual(t, Options{})
		l := m.Loop()
		var all []*Local[int]
		for range 40 {
			lastLocal.Add(rnd.Uint64N(64)) // as if others had been made
			all = append(all, NewLocal[int](nil, nil))
		}
		model := map[int]int{}
		for step := range 600 {
			i := rnd.IntN(len(all))
			if rnd.IntN(3) == 0 {
				all[i].Remove(l)
				delete(model, i)
			} else {
				*all[i].Get(l) = step
				model[i] = step
			}
			if l.locals.used != len(model) {
				t.Fatalf("seed %d, step %d: %d values, want %d", seed, step, l.locals.used, len(model))
			}
			for i, want := range model {
				if l.locals.index(all[i].id) < 0 || *all[i].Get(l) != want {
					t.Fatalf("seed %d, step %d: value %d is lost", seed, step, i)
				}
			}
		}
		if n := len(l.locals.slots); n > 128 {
			t.Errorf("a table of %d for 40 values", n)
		}
	}
}

func TestLocalRemove(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{})
	ends := 0
	v := NewLocal(nil, func(*Loop, *counted) { ends++ })
	old := v.Get(m.Loop())
	v.Remove(m.Loop())
	v.Remove(m.Loop())
	if ends != 1 || v.Get(m.Loop()) == old {
		t.Errorf("%d ends", ends)
	}
}

func TestLocalAllocatesNothing(t *testing.T) {
	countingAllocations(t)
	g, _ := startGroup(t, Options{})
	v := NewLocal[counted](nil, nil)
	on(t, g.Next(), func() {
		v.Get(g.Next())
		add := 1
		if n := testing.AllocsPerRun(100, func() {
			v.Get(g.Next()).n++
			v.Current().n++
			v.Use(func(value *counted) { value.n += add })
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// trimmed counts how often it was asked to give memory back.
type trimmed struct{ trims int }

func (v *trimmed) Trim() { v.trims++ }

func TestIdleLoopTrimsItsLocals(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{})
	l := m.Loop()
	w := &watchdog{loops: []*Loop{l}, seen: make([]sighting, 1)}
	l.state.Store(asleep)
	later := Clock()
	idle := func() (ran int) { // long enough, and then longer
		for range 2 {
			w.look(later)
			later += idleAfter
			w.look(later)
			ran += m.RunPending()
			l.state.Store(asleep)
		}
		return ran
	}
	if idle() > 0 {
		t.Error("a loop that has nothing to trim was woken")
	}
	v := NewLocal[trimmed](nil, nil)
	v.Get(l)
	for want := 1; want <= 2; want++ {
		idle()
		if got := v.Get(l).trims; got != want {
			t.Errorf("trimmed %d times, want %d", got, want)
		}
		l.turn.Add(1) // it has done something
	}
}

func TestRecycler(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{})
	l := m.Loop()
	made := 0
	r := NewRecycler(2, func() *counted { made++; return &counted{} })
	a, b, c := r.Get(l), r.Get(l), r.Get(l)
	if made != 3 {
		t.Fatalf("made %d", made)
	}
	for _, v := range []*counted{a, b, c} {
		r.Put(l, v)
	}
	if f := r.lists.Get(l); len(f.spare) != 2 {
		t.Errorf("the loop keeps %d", len(f.spare))
	}
	if r.Get(l) != b || r.Get(l) != a {
		t.Error("not what was put back last")
	}
	r.Put(l, a)
	l.trimLocals()
	if f := r.lists.Get(l); len(f.spare) != 0 || cap(f.spare) != 0 {
		t.Error("an idle loop keeps some")
	}
}

// Structs that one loop takes and another goroutine gives back are used again, and nothing grows.
func TestRecyclerOrphans(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{Loops: 2})
	a, b := g.Loops()[0], g.Loops()[1]
	const rounds, batch, bound = 50, 20, 8
	var made atomic.Int32
	r := NewRecycler(bound, func() *counted { made.Add(1); return &counted{} })
	inUse := sync.Map{}
	for round := range rounds {
		var taken []*counted
		on(t, a, func() {
			for range batch {
				v := r.Get(a)
				if _, twice := inUse.LoadOrStore(v, true); twice {
					t.Error("one struct was handed out twice")
				}
				taken = append(taken, v)
			}
		})
		for _, v := range taken {
			inUse.Delete(v)
		}
		if round%2 == 0 {
			on(t, b, func() {
				for _, v := range taken {
					r.Put(b, v)
				}
				if n := len(r.lists.Get(b).spare); n > bound {
					t.Errorf("the loop keeps %d", n)
				}
			})
			continue
		}
		for _, v := range taken {
			r.PutAnywhere(v)
		}
	}
	if n := made.Load(); n < batch || n > rounds*batch {
		t.Errorf("%d made", n)
	}
}

func TestRecyclerAllocatesNothing(t *testing.T) {
	m, _ := newManual(t, Options{})
	r := NewRecycler[counted](1, nil)
	r.Put(m.Loop(), r.Get(m.Loop()))
	if n := testing.AllocsPerRun(100, func() { r.Put(m.Loop(), r.Get(m.Loop())) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A Local whose loops have ended is forgotten by everybody.
func TestLocalIsCollected(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	func() {
		m, _ := newManual(t, Options{})
		v := NewLocal[counted](nil, nil)
		v.Get(m.Loop())
		runtime.AddCleanup(v, func(gone chan struct{}) { close(gone) }, gone)
		v.Remove(m.Loop())
	}()
	deadline := time.After(patience)
	for {
		runtime.GC()
		select {
		case <-gone:
			return
		case <-deadline:
			t.Fatal("a Local is still remembered")
		default:
		}
	}
}
