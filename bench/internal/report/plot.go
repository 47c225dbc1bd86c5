package report

import (
	"math"

	"millrace.dev/bench/internal/result"
)

// plotWidth is the width of a plot in the units of its view box.
const plotWidth = 1000

// bar is a horizontal bar with a whisker, in units of plotWidth.
type bar struct {
	Start, Width float64
	// Lo and Hi are the whisker's ends, if there is a Whisker. One that is Cut goes on beyond
	// the plot.
	Lo, Hi       float64
	Whisker, Cut bool
}

// timeScale returns the time at the right end of a row's plots: the longest one with its
// interval, but not so far that a single slow repetition would squeeze all bars.
func timeScale(row *result.Row) float64 {
	var longest, high float64
	for _, a := range row.Alternatives {
		if s, ok := a.Summary(result.Time); ok {
			longest = max(longest, s.Center)
			if !math.IsInf(s.Hi, 0) {
				high = max(high, s.Hi)
			}
		}
	}
	return max(longest, min(high, 1.3*longest))
}

// newBar scales a value and its interval so that top is the plot's full width.
func newBar(center, lo, hi, top float64) bar {
	if !(top > 0) {
		return bar{}
	}
	b := bar{Width: plotted(center / top)}
	if lo < hi && !math.IsInf(lo, 0) && !math.IsInf(hi, 0) {
		b.Lo, b.Hi, b.Whisker, b.Cut = plotted(lo/top), plotted(hi/top), true, hi > top
	}
	return b
}

// plotted is a part of the width, in units of plotWidth. A tenth of a unit is no pixel.
func plotted(part float64) float64 {
	return math.Round(10*plotWidth*min(1, max(0, part))) / 10
}

// ratioAxis is a logarithmic axis: reported ratios go from less than 1 to hundreds, and half
// is as far from 1 as twice.
type ratioAxis struct{ least, most float64 }

// newRatioAxis returns the axis on which all figures have their place, and 1 as well.
func newRatioAxis(figures []counterpart) ratioAxis {
	a := ratioAxis{1, 2}
	for _, f := range figures {
		for _, v := range []float64{f.reported, f.here()} {
			if v > 0 && !math.IsInf(v, 1) { // false for NaN
				a.least, a.most = min(a.least, v), max(a.most, v)
			}
		}
	}
	return a
}

// at returns the place of a ratio.
func (a ratioAxis) at(v float64) float64 {
	return plotted(math.Log(v/a.least) / math.Log(a.most/a.least))
}

// bar returns a bar from 1 to a ratio; an empty one for what is no ratio.
func (a ratioAxis) bar(v float64) bar {
	if !(v > 0) || math.IsInf(v, 1) {
		return bar{}
	}
	one, end := a.at(1), a.at(v)
	return bar{Start: min(one, end), Width: math.Round(10*math.Abs(end-one)) / 10}
}
