// Package stats has the few statistics that a comparison of servers needs. A missing value
// is NaN, and a result that would rest on none is NaN too.
package stats

import (
	"math"
	"slices"
)

// Median returns the middle of the values that are not NaN, or the mean of the two in the
// middle.
func Median(values []float64) float64 {
	known := present(values)
	if len(known) == 0 {
		return math.NaN()
	}
	slices.Sort(known)
	mid := len(known) / 2
	if len(known)%2 == 1 {
		return known[mid]
	}
	return (known[mid-1] + known[mid]) / 2
}

// Ratios divides each value by the reference of the same index, that is of the same round.
// Indexes that only one of the two has, or whose reference is 0, are NaN.
func Ratios(values, reference []float64) []float64 {
	ratios := make([]float64, len(values))
	for i, v := range values {
		ratios[i] = math.NaN()
		if i < len(reference) && reference[i] != 0 {
			ratios[i] = v / reference[i]
		}
	}
	return ratios
}

// MedianRatio is the median of Ratios: what one round had in common, such as a busy
// machine, falls out of it, which a ratio of medians would keep.
func MedianRatio(values, reference []float64) float64 {
	return Median(Ratios(values, reference))
}

// Spread returns (largest - smallest) / median: how far the rounds differ.
func Spread(values []float64) float64 {
	known := present(values)
	if len(known) == 0 {
		return math.NaN()
	}
	return (slices.Max(known) - slices.Min(known)) / Median(known)
}

func present(values []float64) []float64 {
	known := make([]float64, 0, len(values))
	for _, v := range values {
		if !math.IsNaN(v) {
			known = append(known, v)
		}
	}
	return known
}
