package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"

	"millrace.dev/bench/internal/result"
	"millrace.dev/bench/internal/table"
)

// move is how one benchmark changed between two reports.
type move struct {
	name        string
	old, new    *result.Benchmark
	before, now float64 // medians in seconds
	benchmath.Comparison
}

func (m move) significant() bool { return m.P <= m.Alpha }

// size is how far the time moved, the same for twice and for half.
func (m move) size() float64 { return math.Abs(math.Log(m.now / m.before)) }

// Compare returns a table of the benchmarks that both reports have: first those that moved,
// the furthest first, then those whose difference may be chance. Names that only one of them
// has are counted.
func Compare(old, new *result.Report) string {
	moves, added, removed := movesBetween(old, new)
	var b strings.Builder
	if before, now := hosts(old), hosts(new); before != now && len(moves) > 0 {
		fmt.Fprintf(&b, "The machines differ, so times can't be compared:\n  old: %s\n  new: %s\n\n", before, now)
	}
	rows := [][]string{{"benchmark", "old", "new", "change", "", "allocs/op"}}
	moved := 0
	for _, m := range moves {
		rows = append(rows, m.row())
		if m.significant() {
			moved++
		}
	}
	if len(moves) > 0 {
		table.Write(&b, 1, rows)
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%d of %d benchmarks moved (p <= %g; ~ for the others)", moved, len(moves), benchmath.DefaultThresholds.CompareAlpha)
	fmt.Fprintf(&b, "; %d are new, %d are gone.\n", added, removed)
	return b.String()
}

// hosts lists the machines of a report.
func hosts(r *result.Report) string {
	var names []string
	for _, t := range r.Topics {
		if name := t.Run.Host.String(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, "; ")
}

func movesBetween(old, new *result.Report) (moves []move, added, removed int) {
	before := make(map[string]*result.Benchmark)
	for _, t := range old.Topics {
		for _, b := range t.Benchmarks {
			before[b.Name] = b
		}
	}
	for _, t := range new.Topics {
		for _, b := range t.Benchmarks {
			was := before[b.Name]
			delete(before, b.Name)
			if r, ok := result.RatioOf(was, b); ok {
				moves = append(moves, move{b.Name, was, b, was.Median(result.Time), b.Median(result.Time), r.Comparison})
			} else {
				added++
			}
		}
	}
	slices.SortStableFunc(moves, func(a, b move) int {
		if a.significant() != b.significant() {
			if a.significant() {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.size(), a.size())
	})
	return moves, added, len(before)
}

func (m move) row() []string {
	percent := "~"
	if m.significant() {
		percent = fmt.Sprintf("%+.1f %%", 100*(m.now/m.before-1))
	}
	allocs := ""
	if a, b := m.old.Median(result.Allocs), m.new.Median(result.Allocs); a != b && !math.IsNaN(a) && !math.IsNaN(b) {
		allocs = change(a, b, "")
	}
	return []string{
		m.name, timed(result.Alternative{Benchmark: m.old}), timed(result.Alternative{Benchmark: m.new}),
		percent, m.Comparison.String(), allocs,
	}
}
