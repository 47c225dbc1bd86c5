package loop

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWatchdogReportsOncePerStall(t *testing.T) {
	t.Parallel()
	g, log := startGroup(t, Options{WatchdogThreshold: -1}) // driven by hand
	l := g.Next()
	w := handDriven(g, time.Second)
	reports := func() int { return log.count("a loop is blocked") }
	block := func() (release func()) {
		entered, gate, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
		mustDo(t, l.Execute(func() { close(entered); <-gate; close(left) }))
		await(t, entered)
		return func() { close(gate); await(t, left); on(t, l, func() {}) }
	}
	release := block()
	w.look(10 * time.Second)
	w.look(10*time.Second + 900*time.Millisecond)
	if reports() != 0 {
		t.Fatal("reported before the threshold")
	}
	w.look(11 * time.Second)
	w.look(12 * time.Second)
	w.look(20 * time.Second)
	if reports() != 1 {
		t.Fatalf("%d reports of one stall, want 1:\n%s", reports(), log)
	}
	if text := log.String(); !strings.Contains(text, l.Name()) || !strings.Contains(text, "for=1s") ||
		!strings.Contains(text, "TestWatchdogReportsOncePerStall") {
		t.Fatalf("the report lacks the name, the time or the stack:\n%s", text)
	}
	release()
	w.look(30 * time.Second)
	release = block()
	w.look(40 * time.Second)
	w.look(50 * time.Second)
	if reports() != 2 {
		t.Fatalf("%d reports of two stalls, want 2", reports())
	}
	release()
}

func TestWatchdogLeavesSleepersAlone(t *testing.T) {
	t.Parallel()
	g, log := startGroup(t, Options{WatchdogThreshold: -1})
	l := g.Next()
	on(t, l, func() {})
	for l.state.Load() != asleep {
		runtime.Gosched() // it is about to
	}
	w := handDriven(g, time.Second)
	for i := range 10 {
		w.look(time.Duration(i) * time.Minute)
	}
	if log.count("blocked") != 0 {
		t.Fatalf("a sleeping loop was reported:\n%s", log)
	}
}

// handDriven replaces the group's watchdog by one that looks when it is told to.
func handDriven(g *Group, threshold time.Duration) *watchdog {
	g.watch.stop()
	return &watchdog{loops: g.loops, threshold: threshold, log: g.loops[0].log, seen: make([]sighting, len(g.loops))}
}

func TestIdleLoopsReturnMemoryOnce(t *testing.T) {
	t.Parallel()
	g, _ := startGroup(t, Options{})
	l := g.Next()
	w := handDriven(g, time.Second)
	sleeping := func() {
		for l.state.Load() != asleep {
			runtime.Gosched()
		}
	}
	on(t, l, func() {})
	sleeping()
	w.look(10 * time.Second)
	w.look(10*time.Second + idleAfter/2)
	if l.trimmed.Load() != 0 {
		t.Fatal("trimmed before the time")
	}
	w.look(10*time.Second + idleAfter)
	for l.trimmed.Load() == 0 {
		runtime.Gosched()
	}
	sleeping()
	turn := l.trimmed.Load()
	if now := l.turn.Load(); turn != now {
		t.Fatalf("trimmed in turn %d, but the turn is %d", turn, now)
	}
	for i := range 10 {
		w.look(20*time.Second + time.Duration(i)*idleAfter)
	}
	if l.turn.Load() != turn {
		t.Fatal("an idle loop was woken again for nothing")
	}
	on(t, l, func() {}) // some work
	sleeping()
	w.look(40 * time.Second)
	w.look(40*time.Second + idleAfter)
	for l.trimmed.Load() == turn {
		runtime.Gosched()
	}
}

func TestCulprit(t *testing.T) {
	t.Parallel()
	record := `1 @ 0x1 0x2
# labels: {"loop":"millrace-1-0"}
#	0x46a5a4	time.Sleep+0x123			/usr/lib/go/src/runtime/time.go:300
#	0x50a5a4	example.com/app.(*Slow).OnRead+0x2c	/src/app/slow.go:12
#	0x60a5a4	millrace.dev/channel.(*Context).FireRead+0x5	/src/channel/context.go:9
#	0x70a5a4	example.com/app.(*First).OnRead+0x2c	/src/app/first.go:8
#	0x60a5a4	millrace.dev/channel.(*Context).FireRead+0x5	/src/channel/context.go:9
#	0x80a5a4	millrace.dev/loop.(*Loop).run+0x99	/src/loop/loop.go:5
`
	stack := frames(record)
	if len(stack) != 6 || stack[1] != "example.com/app.(*Slow).OnRead /src/app/slow.go:12" {
		t.Fatalf("frames: %q", stack)
	}
	for _, c := range []struct {
		stack []string
		want  string
	}{
		{stack, "example.com/app.(*Slow).OnRead"},
		{stack[3:], "example.com/app.(*First).OnRead"},
		{stack[5:], ""},
		{nil, ""},
		{[]string{"main.main x.go:1"}, ""},
	} {
		if got := culprit(c.stack); got != c.want {
			t.Errorf("culprit of %q is %q, want %q", c.stack, got, c.want)
		}
	}
	if slices.ContainsFunc(stackOf("no such loop"), func(string) bool { return true }) {
		t.Error("a loop that does not exist has a stack")
	}
}
