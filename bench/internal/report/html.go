package report

import (
	_ "embed"
	"html/template"
	"io"
	"regexp"
	"strings"

	"millrace.dev/bench/internal/result"
	"millrace.dev/bench/internal/table"
)

//go:embed report.html.tmpl
var pageText string

var page = template.Must(template.New("report").Parse(pageText))

// WriteHTML writes the report as one page that loads nothing: style and plots are inside.
func (r Report) WriteHTML(w io.Writer) error {
	p := pageView{Machines: strings.Split(strings.TrimSpace(r.machines()), "\n")}
	verdicts := r.verdicts()
	p.Met = countMet(verdicts)
	for _, v := range verdicts {
		p.Targets = append(p.Targets, targetView{v.topic, v.Label, v.Limit, v.here, v.result})
	}
	figures := r.counterparts()
	axis := newRatioAxis(figures)
	p.One, p.Least, p.Most = axis.at(1), number(axis.least), number(axis.most)
	for _, f := range figures {
		p.Figures = append(p.Figures, f.view(axis))
	}
	for _, t := range r.Measured.Topics {
		p.Topics = append(p.Topics, r.topicView(t))
	}
	return page.Execute(w, p)
}

type pageView struct {
	Machines []string
	Met      int
	Targets  []targetView
	Figures  []figureView
	// One is where the ratio 1 is in the plots of figures, Least and Most where they end.
	One         float64
	Least, Most string
	Topics      []topicView
}

type targetView struct{ Topic, Label, Limit, Here, Result string }

type figureView struct {
	Topic, Label, Values, Reported, Here string
	// The plot's bars.
	ReportedBar, HereBar bar
}

type topicView struct {
	Name, Title string
	Paragraphs  []template.HTML
	Run         string
	Failures    []string
	Cases       []caseView
}

// caseView is a row of alternatives.
type caseView struct {
	Name         string
	Alternatives []alternativeView
}

type alternativeView struct {
	Name, Role                        string // Role is reference, ours or empty
	Time, Interval, Ratio, RatioTitle string
	Memory, Extras                    string
	Bar                               bar
}

func (f counterpart) view(axis ratioAxis) figureView {
	v := figureView{
		Topic: f.topic, Label: f.Label, Values: f.Naive + " → " + f.Chosen,
		Reported: times(f.reported), Here: notMeasured,
		ReportedBar: axis.bar(f.reported),
	}
	if f.measured {
		v.Here = ratio(f.ratio)
		v.HereBar = axis.bar(f.ratio.Center)
	}
	return v
}

func (r Report) topicView(t *result.Topic) topicView {
	v := topicView{Name: t.Name, Title: r.title(t.Name), Failures: t.Failures}
	v.Run = howMeasured(t.Run)
	if t.Run.Commit != "" {
		v.Run += "; at " + t.Run.Commit
	}
	for _, p := range r.Notes[t.Name].Paragraphs {
		v.Paragraphs = append(v.Paragraphs, inline(p))
	}
	rows := t.Rows()
	if len(rows) == 0 {
		return v
	}
	prefix := commonPrefix(rows)
	for _, row := range rows {
		v.Cases = append(v.Cases, newCaseView(row, prefix))
	}
	return v
}

func newCaseView(row *result.Row, prefix string) caseView {
	v := caseView{Name: caseName(row, prefix)}
	top := timeScale(row)
	for i, a := range row.Alternatives {
		v.Alternatives = append(v.Alternatives, newAlternativeView(row, i, a, top))
	}
	return v
}

func newAlternativeView(row *result.Row, i int, a result.Alternative, top float64) alternativeView {
	v := alternativeView{Name: a.Name, Memory: memory(a), Time: table.Missing}
	if a.Name == "" {
		v.Name = "(only one)"
	}
	if s, ok := a.Summary(result.Time); ok {
		v.Time, v.Interval = duration(s.Center), interval(s)
		v.Bar = newBar(s.Center, s.Lo, s.Hi, top)
	}
	if i == 0 {
		v.Role = "reference"
	} else if r, ok := result.RatioOf(row.Reference().Benchmark, a.Benchmark); ok {
		v.Ratio, v.RatioTitle = ratio(r), r.Comparison.String()
	}
	if chosen, ok := row.Chosen(); a.Ours() || ok && chosen == a {
		v.Role = strings.TrimSpace(v.Role + " ours")
	}
	var parts []string
	for _, unit := range append([]string{result.Rate}, extras(a.Benchmark)...) {
		if s, ok := a.Summary(unit); ok {
			parts = append(parts, quantity(s.Center, unit))
		}
	}
	v.Extras = strings.Join(parts, ", ")
	return v
}

// memory is what an operation allocates, in words.
func memory(a result.Alternative) string {
	allocs, ok := a.Summary(result.Allocs)
	if !ok {
		return ""
	}
	if allocs.Center == 0 && a.Median(result.Bytes) == 0 {
		return "0 allocs"
	}
	noun := " allocs, "
	if allocs.Center == 1 {
		noun = " alloc, "
	}
	return number(allocs.Center) + noun + number(a.Median(result.Bytes)) + " B"
}

var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	link     = regexp.MustCompile(`\[([^\]]+)\]\(([^)\s]+)\)`)
)

// inline turns a paragraph of Markdown into HTML: code is marked, a link becomes its text and
// address, and everything else is as it is.
func inline(paragraph string) template.HTML {
	text := link.ReplaceAllString(template.HTMLEscapeString(paragraph), "$1 ($2)")
	return template.HTML(codeSpan.ReplaceAllString(text, "<code>$1</code>"))
}
