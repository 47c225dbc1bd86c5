package future

import (
	"errors"
	"slices"
	"strconv"
	"testing"
)

func TestMap(t *testing.T) {
	t.Parallel()
	p := NewPromise[int](nil)
	f := Map(p.Future(), func(i int) (string, error) { return strconv.Itoa(i), nil })
	if f.IsDone() {
		t.Fatal("done before its source")
	}
	p.TrySucceed(7)
	if v, err := f.Result(); v != "7" || err != nil {
		t.Fatalf("mapped: %q, %v", v, err)
	}
}

func TestMapPassesFailuresOn(t *testing.T) {
	t.Parallel()
	p := NewPromise[int](nil)
	f := Map(p.Future(), func(int) (int, error) { t.Error("called for a failure"); return 0, nil })
	p.TryFail(errTest)
	if f.Err() != errTest {
		t.Fatalf("failed source: %v", f.Err())
	}
	g := Map(Succeeded(nil, 1), func(int) (int, error) { return 0, errTest })
	if g.Err() != errTest {
		t.Fatalf("failing function: %v", g.Err())
	}
	h := Map(Succeeded(nil, 1), func(int) (int, error) { panic(errTest) })
	var p2 *PanicError
	if !errors.As(h.Err(), &p2) || !errors.Is(h.Err(), errTest) || len(p2.Stack) == 0 {
		t.Fatalf("panicking function: %v", h.Err())
	}
}

func TestMapCancellation(t *testing.T) {
	t.Parallel()
	p := NewPromise[int](nil)
	f := Map(Map(p.Future(), func(i int) (int, error) { return i, nil }),
		func(int) (int, error) { t.Error("called though cancelled"); return 0, nil })
	if !f.Cancel() || !p.Future().IsCancelled() {
		t.Fatal("the cancellation of the end did not reach the start")
	}
	q := NewPromise[int](nil)
	g := Map(q.Future(), func(i int) (int, error) { return i, nil })
	q.Future().Cancel()
	if !g.IsCancelled() {
		t.Fatal("the cancellation of the start did not reach the end")
	}
	// A source that cannot be cancelled goes on; its result comes too late and is not used.
	r := NewPromise[int](nil)
	r.SetUncancellable()
	h := Map(r.Future(), func(int) (int, error) { t.Error("called though cancelled"); return 0, nil })
	h.Cancel()
	r.TrySucceed(1)
	if !h.IsCancelled() {
		t.Fatal("a cancelled future got a result")
	}
}

func TestFlatMap(t *testing.T) {
	t.Parallel()
	p, q := NewPromise[int](nil), NewPromise[string](nil)
	f := FlatMap(p.Future(), func(int) Future[string] { return q.Future() })
	p.TrySucceed(7)
	if f.IsDone() {
		t.Fatal("done before the second step")
	}
	q.TrySucceed("x")
	if v, err := f.Result(); v != "x" || err != nil {
		t.Fatalf("%q, %v", v, err)
	}
}

func TestFlatMapFailures(t *testing.T) {
	t.Parallel()
	never := func(int) Future[int] { t.Error("called for a failure"); return Future[int]{} }
	if f := FlatMap(Failed[int](nil, errTest), never); f.Err() != errTest {
		t.Fatalf("failed source: %v", f.Err())
	}
	if f := FlatMap(Succeeded(nil, 1), func(int) Future[int] { return Failed[int](nil, errTest) }); f.Err() != errTest {
		t.Fatalf("failed second step: %v", f.Err())
	}
	if f := FlatMap(Succeeded(nil, 1), func(int) Future[int] { panic(errTest) }); !errors.Is(f.Err(), errTest) {
		t.Fatalf("panicking function: %v", f.Err())
	}
}

func TestFlatMapCancellation(t *testing.T) {
	t.Parallel()
	p, q := NewPromise[int](nil), NewPromise[int](nil)
	f := FlatMap(p.Future(), func(int) Future[int] { return q.Future() })
	p.TrySucceed(1)
	if !f.Cancel() || !q.Future().IsCancelled() {
		t.Fatal("the cancellation did not reach the second step")
	}
	r := NewPromise[int](nil)
	g := FlatMap(r.Future(), func(int) Future[int] { t.Error("called though cancelled"); return Future[int]{} })
	if !g.Cancel() || !r.Future().IsCancelled() {
		t.Fatal("the cancellation did not reach the first step")
	}
}

func TestCascade(t *testing.T) {
	t.Parallel()
	p, q := NewPromise[int](nil), NewPromise[int](nil)
	p.Future().CascadeTo(q)
	p.TrySucceed(7)
	if v, err := q.Future().Result(); v != 7 || err != nil {
		t.Fatalf("%v, %v", v, err)
	}
	p, q = NewPromise[int](nil), NewPromise[int](nil)
	p.Future().CascadeTo(q)
	if q.Future().Cancel(); !p.Future().IsCancelled() {
		t.Fatal("the cancellation did not travel back")
	}
	p, q = NewPromise[int](nil), NewPromise[int](nil)
	p.Future().CascadeTo(q)
	q.TrySucceed(8)
	p.TryFail(errTest)
	if v, err := q.Future().Result(); v != 8 || err != nil {
		t.Fatalf("a promise that was done got another result: %v, %v", v, err)
	}
}

func TestAll(t *testing.T) {
	t.Parallel()
	if v, err := All[int](nil).Result(); len(v) != 0 || err != nil {
		t.Fatalf("all of nothing: %v, %v", v, err)
	}
	p, q := NewPromise[int](nil), NewPromise[int](nil)
	f := All(nil, p.Future(), Succeeded(nil, 2), q.Future())
	q.TrySucceed(3)
	if f.IsDone() {
		t.Fatal("done with one missing")
	}
	p.TrySucceed(1)
	if v, err := f.Result(); !slices.Equal(v, []int{1, 2, 3}) || err != nil {
		t.Fatalf("%v, %v", v, err)
	}
}

func TestAllFailsFast(t *testing.T) {
	t.Parallel()
	p, q := NewPromise[int](nil), NewPromise[int](nil)
	f := All(nil, p.Future(), q.Future())
	q.TryFail(errTest)
	if f.Err() != errTest || p.Future().IsDone() {
		t.Fatalf("%v; the other is done: %v", f.Err(), p.Future().IsDone())
	}
	p, q = NewPromise[int](nil), NewPromise[int](nil)
	f = All(nil, p.Future(), q.Future())
	if q.Future().Cancel(); !f.IsCancelled() || p.Future().IsDone() {
		t.Fatalf("one was cancelled: %v; the other is done: %v", f.Err(), p.Future().IsDone())
	}
	p, q = NewPromise[int](nil), NewPromise[int](nil)
	All(nil, p.Future(), q.Future()).Cancel()
	if !p.Future().IsCancelled() || !q.Future().IsCancelled() {
		t.Fatal("the cancellation did not reach all")
	}
}
