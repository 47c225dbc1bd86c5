package report

import (
	"math"

	"millrace.dev/bench/internal/notes"
	"millrace.dev/bench/internal/result"
)

// Report is what was measured, with the notes that stand beside the benchmarks.
type Report struct {
	Measured *result.Report
	// Notes are by topic. A topic without any is titled by its name.
	Notes map[string]notes.Notes
}

func (r Report) title(topic string) string {
	if n := r.Notes[topic]; n.Title != "" {
		return n.Title
	}
	return topic
}

// verdict is a judged target.
type verdict struct {
	notes.Target
	topic  string
	value  float64
	here   string // in words: "11.6 ns"
	result string // met, missed or not measured
}

const (
	met         = "met"
	missed      = "missed"
	notMeasured = "not measured"
)

func (r Report) verdicts() (all []verdict) {
	for _, topic := range r.Measured.Topics {
		for _, t := range r.Notes[topic.Name].Targets {
			v := verdict{Target: t, topic: topic.Name, result: notMeasured}
			var ok bool
			if v.value, ok = t.Value(r.Measured); ok {
				v.result = missed
				if t.Met(v.value) {
					v.result = met
				}
			}
			v.here = number(v.value)
			all = append(all, v)
		}
	}
	return all
}

func countMet(all []verdict) (n int) {
	for _, v := range all {
		if v.result == met {
			n++
		}
	}
	return n
}

// counterpart is a reported figure beside ours.
type counterpart struct {
	notes.Figure
	topic    string
	reported float64
	ratio    result.Ratio
	measured bool
}

// here is our ratio; NaN when it was not measured.
func (c counterpart) here() float64 {
	if !c.measured {
		return math.NaN()
	}
	return c.ratio.Center
}

func (r Report) counterparts() (all []counterpart) {
	for _, topic := range r.Measured.Topics {
		for _, f := range r.Notes[topic.Name].Figures {
			c := counterpart{Figure: f, topic: topic.Name, reported: f.Reported()}
			c.ratio, c.measured = f.Here(r.Measured)
			all = append(all, c)
		}
	}
	return all
}
