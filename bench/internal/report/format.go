package report

import (
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"

	"millrace.dev/bench/internal/result"
	"millrace.dev/bench/internal/table"
)

// number formats v with three significant digits, or all of the whole part.
func number(v float64) string {
	if v == 0 {
		return "0"
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	if digits <= 0 || v == math.Trunc(v) {
		return table.Number(v, 0)
	}
	return table.Number(v, min(digits, 6))
}

// duration formats seconds with a unit that keeps the number small: "12.3 ns".
func duration(seconds float64) string {
	return scaled(seconds, []scale{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}, {"ns", 1e-9}})
}

// rate formats bytes per second.
func rate(v float64) string {
	return scaled(v, []scale{{"GB/s", 1e9}, {"MB/s", 1e6}, {"kB/s", 1e3}, {"B/s", 1}})
}

type scale struct {
	name string
	size float64
}

// scaled formats v with three significant digits in the first unit that it reaches, or else
// in the last one.
func scaled(v float64, units []scale) string {
	for i, u := range units {
		n := v / u.size
		if n < 0.9995 && i < len(units)-1 { // from there on 999.5 would read as 1,000
			continue
		}
		digits := 0
		if n > 0 {
			digits = min(3, max(0, 2-int(math.Floor(math.Log10(1.0005*n)))))
		}
		return table.Number(n, digits) + " " + u.name
	}
	return table.Missing
}

// quantity formats a value of any unit that benchmarks have.
func quantity(v float64, unit string) string {
	switch {
	case unit == result.Time:
		return duration(v)
	case strings.HasPrefix(unit, "sec/"):
		return duration(v) + "/" + strings.TrimPrefix(unit, "sec/")
	case unit == result.Rate:
		return rate(v)
	}
	return strings.TrimSpace(number(v) + " " + unit)
}

// interval formats a confidence interval as its larger half in percent; empty when there is
// none.
func interval(s benchmath.Summary) string {
	if text := s.PctRangeString(); strings.HasSuffix(text, "%") {
		return "±" + strings.TrimSuffix(text, "%") + " %"
	}
	return ""
}

// ratio formats how many times faster something is; "~" says that it may be chance.
func ratio(r result.Ratio) string {
	if !r.Significant() {
		return "~" + times(r.Center)
	}
	return times(r.Center)
}

// times formats a factor: "976", "9.11", "0.004".
func times(v float64) string {
	switch {
	case v < 0.0995:
		return table.Number(v, 3)
	case v < 99.95:
		return table.Number(v, 2)
	}
	return table.Number(v, 0)
}

// change formats a quantity before and after, or once when they read the same.
func change(before, after float64, unit string) string {
	from, to := quantity(before, unit), quantity(after, unit)
	if from == to {
		return to
	}
	return strings.TrimSuffix(from, " "+unit) + " → " + to
}

// extras returns the units that a benchmark reports beyond time and allocations, sorted; the
// rate is left out, since it follows from the time.
func extras(b *result.Benchmark) (units []string) {
	for unit := range b.Values {
		switch unit {
		case result.Time, result.Bytes, result.Allocs, result.Rate:
		default:
			units = append(units, unit)
		}
	}
	slices.Sort(units)
	return units
}
