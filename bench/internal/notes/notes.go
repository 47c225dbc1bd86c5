package notes

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/perf/benchunit"

	"millrace.dev/bench/internal/result"
)

// Notes is a parsed file.
type Notes struct {
	Title string
	// Paragraphs are Markdown, without the empty lines between them.
	Paragraphs []string
	Figures    []Figure
	Targets    []Target
}

// Figure is a pair of values that the project's origin reported, and which of our benchmarks
// are their counterparts.
type Figure struct {
	Label, Naive, Chosen            string
	NaiveBenchmark, ChosenBenchmark string
}

// Target is what a benchmark should reach.
type Target struct {
	Label string
	// Limit is the condition as it was written: "ns<=14".
	Limit                string
	Benchmark, Reference string

	quantity string
	max      bool // the value must not be above the bound, otherwise not below it
	strict   bool // nor equal to it
	bound    float64
}

// Parse reads a file of notes. An error names every line that is wrong; what could be read is
// returned all the same.
func Parse(text string) (Notes, error) {
	first, rest, _ := strings.Cut(text, "\n")
	title, ok := strings.CutPrefix(first, "# ")
	n := Notes{Title: strings.TrimSpace(title)}
	var errs []error
	if !ok || n.Title == "" {
		errs = append(errs, fmt.Errorf("the first line is %q instead of # and a title", first))
	}
	var paragraph []string
	end := func() {
		if len(paragraph) > 0 {
			n.Paragraphs = append(n.Paragraphs, strings.Join(paragraph, "\n"))
		}
		paragraph = nil
	}
	for line := range strings.Lines(rest) {
		line = strings.TrimRight(line, " \t\r\n")
		kind, fields, _ := strings.Cut(line, ":")
		switch {
		case kind == "figure":
			end()
			errs = append(errs, n.addFigure(split(fields)))
		case kind == "target":
			end()
			errs = append(errs, n.addTarget(split(fields)))
		case line == "":
			end()
		default:
			paragraph = append(paragraph, line)
		}
	}
	end()
	return n, errors.Join(errs...)
}

func split(fields string) []string {
	parts := strings.Split(fields, "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

func (n *Notes) addFigure(f []string) error {
	if len(f) != 5 {
		return fmt.Errorf("figure %q has %d fields instead of 5", f[0], len(f))
	}
	n.Figures = append(n.Figures, Figure{f[0], f[1], f[2], benchmarkName(f[3]), benchmarkName(f[4])})
	return nil
}

// condition is QUANTITY OPERATOR NUMBER. A quantity may hold slashes and other signs.
var condition = regexp.MustCompile(`^([^<>=\s]+)\s*(<=|>=|<|>)\s*([0-9.,]+)$`)

func (n *Notes) addTarget(f []string) error {
	if len(f) != 3 && len(f) != 4 {
		return fmt.Errorf("target %q has %d fields instead of 3 or 4", f[0], len(f))
	}
	m := condition.FindStringSubmatch(f[1])
	if m == nil {
		return fmt.Errorf("target %q: %q is not like ns<=14 or ratio>=2", f[0], f[1])
	}
	bound, err := parseNumber(m[3])
	if err != nil {
		return fmt.Errorf("target %q: %w", f[0], err)
	}
	t := Target{
		Label: f[0], Limit: m[1] + m[2] + m[3], Benchmark: benchmarkName(f[2]),
		quantity: m[1], max: m[2][0] == '<', strict: len(m[2]) == 1, bound: bound,
	}
	if len(f) == 4 {
		t.Reference = benchmarkName(f[3])
	}
	n.Targets = append(n.Targets, t)
	return nil
}

func benchmarkName(s string) string { return strings.TrimPrefix(s, "Benchmark") }

// leadingNumber is a number with its thousands grouped, as reports write them.
var leadingNumber = regexp.MustCompile(`^[0-9][0-9,]*(\.[0-9]+)?`)

func parseNumber(s string) (float64, error) {
	return strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
}

// lowerIsBetter finds a unit of time in a label's parentheses, but none per time.
var lowerIsBetter = regexp.MustCompile(`\((ns|µs|us|ms|s)(/op)?\)`)

// Reported returns how many times better the chosen alternative was; NaN when the values are
// no numbers.
func (f Figure) Reported() float64 {
	naive, err1 := parseNumber(leadingNumber.FindString(f.Naive))
	chosen, err2 := parseNumber(leadingNumber.FindString(f.Chosen))
	if err1 != nil || err2 != nil {
		return math.NaN()
	}
	if lowerIsBetter.MatchString(f.Label) {
		return naive / chosen
	}
	return chosen / naive
}

// Here returns how many times faster our counterpart is; ok is false when it was not measured.
func (f Figure) Here(r *result.Report) (ratio result.Ratio, ok bool) {
	return result.RatioOf(r.Find(f.NaiveBenchmark), r.Find(f.ChosenBenchmark))
}

// Value returns what was measured of the target's quantity, the median, in the unit of its
// limit; ok is false when it was not measured.
func (t Target) Value(r *result.Report) (v float64, ok bool) {
	b := r.Find(t.Benchmark)
	if b == nil {
		return math.NaN(), false
	}
	if t.quantity == "ratio" {
		ratio, ok := result.RatioOf(r.Find(t.reference(r)), b)
		return ratio.Center, ok
	}
	factor, unit := t.unit()
	s, ok := b.Summary(unit)
	return s.Center / factor, ok
}

// reference returns the name of the benchmark that a ratio is to.
func (t Target) reference(r *result.Report) string {
	if t.Reference != "" {
		return t.Reference
	}
	name, _ := result.Split(t.Benchmark)
	for _, topic := range r.Topics {
		for _, row := range topic.Rows() {
			if row.Name == name {
				return row.Reference().Benchmark.Name
			}
		}
	}
	return ""
}

// unit returns the unit that the quantity is kept in, and the quantity's size in it.
func (t Target) unit() (factor float64, unit string) {
	switch t.quantity {
	case "ns":
		return 1e-9, result.Time
	case "us", "µs":
		return 1e-6, result.Time
	case "ms":
		return 1e-3, result.Time
	case "B":
		return 1, result.Bytes
	case "allocs":
		return 1, result.Allocs
	}
	return benchunit.Tidy(1, t.quantity)
}

// Met says whether a value of the target's quantity is within its limit.
func (t Target) Met(v float64) bool {
	switch {
	case t.strict && v == t.bound:
		return false
	case t.max:
		return v <= t.bound
	}
	return v >= t.bound
}

// Names returns every benchmark that the notes name.
func (n Notes) Names() []string {
	var names []string
	for _, f := range n.Figures {
		names = append(names, f.NaiveBenchmark, f.ChosenBenchmark)
	}
	for _, t := range n.Targets {
		names = append(names, t.Benchmark)
		if t.Reference != "" {
			names = append(names, t.Reference)
		}
	}
	return names
}
