package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"millrace.dev/bench/internal/result"
	"millrace.dev/bench/internal/stats"
	"millrace.dev/bench/internal/table"
)

const introduction = `Written by ` + "`go run ./cmd/lab`" + ` in bench/, from the benchmarks in bench/micro;
[bench/README.md](../bench/README.md#the-lab) says how to run a part of them. Times are medians
with 95 % confidence intervals as benchstat computes them. A ratio is the reference's time by the
alternative's, so above 1 the alternative is faster; it is computed in each repetition, and the
median is shown. "~" before a ratio says that the difference may be chance (Mann-Whitney, p > 0.05).
`

// Markdown returns the tables of all topics, led by a summary of targets and figures.
func (r Report) Markdown() string {
	var b strings.Builder
	b.WriteString("## The structures, each beside its alternatives\n\n")
	b.WriteString(introduction)
	b.WriteString("\n" + r.machines())
	r.WriteSummary(&b)
	for _, topic := range r.Measured.Topics {
		b.WriteString("\n" + topicMarker(topic.Name) + "\n")
		r.WriteTopic(&b, topic)
	}
	return b.String()
}

// WriteSummary writes which targets are met, and the reported figures beside ours.
func (r Report) WriteSummary(b *strings.Builder) {
	r.writeTargets(b)
	r.writeFigures(b)
}

// machines lists what the topics were measured on; usually one line.
func (r Report) machines() string {
	var lines []string
	for _, t := range r.Measured.Topics {
		line := t.Run.Started.Format("2 January 2006") + ": " + t.Run.Host.String() + "."
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "  \n") + "\n"
}

func (r Report) writeTargets(b *strings.Builder) {
	verdicts := r.verdicts()
	if len(verdicts) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### Targets: %d of %d met\n\n", countMet(verdicts), len(verdicts))
	rows := [][]string{{"topic", "target", "limit", "here", ""}}
	for _, v := range verdicts {
		rows = append(rows, []string{v.topic, v.Label, v.Limit, v.here, v.result})
	}
	table.Write(b, 3, rows)
}

func (r Report) writeFigures(b *strings.Builder) {
	figures := r.counterparts()
	if len(figures) == 0 {
		return
	}
	b.WriteString("\n### What the project's origin reported, and the same here\n\n")
	b.WriteString("From naive to chosen; a ratio above 1 says that the chosen one is better.\n\n")
	rows := [][]string{{"topic", "figure", "reported", "ratio", "ratio here"}}
	for _, f := range figures {
		here := notMeasured
		if f.measured {
			here = ratio(f.ratio)
		}
		rows = append(rows, []string{f.topic, f.Label, f.Naive + " → " + f.Chosen, times(f.reported), here})
	}
	table.Write(b, 2, rows)
}

// WriteTopic writes one topic's notes and table.
func (r Report) WriteTopic(b *strings.Builder, t *result.Topic) {
	fmt.Fprintf(b, "### %s\n\n", r.title(t.Name))
	for _, p := range r.Notes[t.Name].Paragraphs {
		b.WriteString(p + "\n\n")
	}
	rows := t.Rows()
	if len(rows) > 0 {
		table.Write(b, 1, topicTable(rows))
		fmt.Fprintf(b, "\n%s.\n", howMeasured(t.Run))
	}
	for _, f := range t.Failures {
		fmt.Fprintf(b, "\nNot everything ran: `%s`.\n", headline(f))
	}
}

// headline returns the line of a failure's output that says most.
func headline(failure string) string {
	first := ""
	for line := range strings.Lines(failure) {
		line = strings.TrimSpace(strings.ReplaceAll(line, "`", "'"))
		if strings.Contains(line, "--- FAIL: ") || strings.HasPrefix(line, "panic: ") {
			return line
		}
		first = cmp.Or(first, line)
	}
	return first
}

// howMeasured says how a topic was measured, and what disturbed it.
func howMeasured(run result.Run) string {
	text := fmt.Sprintf("%d × %s", run.Repetitions, run.Each)
	if len(run.Others) > 0 {
		text += fmt.Sprintf("; others used %.0f %% of the machine", stats.Median(run.Others))
	}
	return text
}

// column is a column of a topic's table; it is left out when all of its cells are empty.
type column struct {
	title string
	cell  func(*result.Row) string
}

// topicTable returns a line for each row of alternatives.
func topicTable(rows []*result.Row) [][]string {
	prefix := commonPrefix(rows)
	columns := []column{
		{"", func(row *result.Row) string { return caseName(row, prefix) }},
		{"reference", func(row *result.Row) string { return timed(row.Reference()) }},
		{"ours", oursCell},
		{"ratio", ratioCell},
		{"B/op", func(row *result.Row) string { return changed(row, result.Bytes) }},
		{"allocs/op", func(row *result.Row) string { return changed(row, result.Allocs) }},
		{"reported", reportedCell},
		{"others (ratio)", othersCell},
	}
	lines := make([][]string, len(rows)+1)
	for i, c := range columns {
		cells := make([]string, len(rows))
		for n, row := range rows {
			cells[n] = c.cell(row)
		}
		if i > 0 && strings.Join(cells, "") == "" {
			continue
		}
		lines[0] = append(lines[0], c.title)
		for n, cell := range cells {
			lines[n+1] = append(lines[n+1], cell)
		}
	}
	return lines
}

// commonPrefix returns the benchmark function's name with a slash, when it is the same in all
// rows and none is only that.
func commonPrefix(rows []*result.Row) string {
	first, _, ok := strings.Cut(rows[0].Name, "/")
	for _, row := range rows {
		if !ok || !strings.HasPrefix(row.Name, first+"/") {
			return ""
		}
	}
	return first + "/"
}

// caseName is a row's name as a table shows it.
func caseName(row *result.Row, prefix string) string {
	return strings.ReplaceAll(strings.TrimPrefix(row.Name, prefix), "/", " ")
}

// timed is an alternative's name and time.
func timed(a result.Alternative) string {
	s, ok := a.Summary(result.Time)
	if !ok {
		return a.Name
	}
	text := duration(s.Center)
	if i := interval(s); i != "" {
		text += " " + i
	}
	if a.Name == "" {
		return text
	}
	return a.Name + " " + text
}

func oursCell(row *result.Row) string {
	if a, ok := row.Chosen(); ok {
		return timed(a)
	}
	return ""
}

func ratioCell(row *result.Row) string {
	if a, ok := row.Chosen(); ok {
		return toReference(row, a)
	}
	return ""
}

func toReference(row *result.Row, a result.Alternative) string {
	r, ok := result.RatioOf(row.Reference().Benchmark, a.Benchmark)
	if !ok {
		return table.Missing
	}
	return ratio(r)
}

// changed shows a unit of the reference and of ours.
func changed(row *result.Row, unit string) string {
	before, ok := row.Reference().Summary(unit)
	if !ok {
		return ""
	}
	if a, chosen := row.Chosen(); chosen {
		return change(before.Center, a.Median(unit), "")
	}
	return number(before.Center)
}

func reportedCell(row *result.Row) string {
	reference := row.Reference()
	shown := reference
	if a, ok := row.Chosen(); ok {
		shown = a
	}
	var parts []string
	for _, unit := range extras(shown.Benchmark) {
		text := quantity(shown.Median(unit), unit)
		if _, ok := reference.Summary(unit); ok && shown != reference {
			text = change(reference.Median(unit), shown.Median(unit), unit)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// othersCell shows the alternatives that are neither the reference nor the chosen one.
func othersCell(row *result.Row) string {
	chosen, _ := row.Chosen()
	var parts []string
	for _, a := range row.Alternatives[1:] {
		if a != chosen {
			parts = append(parts, timed(a)+" ("+toReference(row, a)+")")
		}
	}
	return strings.Join(parts, ", ")
}
