package loop

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"millrace.dev/buffer/buffertest"
	"millrace.dev/internal/goid"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

// patience bounds every wait for something that has to happen; no test passes by waiting.
const patience = time.Minute

// startGroup returns a group that ends with the test. Its log goes to the returned buffer.
func startGroup(t *testing.T, o Options) (*Group, *logBuffer) {
	t.Helper()
	setDefault(&o.Loops, 1)
	log := &logBuffer{}
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(log, nil))
	}
	g, err := NewGroup(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end(t, g) })
	return g, log
}

// end shuts the group down and waits for that.
func end(t *testing.T, g *Group) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := g.Shutdown(0, 0).Wait(ctx); err != nil {
		t.Fatalf("shutdown: %v", err)
	}
}

// newManual returns a manual loop that ends with the test.
func newManual(t *testing.T, o Options) (*Manual, *logBuffer) {
	t.Helper()
	log := &logBuffer{}
	o.Logger = slog.New(slog.NewTextHandler(log, nil))
	m, err := NewManual(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m, log
}

// on runs fn on the loop and waits for it.
func on(t *testing.T, l *Loop, fn func()) {
	t.Helper()
	done := make(chan struct{})
	if err := l.Execute(func() { defer close(done); fn() }); err != nil {
		t.Fatal(err)
	}
	await(t, done)
}

// await waits for the channel to be closed or to give something.
func await[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatal("nothing happened")
		panic("unreachable")
	}
}

// eachPoller runs the test with the platform's poller and with the portable one.
func eachPoller(t *testing.T, test func(t *testing.T, o Options)) {
	t.Run("platform", func(t *testing.T) {
		t.Parallel()
		test(t, Options{})
	})
	t.Run("portable", func(t *testing.T) {
		t.Parallel()
		test(t, Options{newPoller: newChanPoller})
	})
}

// countingAllocations skips a test where naming the goroutine allocates, which it does on the
// processors that have no assembly for it.
func countingAllocations(t *testing.T) {
	t.Helper()
	if testing.AllocsPerRun(10, func() { goid.Current() }) != 0 {
		t.Skip("asking for the goroutine's name allocates here")
	}
}

// logBuffer collects a log.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func (b *logBuffer) count(what string) int { return strings.Count(b.String(), what) }

// Small handlers out of functions.
type (
	ioFunc      func(Event)
	timerFunc   func(*Timer)
	turnEndFunc func()
)

func (f ioFunc) HandleIO(ev Event)    { f(ev) }
func (f timerFunc) RunTimer(t *Timer) { f(t) }
func (f turnEndFunc) TurnEnd()        { f() }
