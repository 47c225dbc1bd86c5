package result

import (
	"math"

	"golang.org/x/perf/benchmath"

	"millrace.dev/bench/internal/stats"
)

// The units that every benchmark has, in benchfmt's base units.
const (
	Time   = "sec/op"
	Bytes  = "B/op"
	Allocs = "allocs/op"
	// Rate comes from SetBytes.
	Rate = "B/s"
)

// confidence is the level of all intervals.
const confidence = 0.95

// Summary returns the median of the values of a unit with its confidence interval, which is
// infinite when there are too few values (fewer than 6), and whether there are any.
func (b *Benchmark) Summary(unit string) (benchmath.Summary, bool) {
	values := b.Values[unit]
	if len(values) == 0 {
		return benchmath.Summary{Center: math.NaN()}, false
	}
	return summarise(values), true
}

// Median returns the median of the values of a unit; NaN when there are none.
func (b *Benchmark) Median(unit string) float64 {
	s, _ := b.Summary(unit)
	return s.Center
}

func sample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(append([]float64(nil), values...), &benchmath.DefaultThresholds) // it sorts
}

func summarise(values []float64) benchmath.Summary {
	return benchmath.AssumeNothing.Summary(sample(values), confidence)
}

// Ratio is how much faster one benchmark is than another.
type Ratio struct {
	// Summary is of time(reference)/time(benchmark): above 1 the benchmark is faster.
	benchmath.Summary
	// Comparison tells whether the times differ.
	benchmath.Comparison
}

// Significant says whether the two benchmarks differ, as far as the repetitions can tell.
func (r Ratio) Significant() bool { return r.P <= r.Alpha }

// RatioOf compares the times of two benchmarks; ok is false when one was not measured. The
// ratio is computed in each repetition, and its median is taken: a slow minute, which both
// alternatives of a repetition saw, falls out of it. Where repetitions are missing in one of
// them, it is the ratio of the medians. Whether the difference is significant is the
// Mann-Whitney test's answer, as in benchstat, and doesn't pair the repetitions.
func RatioOf(reference, b *Benchmark) (r Ratio, ok bool) {
	if reference == nil || b == nil || len(reference.Values[Time]) == 0 || len(b.Values[Time]) == 0 {
		return r, false
	}
	old, new := reference.Values[Time], b.Values[Time]
	if len(old) == len(new) {
		r.Summary = summarise(stats.Ratios(old, new))
	} else {
		r.Summary = benchmath.Summary{Center: reference.Median(Time) / b.Median(Time), Lo: math.Inf(-1), Hi: math.Inf(1)}
	}
	r.Comparison = benchmath.AssumeNothing.Compare(sample(old), sample(new))
	return r, true
}
