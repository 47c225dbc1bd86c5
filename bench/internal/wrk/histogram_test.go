package wrk

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// correct does to counts what wrk does after a run.
func correct(counts []int64, interval int64) {
	for n := 2 * interval; n < int64(len(counts)); n++ {
		for m := n - interval; counts[n] > 0 && m > interval; m -= interval {
			counts[m] += counts[n]
		}
	}
}

// printed is wrk's histogram line: it leaves out what lies below the smallest real sample.
func printed(counts []int64, smallest int, micros int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "1600 requests in 2.00s, 1MB read\nhistogram: %d", micros)
	for n := smallest; n < len(counts); n++ {
		if counts[n] > 0 {
			fmt.Fprintf(&b, " %d:%d", n, counts[n])
		}
	}
	return b.String()
}

func TestUndoCorrection(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		smallest, samples := 100+rnd.IntN(400), 1000
		counts := make([]int64, 3000)
		counts[smallest]++
		for range samples - 1 {
			counts[smallest+rnd.IntN(len(counts)-smallest)]++
		}
		p50, p99 := percentile(counts, 0.50), percentile(counts, 0.99)

		// 1,600 requests on 10 connections in 160 × 60 µs: an interval of 60 µs.
		correct(counts, 60)
		r, err := Parse(printed(counts, smallest, 160*60))
		if err != nil {
			t.Fatal(err)
		}
		r.undoCorrection(10)
		if r.P50 != p50 || r.P99 != p99 {
			t.Fatalf("seed %d: got %v and %v, want %v and %v", seed, r.P50, r.P99, p50, p99)
		}
	}
}

func TestUndoCorrectionWithoutSamples(t *testing.T) {
	t.Parallel()
	r := Result{Requests: 5, P50: 3, P99: 4, histogram: []bucket{{micros: 1}, {10, 5}}}
	r.undoCorrection(10) // not one request a connection: there is no interval
	if r.P50 != 3 || r.P99 != 4 {
		t.Errorf("percentiles changed: %v, %v", r.P50, r.P99)
	}
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	counts := []int64{-3, 0, 1, 0, 98, 1} // 100 samples
	for p, want := range map[float64]time.Duration{0.01: 2, 0.5: 4, 0.99: 4, 1: 5} {
		if got := percentile(counts, p); got != want*time.Microsecond {
			t.Errorf("p%v = %v, want %vµs", p*100, got, int(want))
		}
	}
	if got := percentile(nil, 0.5); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestLatenciesAreListedWhereTheyAreNeeded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p    Plan
		want bool
	}{{Plan{}, false}, {Plan{Pipeline: 16}, true}, {Plan{Pipeline: 16, NoLatencies: true}, false}} {
		if got := strings.Contains(c.p.script(), "histogram"); got != c.want {
			t.Errorf("%+v: %v", c.p, got)
		}
	}
}
