package result

import (
	"math"
	"slices"
	"testing"
)

// timed is a benchmark with these times.
func timed(seconds ...float64) *Benchmark {
	return &Benchmark{Values: map[string][]float64{Time: seconds}}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	b := timed(6, 1, 5, 2, 4, 3)
	s, ok := b.Summary(Time)
	if !ok || s.Center != 3.5 || s.Lo != 1 || s.Hi != 6 {
		t.Errorf("of six: %+v", s)
	}
	if !slices.Equal(b.Values[Time], []float64{6, 1, 5, 2, 4, 3}) {
		t.Errorf("the order is gone: %v", b.Values[Time])
	}
	if s, _ := timed(1, 2, 3).Summary(Time); s.Center != 2 || !math.IsInf(s.Hi, 1) {
		t.Errorf("of three: %+v", s)
	}
	if s, ok := b.Summary(Allocs); ok || !math.IsNaN(s.Center) || !math.IsNaN(b.Median(Allocs)) {
		t.Errorf("of none: %+v", s)
	}
}

func TestRatioIsPaired(t *testing.T) {
	t.Parallel()
	// The third repetition was a slow one for both.
	r, ok := RatioOf(timed(10, 12, 50, 10, 11, 10), timed(5, 6, 25, 5, 5.5, 5))
	if !ok || r.Center != 2 || r.Lo != 2 || r.Hi != 2 || !r.Significant() {
		t.Errorf("%+v", r)
	}
	if r, _ := RatioOf(timed(10, 20, 30, 40), timed(10, 20, 30, 41)); r.Significant() {
		t.Errorf("nearly the same differs: %+v", r)
	}
	if r, _ := RatioOf(timed(10, 10, 10), timed(1, 1, 1)); r.Significant() {
		t.Errorf("three repetitions can't tell: %+v", r)
	}
}

func TestRatioOfUnequalNumbers(t *testing.T) {
	t.Parallel()
	r, ok := RatioOf(timed(10, 12, 11), timed(5, 6))
	if !ok || r.Center != 2 || !math.IsInf(r.Hi, 1) {
		t.Errorf("%+v", r)
	}
}

func TestRatioOfNothing(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]*Benchmark{{nil, timed(1)}, {timed(1), nil}, {timed(), timed(1)}, {timed(1), {}}} {
		if r, ok := RatioOf(pair[0], pair[1]); ok {
			t.Errorf("%+v", r)
		}
	}
}
