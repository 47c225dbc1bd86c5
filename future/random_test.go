package future

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// derived is a future that was made of others, and what it must be if nobody cancels it.
type derived struct {
	f    Future[int]
	want func() (int, error) // once what it was made of is done
	told atomic.Int32
}

func (d *derived) listen() {
	for range 2 {
		d.f.OnComplete(func(Future[int]) { d.told.Add(1) })
	}
}

// result is what became of a future that is done.
func result(f Future[int]) func() (int, error) { return f.Result }

var errOther = errors.New("other")

// combine makes another future of some of those that there are.
func combine(rnd *rand.Rand, ex Executor, all []*derived) *derived {
	src := all[rnd.IntN(len(all))]
	other := all[rnd.IntN(len(all))]
	number := rnd.IntN(100)
	d := &derived{}
	switch rnd.IntN(5) {
	case 0:
		d.f = Map(src.f, func(v int) (int, error) { return v + number, nil })
		d.want = func() (int, error) {
			v, err := src.f.Result()
			if err != nil {
				return 0, err
			}
			return v + number, nil
		}
	case 1:
		d.f = Map(src.f, func(int) (int, error) { return 0, errOther })
		d.want = func() (int, error) {
			if err := src.f.Err(); err != nil {
				return 0, err
			}
			return 0, errOther
		}
	case 2:
		d.f = FlatMap(src.f, func(int) Future[int] { return other.f })
		d.want = func() (int, error) {
			if err := src.f.Err(); err != nil {
				return 0, err
			}
			return other.f.Result()
		}
	case 3:
		p := NewPromise[int](ex)
		src.f.CascadeTo(p)
		d.f, d.want = p.Future(), result(src.f)
	default:
		both := All(ex, src.f, other.f)
		d.f = Map(both, func(v []int) (int, error) { return v[0] + v[1], nil })
		d.want = func() (int, error) {
			v, err := src.f.Result()
			w, err2 := other.f.Result()
			if err != nil || err2 != nil {
				return 0, both.Err() // that of either
			}
			return v + w, nil
		}
	}
	d.listen()
	return d
}

// TestCombinationsRandomly completes and cancels, from several goroutines at once, futures that
// depend on one another in every way. Each ends, with what those that it depends on ended with,
// and each of its listeners is told once.
func TestCombinationsRandomly(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for seed := range uint64(150) {
		rnd := rand.New(rand.NewPCG(seed, 11))
		var ex Executor
		if rnd.IntN(2) == 0 {
			ex = goroutines{}
		}
		var promises []*Promise[int]
		var all []*derived
		for range 3 {
			p := NewPromise[int](ex)
			d := &derived{f: p.Future(), want: result(p.Future())}
			d.listen()
			promises, all = append(promises, p), append(all, d)
		}
		for range 12 {
			all = append(all, combine(rnd, ex, all))
		}
		cancels := rnd.IntN(2) == 0
		var acting sync.WaitGroup
		for i := range 4 {
			own := rand.New(rand.NewPCG(seed, uint64(i)))
			acting.Go(func() {
				for _, p := range promises {
					act(own, p, all, cancels)
				}
			})
		}
		acting.Wait()
		for _, p := range promises {
			p.TrySucceed(1)
		}
		for i, d := range all {
			if _, err := d.f.Wait(ctx); err != nil && ctx.Err() != nil {
				t.Fatalf("seed %d: future %d never ended", seed, i)
			}
		}
		for i, d := range all {
			if err := d.check(ctx, cancels); err != nil {
				t.Fatalf("seed %d: future %d: %v", seed, i, err)
			}
		}
	}
}

func act(rnd *rand.Rand, p *Promise[int], all []*derived, cancels bool) {
	switch rnd.IntN(5) {
	case 0:
		p.TrySucceed(rnd.IntN(10))
	case 1:
		p.TryFail(errTest)
	case 2:
		p.SetUncancellable()
	case 3:
		if cancels {
			p.Future().Cancel()
		}
	case 4:
		if d := all[rnd.IntN(len(all))]; cancels && d.f.Cancel() && !d.f.IsCancelled() {
			panic("cancelled, and not cancelled")
		}
	}
}

func (d *derived) check(ctx context.Context, cancels bool) error {
	for d.told.Load() < 2 && ctx.Err() == nil {
		runtime.Gosched()
	}
	v, err := d.f.Result()
	w, err2 := d.want()
	switch {
	case d.told.Load() != 2:
		return fmt.Errorf("%d of 2 listeners were told", d.told.Load())
	case cancels && d.f.IsCancelled():
		return nil // by somebody, or with what it depends on
	case v != w || err != err2:
		return fmt.Errorf("ended with %v, %v; want %v, %v", v, err, w, err2)
	}
	return nil
}

// goroutines is an executor that is never where it is asked.
type goroutines struct{}

func (goroutines) InLoop() bool { return false }
func (goroutines) Execute(task func()) error {
	go task()
	return nil
}
