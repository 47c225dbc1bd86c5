package loop_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"millrace.dev/loop"
)

func Example() {
	group, err := loop.NewGroup(loop.Options{Loops: 2, Name: "example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	l := group.Next()
	counter := 0 // belongs to the loop: no lock
	for range 1000 {
		go func() { _ = l.Execute(func() { counter++ }) }()
	}
	done := make(chan struct{})
	var check func()
	check = func() {
		if counter < 1000 {
			_ = l.Execute(check)
			return
		}
		fmt.Println(l.Name(), counter, l.InLoop())
		close(done)
	}
	_ = l.Execute(check)
	<-done
	_, err = group.Shutdown(0, time.Second).Wait(context.Background())
	fmt.Println(err)
	// Output:
	// millrace-example-0 1000 true
	// <nil>
}

// beeper shows a timer inside a larger struct.
type beeper struct {
	timer loop.Timer
	left  int
}

func (b *beeper) RunTimer(t *loop.Timer) {
	fmt.Println("beep at", t.Loop().Now())
	if b.left--; b.left > 0 {
		t.Reset(time.Second)
	}
}

// A manual loop has a clock that moves when it is told to.
func ExampleManual() {
	m, err := loop.NewManual(loop.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	b := &beeper{left: 3}
	b.timer.Init(m.Loop(), b)
	b.timer.Reset(time.Second)
	m.Advance(time.Minute)
	fmt.Println("now", m.Now())
	// Output:
	// beep at 1s
	// beep at 2s
	// beep at 3s
	// now 1m0s
}

// warnings sends every record to a channel.
type warnings struct {
	slog.Handler
	records chan slog.Record
}

func (w warnings) Handle(_ context.Context, r slog.Record) error { w.records <- r; return nil }

type slow struct{ release chan struct{} }

func (s *slow) RunTask() { <-s.release }

// The watchdog has to name a task that blocks its loop while it still blocks it.
func TestWatchdogNamesTheHandler(t *testing.T) {
	t.Parallel()
	const handler = "millrace.dev/loop_test.(*slow).RunTask"
	name, record := firstReport(t)
	// The operating system lets any thread wait now and then: what the watchdog reports first
	// may be another turn, or this one before it has come to the task.
	for range 100 {
		if record["handler"] == handler {
			break
		}
		name, record = firstReport(t)
	}
	if record["level"] != "WARN" || record["loop"] != name || record["handler"] != handler ||
		!strings.Contains(record["stack"], "example_test.go") {
		t.Errorf("the report: %v", record)
	}
	if lines := strings.Split(record["stack"], "\n"); !slices.ContainsFunc(lines, func(s string) bool { return strings.HasPrefix(s, "millrace.dev/loop.(*Loop).run ") }) {
		t.Errorf("the stack is not the loop's: %q", lines)
	}
}

// firstReport blocks a loop, which it returns the name of, until anything is reported.
func firstReport(t *testing.T) (name string, record map[string]string) {
	t.Helper()
	w := warnings{slog.DiscardHandler, make(chan slog.Record, 100)}
	w.Handler = enabled{w.Handler}
	g, err := loop.NewGroup(loop.Options{Loops: 2, Logger: slog.New(w), WatchdogThreshold: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	task := &slow{make(chan struct{})}
	l := g.Next()
	if err := l.Run(task); err != nil {
		t.Fatal(err)
	}
	r := <-w.records
	close(task.release)
	if _, err := g.Shutdown(0, time.Minute).Wait(context.Background()); err != nil {
		t.Error(err)
	}
	record = map[string]string{"level": r.Level.String()}
	r.Attrs(func(a slog.Attr) bool { record[a.Key] = a.Value.String(); return true })
	return l.Name(), record
}

// enabled makes a handler that discards look at every record.
type enabled struct{ slog.Handler }

func (enabled) Enabled(context.Context, slog.Level) bool { return true }

// scratch is a buffer that each loop has for itself.
var scratch = loop.NewLocal(func(*loop.Loop) []byte { return make([]byte, 0, 64) }, nil)

func ExampleLocal() {
	m, err := loop.NewManual(loop.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	for i := range 2 {
		buf := scratch.Get(m.Loop())
		fmt.Println(i, len(*buf), cap(*buf) >= 64)
		*buf = fmt.Appendf((*buf)[:0], "round %d", i)
	}
	// Output:
	// 0 0 true
	// 1 7 true
}

// node is what ExampleRecycler uses again.
type node struct{ key string }

var nodes = loop.NewRecycler[node](64, nil)

func ExampleRecycler() {
	m, err := loop.NewManual(loop.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	l := m.Loop()
	first := nodes.Get(l)
	first.key = "a"
	*first = node{} // nothing is left that keeps memory
	nodes.Put(l, first)
	fmt.Println(nodes.Get(l) == first)
	// Output:
	// true
}
