package stats

import (
	"math"
	"testing"
)

var nan = math.NaN()

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{nil, nan},
		{[]float64{nan, nan}, nan},
		{[]float64{7}, 7},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 3, 2}, 2.5},
		{[]float64{nan, 9, 1, nan, 5}, 5},
	} {
		if got := Median(c.values); !same(got, c.want) {
			t.Errorf("Median(%v) = %v, want %v", c.values, got, c.want)
		}
	}
}

func TestMedianLeavesItsArgument(t *testing.T) {
	t.Parallel()
	values := []float64{3, 1, 2}
	Median(values)
	if values[0] != 3 || values[1] != 1 || values[2] != 2 {
		t.Errorf("values reordered: %v", values)
	}
}

// The second round ran on a machine half as fast: a ratio of medians would show 0.75.
func TestMedianRatioPairsRounds(t *testing.T) {
	t.Parallel()
	got := MedianRatio([]float64{100, 50, 90}, []float64{200, 100, 120})
	if got != 0.5 {
		t.Errorf("got %v, want 0.5", got)
	}
}

func TestRatiosOfMissingRounds(t *testing.T) {
	t.Parallel()
	got := Ratios([]float64{1, nan, 3, 4, 5}, []float64{2, 2, nan, 0})
	want := []float64{0.5, nan, nan, nan, nan}
	for i := range want {
		if !same(got[i], want[i]) {
			t.Errorf("index %d: got %v, want %v", i, got[i], want[i])
		}
	}
	if got := MedianRatio(nil, []float64{1}); !math.IsNaN(got) {
		t.Errorf("MedianRatio of nothing = %v", got)
	}
}

func TestSpread(t *testing.T) {
	t.Parallel()
	if got := Spread([]float64{8, nan, 10, 12}); got != 0.4 {
		t.Errorf("got %v, want 0.4", got)
	}
	if got := Spread(nil); !math.IsNaN(got) {
		t.Errorf("Spread of nothing = %v", got)
	}
}
