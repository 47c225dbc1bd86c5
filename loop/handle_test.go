package loop

import (
	"errors"
	"slices"
	"testing"

	"millrace.dev/buffer"
)

// scriptPoller is a poller whose events the test hands in, and which keeps book of what the loop asks for.
type scriptPoller struct {
	chanPoller
	loop     *Loop
	batches  [][]readyEvent
	controls []control
	fail     error
}

type control struct {
	fd       int
	from, to Ops
}

func (p *scriptPoller) poll(l *Loop) int {
	if len(p.batches) == 0 {
		return 0
	}
	n := copy(l.ready, p.batches[0])
	p.batches = p.batches[1:]
	return n
}

func (p *scriptPoller) descriptors() bool { return true }

func (p *scriptPoller) control(fd int, _ token, from, to Ops) error {
	p.controls = append(p.controls, control{fd, from, to})
	return p.fail
}

// scripted returns a manual loop with a scriptPoller, and a function that runs a turn with the events given.
func scripted(t *testing.T) (*Loop, *scriptPoller, *logBuffer, func(...readyEvent)) {
	t.Helper()
	m, log := newManual(t, Options{})
	l := m.Loop()
	inner, err := newChanPoller(0)
	mustDo(t, err)
	p := &scriptPoller{chanPoller: *inner.(*chanPoller), loop: l}
	l.poller = p
	l.ready = make([]readyEvent, 16)
	return l, p, log, func(events ...readyEvent) {
		p.batches = append(p.batches, events)
		l.readyN, l.served = l.poller.poll(l), 0
		l.runTurn()
	}
}

func ready(r Registration, ops Ops) readyEvent { return readyEvent{r.token, Event{Ops: ops}} }

func TestInterestMakesFewSystemCalls(t *testing.T) {
	t.Parallel()
	l, p, _, _ := scripted(t)
	reg, err := l.Register(7, ioFunc(func(Event) {}))
	mustDo(t, err)
	for _, ops := range []Ops{0, OpRead, OpRead, OpRead | OpWrite, OpRead, 0, 0, OpHangup} {
		mustDo(t, reg.SetInterest(ops))
		if reg.Interest() != ops {
			t.Fatalf("interest is %v, want %v", reg.Interest(), ops)
		}
	}
	mustDo(t, reg.Deregister())
	want := []control{{7, 0, OpRead}, {7, OpRead, OpRead | OpWrite}, {7, OpRead | OpWrite, OpRead},
		{7, OpRead, 0}, {7, 0, OpHangup}, {7, OpHangup, 0}}
	if !slices.Equal(p.controls, want) {
		t.Fatalf("asked for %v, want %v", p.controls, want)
	}
	if reg.Deregister() != ErrNotRegistered || reg.SetInterest(OpRead) != ErrNotRegistered || reg.Interest() != 0 || reg.Valid() {
		t.Fatal("a registration works after its end")
	}
	p.controls = nil
	idle, err := l.Register(8, ioFunc(func(Event) {}))
	mustDo(t, err)
	mustDo(t, idle.Deregister())
	closing, err := l.Register(9, ioFunc(func(Event) {}))
	mustDo(t, err)
	mustDo(t, closing.SetInterest(OpRead))
	mustDo(t, closing.DeregisterClosing())
	if want := []control{{9, 0, OpRead}}; !slices.Equal(p.controls, want) {
		t.Fatalf("asked for %v, want %v", p.controls, want)
	}
	if closing.DeregisterClosing() != ErrNotRegistered {
		t.Fatal("a registration ended twice")
	}
}

func TestInterestIsKeptWhenItCannotChange(t *testing.T) {
	t.Parallel()
	l, p, _, _ := scripted(t)
	reg, err := l.Register(7, ioFunc(func(Event) {}))
	mustDo(t, err)
	p.fail = errors.New("refused")
	if err := reg.SetInterest(OpRead); err != p.fail || reg.Interest() != 0 {
		t.Fatalf("%v; interest %v", err, reg.Interest())
	}
}

func TestZeroRegistration(t *testing.T) {
	t.Parallel()
	var reg Registration
	if reg.Valid() || reg.Interest() != 0 || reg.SetInterest(OpRead) != ErrNotRegistered ||
		reg.Deregister() != ErrNotRegistered || reg.DeregisterClosing() != ErrNotRegistered {
		t.Fatal("the zero registration works")
	}
}

func TestInterestInACompletionPanics(t *testing.T) {
	t.Parallel()
	l, _, _, _ := scripted(t)
	reg, err := l.Register(7, ioFunc(func(Event) {}))
	mustDo(t, err)
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	_ = reg.SetInterest(OpDone)
}

// TestStaleEvents lets a handler close its neighbour, and another take its slot and descriptor, while
// an event of the neighbour is under way.
func TestStaleEvents(t *testing.T) {
	t.Parallel()
	l, _, _, turn := scripted(t)
	var second, third Registration
	got := map[string]int{}
	first, err := l.Register(1, ioFunc(func(ev Event) {
		if ev.Ops != OpRead {
			return // the end of the test
		}
		got["first"]++
		mustDo(t, second.Deregister())
		var err error
		third, err = l.Register(2, ioFunc(func(Event) { got["third"]++ }))
		mustDo(t, err)
	}))
	mustDo(t, err)
	second, err = l.Register(2, ioFunc(func(Event) { got["second"]++ }))
	mustDo(t, err)
	turn(ready(first, OpRead), ready(second, OpRead))
	if third.token.slot != second.token.slot {
		t.Fatal("the slot was not used again, so this tests nothing")
	}
	if got["first"] != 1 || got["second"] != 0 || got["third"] != 0 {
		t.Fatalf("events: %v, want one for the first only", got)
	}
	turn(ready(third, OpRead), readyEvent{token{1 << 30, 1}, Event{}})
	if s := l.Stats(); got["third"] != 1 || s.Stale != 2 || s.Events != 2 {
		t.Fatalf("events: %v, stats %+v", got, s)
	}
}

func TestGenerationsWrap(t *testing.T) {
	t.Parallel()
	var table handleTable
	h := ioFunc(func(Event) {})
	k := table.add(h, 1)
	table.at(0).meta = generationMask << 8
	k.generation = generationMask
	table.entry(k).setArmed(OpRead | OpWrite)
	if e := table.entry(k); e.armed() != OpRead|OpWrite || e.generation() != generationMask {
		t.Fatalf("armed %v in generation %d", e.armed(), e.generation())
	}
	table.remove(k)
	next := table.add(h, 1)
	if next.slot != k.slot || next.generation != 0 || table.handler(next) == nil || table.handler(k) != nil || table.entry(next).armed() != 0 {
		t.Fatalf("%+v follows %+v", next, k)
	}
}

func TestPanickingHandle(t *testing.T) {
	t.Parallel()
	l, p, log, turn := scripted(t)
	served := 0
	var regs []Registration
	var events []readyEvent
	for i := range 5 {
		reg, err := l.Register(i, ioFunc(func(Event) {
			served++
			if i%2 == 1 {
				panic("handle broken")
			}
		}))
		mustDo(t, err)
		mustDo(t, reg.SetInterest(OpRead))
		regs = append(regs, reg)
		events = append(events, ready(reg, OpRead))
	}
	p.controls = nil
	turn(events...)
	if served != 5 || log.count("handle broken") < 2 {
		t.Fatalf("%d of 5 handles were served; log:\n%s", served, log)
	}
	for i, reg := range regs {
		if blind := reg.Interest() == 0; blind != (i%2 == 1) || !reg.Valid() {
			t.Errorf("handle %d has interest %v", i, reg.Interest())
		}
	}
	// One that has deregistered before it panics is none of our business.
	var gone Registration
	gone, err := l.Register(9, ioFunc(func(Event) {
		mustDo(t, gone.Deregister())
		panic("gone")
	}))
	mustDo(t, err)
	turn(ready(gone, OpRead))
	if log.count("dropping the interest") != 0 {
		t.Errorf("log:\n%s", log)
	}
}

// Completions come the same way as readiness, with memory that must not get lost.
func TestCompletions(t *testing.T) {
	t.Parallel()
	l, _, _, turn := scripted(t)
	var got []string
	var reg Registration
	reg, err := l.Register(1, ioFunc(func(ev Event) {
		if ev.Ops != OpRead|OpDone || int(ev.Result) != ev.Buffer.Len() {
			t.Errorf("event %+v", ev)
		}
		got = append(got, string(ev.Buffer.Readable()))
		ev.Buffer.Close()
		mustDo(t, reg.Deregister())
	}))
	mustDo(t, err)
	one, two := buffer.CopyString("one"), buffer.CopyString("two")
	turn(readyEvent{reg.token, Event{OpRead | OpDone, 3, one}}, readyEvent{reg.token, Event{OpRead | OpDone, 3, two}})
	if !slices.Equal(got, []string{"one"}) {
		t.Fatalf("got %q, want the first only", got)
	}
	if !two.IsClosed() {
		t.Fatal("the buffer of a stale completion was not closed")
	}
}

func TestAttachHasNoDescriptor(t *testing.T) {
	t.Parallel()
	m, _ := newManual(t, Options{})
	l := m.Loop()
	reg, err := l.Attach(ioFunc(func(Event) {}))
	mustDo(t, err)
	if err := reg.SetInterest(OpRead); !errors.Is(err, errors.ErrUnsupported) {
		t.Fatalf("SetInterest without a descriptor: %v", err)
	}
	mustDo(t, reg.SetInterest(0))
	if _, err := l.Register(0, ioFunc(func(Event) {})); !errors.Is(err, errors.ErrUnsupported) {
		t.Fatalf("Register on a manual loop: %v", err)
	}
	mustDo(t, reg.Deregister())
	g, _ := startGroup(t, Options{newPoller: newChanPoller})
	pl := g.Next()
	on(t, pl, func() {
		if _, err := pl.Register(0, ioFunc(func(Event) {})); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("Register on a portable loop: %v", err)
		}
	})
}

func TestHandleTableGrowsByPages(t *testing.T) {
	t.Parallel()
	var table handleTable
	h := ioFunc(func(Event) {})
	var tokens []token
	for range 3<<pageBits + 1 {
		tokens = append(tokens, table.add(h, int32(len(tokens))))
	}
	first := table.entry(tokens[0])
	for i, k := range tokens {
		if e := table.entry(k); e == nil || e.fd != int32(i) {
			t.Fatalf("slot %d: %+v", i, e)
		}
	}
	if len(table.pages) != 4 || table.entry(tokens[0]) != first {
		t.Fatalf("%d pages; an entry that has moved: %v", len(table.pages), table.entry(tokens[0]) != first)
	}
	table.remove(tokens[300])
	if k := table.add(h, 1); k.slot != tokens[300].slot || k.generation == tokens[300].generation {
		t.Fatalf("slot %+v used again as %+v", tokens[300], k)
	}
}
