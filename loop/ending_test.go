package loop

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"millrace.dev/future"
)

// TestEndingRandomly ends loops while several goroutines, and tasks of the loops themselves,
// give them work: what was accepted runs, what was refused doesn't, and every future has its end.
func TestEndingRandomly(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 6))
		g, _ := startGroup(t, Options{Loops: 2, Tick: time.Millisecond})
		var accepted, ran atomic.Int64
		var mu sync.Mutex
		var planned []future.Future[future.Void]
		var give func(l, other *Loop, depth int)
		give = func(l, other *Loop, depth int) {
			task := func() {
				ran.Add(1)
				if depth > 0 {
					give(other, l, depth-1)
					give(l, other, depth-1)
				}
			}
			accepted.Add(1) // before it runs
			if err := l.Execute(task); err != nil {
				accepted.Add(-1)
				if !errors.Is(err, ErrShutdown) {
					t.Errorf("refused with %v", err)
				}
			}
			f := l.Schedule(time.Duration(depth)*time.Millisecond, func() {})
			if depth == 1 {
				f.Cancel()
			}
			mu.Lock()
			planned = append(planned, f)
			mu.Unlock()
		}
		var giving sync.WaitGroup
		for i := range 4 {
			giving.Go(func() {
				l, other := g.Loops()[i%2], g.Loops()[(i+1)%2]
				for n := range 60 {
					give(l, other, n%4)
					if i == 0 && n == 30 {
						g.Shutdown(time.Duration(rnd.IntN(2))*time.Millisecond, time.Duration(rnd.IntN(20))*time.Millisecond)
					}
				}
			})
		}
		giving.Wait()
		if _, err := g.Shutdown(0, patience).Wait(ctx); err != nil {
			t.Fatal(err)
		}
		if a, r := accepted.Load(), ran.Load(); a != r {
			t.Fatalf("seed %d: %d tasks accepted, %d ran", seed, a, r)
		}
		for i, f := range planned {
			if _, err := f.Wait(ctx); !f.IsDone() {
				t.Fatalf("seed %d: scheduled function %d has no end: %v", seed, i, err)
			}
		}
		if s := g.Stats(); s.Timers != 0 || s.Queued != 0 {
			t.Fatalf("seed %d: %+v is left", seed, s)
		}
	}
}
