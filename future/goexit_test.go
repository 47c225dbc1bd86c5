package future

import (
	"errors"
	"runtime"
	"testing"
)

// ended runs f on a goroutine of its own, which f may end.
func ended(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// A listener that ends its goroutine, as testing's FailNow does, takes no other's call with it.
func TestListenerThatEndsItsGoroutine(t *testing.T) {
	t.Parallel()
	for name, ex := range map[string]Executor{"no executor": nil, "executor": &inline{}} {
		p := NewPromise[int](ex)
		var told []int
		listen := func(i int, and func()) {
			p.Future().OnComplete(func(Future[int]) {
				told = append(told, i)
				and()
			})
		}
		nothing := func() {}
		listen(1, func() {
			listen(4, nothing)
			runtime.Goexit()
		})
		listen(2, runtime.Goexit)
		listen(3, nothing)
		ended(func() { p.TrySucceed(1) })
		listen(5, nothing)
		for i := range told {
			if told[i] != i+1 {
				t.Fatalf("%s: told %v", name, told)
			}
		}
		if len(told) != 5 {
			t.Errorf("%s: told %v", name, told)
		}
	}
}

// inline is an executor whose goroutine is everybody's.
type inline struct{}

func (*inline) InLoop() bool         { return true }
func (*inline) Execute(func()) error { return errTest }

// A function that ends its goroutine fails the future that waits for it.
func TestFunctionThatEndsItsGoroutine(t *testing.T) {
	t.Parallel()
	for name, combine := range map[string]func(Future[int]) Future[int]{
		"Map": func(f Future[int]) Future[int] {
			return Map(f, func(int) (int, error) { runtime.Goexit(); return 0, nil })
		},
		"FlatMap": func(f Future[int]) Future[int] {
			return FlatMap(f, func(int) Future[int] { runtime.Goexit(); return f })
		},
	} {
		p := NewPromise[int](nil)
		f := combine(p.Future())
		ended(func() { p.TrySucceed(1) })
		var gone *PanicError
		if !errors.As(f.Err(), &gone) || gone.Value != nil || gone.Error() == "" {
			t.Errorf("%s: done %v, %v", name, f.IsDone(), f.Err())
		}
	}
}
