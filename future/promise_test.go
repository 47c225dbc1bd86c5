package future

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"millrace.dev/internal/goid"
	"millrace.dev/internal/loopset"
)

var errTest = errors.New("test")

func TestZeroFutureIsDone(t *testing.T) {
	t.Parallel()
	var f Future[int]
	ran := false
	f.OnComplete(func(Future[int]) { ran = true })
	v, err := f.Result()
	if !f.IsDone() || !f.IsSuccess() || f.IsFailed() || f.IsCancelled() || f.Cancel() ||
		f.Executor() != nil || f.Err() != nil || v != 0 || err != nil || !ran {
		t.Fatalf("the zero future: %v, %v, listener ran: %v", v, err, ran)
	}
}

func TestDoneFromTheStart(t *testing.T) {
	t.Parallel()
	ex := newHandLoop()
	s, f := Succeeded(ex, 7), Failed[int](ex, errTest)
	if v, err := s.Result(); v != 7 || err != nil || !s.IsSuccess() || s.IsFailed() || s.Cancel() {
		t.Fatalf("Succeeded: %v, %v", v, err)
	}
	if _, err := f.Result(); err != errTest || !f.IsFailed() || f.IsSuccess() || f.IsCancelled() || f.Err() != errTest {
		t.Fatalf("Failed: %v", err)
	}
	if s.Executor() != Executor(ex) {
		t.Fatal("Succeeded forgot its executor")
	}
}

func TestPromiseCompletesOnce(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"succeed", "fail", "cancel"} {
		p := NewPromise[int](nil)
		f := p.Future()
		if _, err := f.Result(); err != ErrPending || f.IsDone() || f.IsSuccess() || f.IsFailed() || f.Err() != nil {
			t.Fatalf("pending promise: %v", err)
		}
		var err error
		switch first {
		case "succeed":
			err = p.Succeed(7)
		case "fail":
			err = p.Fail(errTest)
		case "cancel":
			if !f.Cancel() {
				t.Fatal("a pending future cannot be cancelled")
			}
		}
		if err != nil || !f.IsDone() {
			t.Fatalf("%s: %v, done: %v", first, err, f.IsDone())
		}
		v, got := f.Result()
		if p.Succeed(8) != ErrDone || p.Fail(errTest) != ErrDone || p.TrySucceed(8) || p.TryFail(errTest) || f.Cancel() {
			t.Fatalf("%s: completed twice", first)
		}
		if v2, got2 := f.Result(); v != v2 || got != got2 {
			t.Fatalf("%s: the result changed from %v, %v to %v, %v", first, v, got, v2, got2)
		}
		if cancelled := first == "cancel"; f.IsCancelled() != cancelled || p.SetUncancellable() == cancelled {
			t.Fatalf("%s: cancelled is %v", first, f.IsCancelled())
		}
	}
}

func TestNilErrorsAreRefused(t *testing.T) {
	t.Parallel()
	for name, fn := range map[string]func(){
		"Fail":   func() { _ = NewPromise[int](nil).Fail(nil) },
		"Failed": func() { Failed[int](nil, nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s(nil) did not panic", name)
				}
			}()
			fn()
		}()
	}
}

func TestUncancellable(t *testing.T) {
	t.Parallel()
	p := NewPromise[int](nil)
	p.OnCancel(func() { t.Error("told of a cancellation that did not happen") })
	for range 2 { // the second time it is so already
		if !p.SetUncancellable() || p.Future().Cancel() {
			t.Fatal("an uncancellable future was cancelled")
		}
	}
	if err := p.Succeed(7); err != nil || !p.SetUncancellable() {
		t.Fatal(err)
	}
}

func TestCancelTellsTheWorker(t *testing.T) {
	t.Parallel()
	p := NewPromise[int](nil)
	told := 0
	p.OnCancel(func() { told++ })
	p.Future().Cancel()
	p.OnCancel(func() { told++ })
	if told != 2 {
		t.Fatalf("told %d times of the cancellation, want twice (before and after)", told)
	}
	if err := p.Future().Err(); !errors.Is(err, ErrCancelled) || !errors.Is(err, context.Canceled) {
		t.Fatalf("the error is %v", err)
	}
}

func TestListenerOrder(t *testing.T) {
	t.Parallel()
	ex := newHandLoop()
	p := NewPromise[int](ex)
	var order []int
	add := func(i int) { p.Future().OnComplete(func(Future[int]) { order = append(order, i) }) }
	add(1)
	p.Future().OnComplete(func(Future[int]) {
		order = append(order, 2)
		add(5) // from inside a listener: after those that were there before
		order = append(order, 3)
	})
	add(4)
	elsewhere(func() { p.TrySucceed(0) })
	if len(order) != 0 {
		t.Fatal("a listener ran off the executor")
	}
	add(6) // done, and on the executor: runs at once, and so must all before it
	// 6 was on the list before 2 had run and added 5.
	if want := []int{1, 2, 3, 4, 6, 5}; !slices.Equal(order, want) {
		t.Fatalf("order %v, want %v", order, want)
	}
	ex.run()
	add(7)
	if len(order) != 7 {
		t.Fatalf("%d listeners ran, want 7", len(order))
	}
}

func TestListenersAddedWhileCompleting(t *testing.T) {
	t.Parallel()
	const rounds, adders, each = 200, 4, 20
	for range rounds {
		p := NewPromise[int](nil)
		var ran atomic.Int64
		var wg sync.WaitGroup
		for range adders {
			wg.Go(func() {
				for range each {
					p.Future().OnCompleteWith(&ran, func(arg any, f Future[int]) {
						if v, err := f.Result(); v != 7 || err != nil {
							t.Errorf("a listener saw %v, %v", v, err)
						}
						arg.(*atomic.Int64).Add(1)
					})
				}
			})
		}
		wg.Go(func() { p.TrySucceed(7) })
		wg.Wait()
		if n := ran.Load(); n != adders*each {
			t.Fatalf("%d listeners ran, want %d", n, adders*each)
		}
	}
}

func TestOneOfManyCompletes(t *testing.T) {
	t.Parallel()
	for range 200 {
		p := NewPromise[int](nil)
		var won atomic.Int64
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				ok := false
				switch i % 3 {
				case 0:
					ok = p.TrySucceed(i)
				case 1:
					ok = p.TryFail(errTest)
				case 2:
					ok = p.Future().Cancel()
				}
				if ok {
					won.Add(1)
				}
				if !p.Future().IsDone() && ok {
					t.Error("the winner's future is not done")
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 || !p.Future().IsDone() {
			t.Fatalf("%d completions, want 1", won.Load())
		}
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	p := NewPromise[int](nil)
	waiting := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		close(waiting)
		if v, err := p.Future().Wait(context.Background()); v != 7 || err != nil {
			t.Errorf("Wait: %v, %v", v, err)
		}
	})
	<-waiting
	p.TrySucceed(7)
	wg.Wait()
	if v, err := p.Future().Wait(context.Background()); v != 7 || err != nil {
		t.Fatalf("Wait when done: %v, %v", v, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := NewPromise[int](nil).Future().Wait(ctx); err != context.Canceled {
		t.Fatalf("Wait with a cancelled context: %v", err)
	}
}

func TestWaitRefusesToBlockALoop(t *testing.T) {
	t.Parallel()
	elsewhere(func() {
		loopset.Add(goid.Current(), nil)
		defer loopset.Remove(goid.Current())
		for _, f := range []Future[int]{NewPromise[int](nil).Future(), Succeeded(nil, 1)} {
			if _, err := f.Wait(context.Background()); err != ErrBlockingOnLoop {
				t.Errorf("on a loop: %v, want ErrBlockingOnLoop", err)
			}
		}
	})
	ex := newHandLoop()
	if _, err := NewPromise[int](ex).Future().Wait(context.Background()); err != ErrBlockingOnLoop {
		t.Fatalf("on the executor that would have to complete it: %v, want ErrBlockingOnLoop", err)
	}
	if v, err := Succeeded(ex, 7).Wait(context.Background()); v != 7 || err != nil {
		t.Fatalf("done, on a goroutine that is no loop: %v, %v", v, err)
	}
}

// ledger is a source of many futures, as a channel's list of writes is.
type ledger struct{ written uint64 }

func (l *ledger) Result(token uint64) (v int, err error, done bool) {
	return int(token), nil, token <= l.written
}
func (l *ledger) Listen(uint64, any, func(any, Future[int])) {}
func (l *ledger) Cancel(uint64) bool                         { return false }
func (l *ledger) Executor() Executor                         { return nil }

func TestSourcesKnowTheirTokens(t *testing.T) {
	t.Parallel()
	l := &ledger{written: 2}
	if v, err := Make(l, 2).Result(); v != 2 || err != nil {
		t.Fatalf("token 2: %v, %v", v, err)
	}
	if v, err := Make(l, 3).Result(); v != 0 || err != ErrPending {
		t.Fatalf("token 3: %v, %v", v, err)
	}
}

func TestAllocations(t *testing.T) {
	if testing.AllocsPerRun(10, func() { goid.Current() }) != 0 {
		t.Skip("asking for the goroutine's name allocates on this processor")
	}
	ex := newHandLoop()
	var embedded struct{ p Promise[Void] }
	arg := new(int)
	plain := func(Future[Void]) {}
	with := func(any, Future[Void]) {}
	for _, c := range []struct {
		what string
		want float64
		fn   func()
	}{
		{"a promise nobody listens to: itself", 1, func() { NewPromise[Void](ex).TrySucceed(Void{}) }},
		{"an embedded one", 0, func() {
			embedded.p = Promise[Void]{}
			embedded.p.Init(ex)
			f := embedded.p.Future()
			embedded.p.TrySucceed(Void{})
			if !f.IsSuccess() {
				t.Fatal("not done")
			}
		}},
		{"a listener: its entry", 1, func() {
			embedded.p = Promise[Void]{}
			embedded.p.Init(ex)
			embedded.p.Future().OnCompleteWith(arg, with)
			embedded.p.TrySucceed(Void{})
		}},
		{"a plain listener: its entry, and the adapter that knows T", 2, func() {
			embedded.p = Promise[Void]{}
			embedded.p.Init(ex)
			embedded.p.Future().OnComplete(plain)
			embedded.p.TrySucceed(Void{})
		}},
		{"a listener of a done future", 0, func() { embedded.p.Future().OnCompleteWith(arg, with) }},
	} {
		if n := testing.AllocsPerRun(100, c.fn); n != c.want {
			t.Errorf("%s: %v allocations, want %v", c.what, n, c.want)
		}
	}
}

func BenchmarkPromise(b *testing.B) {
	b.Run("nobody listens", func(b *testing.B) {
		ex := newHandLoop()
		b.ReportAllocs()
		for b.Loop() {
			NewPromise[Void](ex).TrySucceed(Void{})
		}
	})
	b.Run("one listener", func(b *testing.B) {
		ex := newHandLoop()
		b.ReportAllocs()
		for b.Loop() {
			p := NewPromise[Void](ex)
			p.Future().OnCompleteWith(p, func(any, Future[Void]) {})
			p.TrySucceed(Void{})
		}
	})
}
