package future

import (
	"errors"
	"sync"
	"testing"

	"millrace.dev/internal/goid"
)

// handLoop is an executor that the test drives; it belongs to the goroutine that made it.
type handLoop struct {
	owner  uintptr
	mu     sync.Mutex
	queue  []func()
	closed bool
}

func newHandLoop() *handLoop { return &handLoop{owner: goid.Current()} }

func (h *handLoop) InLoop() bool { return goid.Current() == h.owner }

func (h *handLoop) Execute(task func()) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return errors.New("closed")
	}
	h.queue = append(h.queue, task)
	return nil
}

// run runs what is queued, and what that queues, and returns the number of tasks.
func (h *handLoop) run() (n int) {
	for {
		h.mu.Lock()
		if len(h.queue) == 0 {
			h.mu.Unlock()
			return n
		}
		task := h.queue[0]
		h.queue = h.queue[1:]
		h.mu.Unlock()
		task()
		n++
	}
}

func (h *handLoop) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
}

// hostLoop is a handLoop with the extras of Host.
type hostLoop struct {
	*handLoop
	depth, deepest, limit int
	ran                   int // tasks that came through Run
	panics                []any
}

func newHostLoop(limit int) *hostLoop { return &hostLoop{handLoop: newHandLoop(), limit: limit} }

func (h *hostLoop) Run(task Task) error { h.ran++; return h.Execute(task.RunTask) }
func (h *hostLoop) LeaveListener()      { h.depth-- }
func (h *hostLoop) EnterListener() bool {
	if h.depth >= h.limit {
		return false
	}
	h.depth++
	h.deepest = max(h.deepest, h.depth)
	return true
}
func (h *hostLoop) ReportPanic(_ string, value any) { h.panics = append(h.panics, value) }

// elsewhere runs fn on another goroutine and waits for it.
func elsewhere(fn func()) {
	var wg sync.WaitGroup
	wg.Go(fn)
	wg.Wait()
}

func TestListenersRunOnTheExecutor(t *testing.T) {
	t.Parallel()
	ex := newHandLoop()
	p := NewPromise[int](ex)
	var on []bool
	p.Future().OnComplete(func(Future[int]) { on = append(on, ex.InLoop()) })
	elsewhere(func() {
		p.Future().OnComplete(func(Future[int]) { on = append(on, ex.InLoop()) })
		p.TrySucceed(1)
		p.Future().OnComplete(func(Future[int]) { on = append(on, ex.InLoop()) })
	})
	if len(on) != 0 {
		t.Fatal("a listener ran before its executor did")
	}
	ex.run()
	if len(on) != 3 || !on[0] || !on[1] || !on[2] {
		t.Fatalf("listeners on the executor: %v, want 3 times true", on)
	}
	p.Future().OnComplete(func(Future[int]) { on = append(on, ex.InLoop()) })
	if len(on) != 4 {
		t.Fatal("a listener of a done future did not run at once on the executor")
	}
}

func TestListenersAreNotLostWhenTheExecutorHasEnded(t *testing.T) {
	t.Parallel()
	ex := newHandLoop()
	ex.close()
	p := NewPromise[int](ex)
	n := 0
	elsewhere(func() {
		p.Future().OnComplete(func(Future[int]) { n++ })
		p.TrySucceed(1)
		p.Future().OnComplete(func(Future[int]) { n++ })
		Succeeded(ex, 1).OnComplete(func(Future[int]) { n++ })
	})
	if n != 3 {
		t.Fatalf("%d listeners ran, want 3", n)
	}
}

func TestNestingIsBounded(t *testing.T) {
	t.Parallel()
	const limit, links = 4, 100
	for name, start := range map[string]func(ex Executor) Future[int]{
		"done future": func(ex Executor) Future[int] { return Succeeded(ex, 1) },
		"promise completed under way": func(ex Executor) Future[int] {
			p := NewPromise[int](ex)
			p.TrySucceed(1)
			return p.Future()
		},
	} {
		ex := newHostLoop(limit)
		n := 0
		var next func(Future[int])
		next = func(Future[int]) {
			if n++; n < links {
				start(ex).OnComplete(next)
			}
		}
		start(ex).OnComplete(next)
		ex.run()
		if n != links {
			t.Errorf("%s: %d of %d listeners ran", name, n, links)
		}
		if ex.deepest > limit || ex.depth != 0 {
			t.Errorf("%s: depth up to %d, in the end %d; want at most %d, then 0", name, ex.deepest, ex.depth, limit)
		}
	}
}

func TestNestingThroughPromisesIsBounded(t *testing.T) {
	t.Parallel()
	const limit, links = 4, 100
	ex := newHostLoop(limit)
	ps := make([]*Promise[int], links)
	for i := range ps {
		ps[i] = NewPromise[int](ex)
	}
	n := 0
	for i, p := range ps {
		p.Future().OnComplete(func(Future[int]) {
			n++
			if i+1 < links {
				ps[i+1].TrySucceed(0)
			}
		})
	}
	ps[0].TrySucceed(0)
	ex.run()
	if n != links || ex.deepest > limit || ex.depth != 0 {
		t.Fatalf("%d of %d ran, depth up to %d (limit %d), then %d", n, links, ex.deepest, limit, ex.depth)
	}
}

func TestPanicsOfListenersAreContained(t *testing.T) {
	t.Parallel()
	ex := newHostLoop(10)
	p := NewPromise[int](ex)
	var order []int
	for i := range 4 {
		p.Future().OnComplete(func(Future[int]) {
			order = append(order, i)
			if i%2 == 1 {
				panic(i)
			}
		})
	}
	p.TrySucceed(0)
	p.Future().OnComplete(func(Future[int]) { panic("late") })
	if len(order) != 4 {
		t.Fatalf("listeners that ran: %v, want all four", order)
	}
	if len(ex.panics) != 3 || ex.panics[0] != 1 || ex.panics[1] != 3 || ex.panics[2] != "late" {
		t.Fatalf("reported panics: %v, want 1, 3, late", ex.panics)
	}
	if ex.depth != 0 {
		t.Fatalf("nesting is %d after a panic, want 0", ex.depth)
	}
}

func TestHostGetsTasksInsteadOfClosures(t *testing.T) {
	t.Parallel()
	ex := newHostLoop(10)
	p := NewPromise[int](ex)
	n := 0
	p.Future().OnComplete(func(Future[int]) { n++ })
	elsewhere(func() { p.TrySucceed(1) })
	elsewhere(func() { p.Future().OnComplete(func(Future[int]) { n++ }) })
	if ex.ran == 0 {
		t.Fatal("nothing went through Run")
	}
	ex.run()
	if n != 2 {
		t.Fatalf("%d listeners ran, want 2", n)
	}
}

func TestPanicErrorUnwraps(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	if err := error(&PanicError{Value: cause}); !errors.Is(err, cause) {
		t.Fatal("a panic with an error does not match that error")
	}
	if err := (&PanicError{Value: 7}); err.Unwrap() != nil || err.Error() != "panic: 7" {
		t.Fatalf("a panic with a number: %v, wraps %v", err, err.Unwrap())
	}
}
