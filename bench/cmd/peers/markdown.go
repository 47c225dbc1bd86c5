package main

import (
	"fmt"
	"io"
	"strings"

	"millrace.dev/bench/internal/table"
)

const howToRead = `Figures are medians over %d rounds of %g s; client and servers share the machine, so only
ratios within one run count. A ratio is computed in each round against the same round's
reference; its median is shown. "per CPU-s" is answers per second of the server's processor
time. Where requests are pipelined, times are of the whole batch. Spread is
(largest - smallest) / median of the first column. For times and memory a ratio below 1 is the
better one. "Others" is the part of the machine that neither the server nor the load generator
used: the larger it is, the less the figures are worth.
`

// markdown is the whole report.
func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# HTTP servers compared\n\n    %s\n\n", r.Command)
	fmt.Fprintf(&b, "%s. %s; %d event loop(s), %d thread(s) of load.\n\n", r.Started.Format("2 January 2006"), r.Host, r.Loops, r.Threads)
	fmt.Fprintf(&b, howToRead, r.Rounds, r.Seconds)
	b.WriteByte('\n')
	rows := [][]string{{"server", "what", "version"}}
	for _, s := range r.Servers {
		rows = append(rows, []string{s.Name, s.About, s.Version})
	}
	table.Write(&b, 3, rows)
	if len(r.Skipped) > 0 {
		fmt.Fprintf(&b, "\nWithout %s.\n", strings.Join(r.Skipped, ", "))
	}
	for _, sc := range r.Scenarios {
		writeScenario(&b, sc)
	}
	return b.String()
}

// writeScenario writes the two tables of a scenario: the medians, and the ratios.
func writeScenario(w io.Writer, sc *scenarioResult) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n", sc.Title)
	table.Write(&b, 1, sc.medianRows())
	fmt.Fprintf(&b, "\nTo %s:\n\n", sc.each(func(r reference) string { return r.title }, " / to "))
	table.Write(&b, 1, sc.ratioRows())
	for _, s := range sc.Servers {
		if s.Failure != "" {
			fmt.Fprintf(&b, "\n%s failed: %s\n", s.Name, s.Failure)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (sc *scenarioResult) medianRows() [][]string {
	head := []string{"server"}
	for _, m := range sc.metrics {
		head = append(head, m.title)
	}
	rows := [][]string{append(head, "spread", "errors")}
	for _, s := range sc.Servers {
		row := []string{s.Name}
		for _, m := range sc.metrics {
			row = append(row, m.format(sample(s.Medians).get(m.key)))
		}
		rows = append(rows, append(row, percent(s.Spread), table.Number(s.Errors, 0)))
	}
	return rows
}

func (sc *scenarioResult) ratioRows() [][]string {
	head, best := []string{"server"}, []string{"(best peer)"}
	for _, m := range sc.metrics {
		if m.compared {
			head, best = append(head, m.title), append(best, sc.Best[m.key])
		}
	}
	rows := [][]string{head, best}
	for _, s := range sc.Servers {
		row := []string{s.Name}
		for _, m := range sc.metrics {
			if m.compared {
				row = append(row, sc.each(s.Ratios[m.key].to, " / "))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// each joins what the references are turned into.
func (sc *scenarioResult) each(text func(reference) string, separator string) string {
	var parts []string
	for _, ref := range sc.refs {
		parts = append(parts, text(ref))
	}
	return strings.Join(parts, separator)
}

func percent(v *float64) string {
	if v == nil {
		return table.Missing
	}
	return table.Number(100**v, 0) + " %"
}

// to writes the ratio to ref.
func (r ratios) to(ref reference) string {
	v, ok := r[ref.key]
	if !ok {
		return table.Missing
	}
	return table.Number(v, 2)
}
