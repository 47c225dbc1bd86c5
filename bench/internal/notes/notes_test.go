package notes

import (
	"math"
	"slices"
	"strings"
	"testing"

	"millrace.dev/bench/internal/result"
)

const example = `# Hex, by table

What is compared,
over two lines.

And what was chosen.
figure: encoding (ops/µs) | 0.444 | 1.406 | Hex/op=encode/alt=branches | BenchmarkHex/op=encode/alt=millrace
target: encoding 2 KiB | ns<=650 | Hex/op=encode/alt=millrace
target: no slower than the library | ratio >= 1.5 | Hex/op=encode/alt=millrace | Hex/op=encode/alt=stdlib
A last one.
`

func TestParse(t *testing.T) {
	t.Parallel()
	n, err := Parse(strings.ReplaceAll(example, "\n", "\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	if n.Title != "Hex, by table" {
		t.Errorf("title %q", n.Title)
	}
	want := []string{"What is compared,\nover two lines.", "And what was chosen.", "A last one."}
	if !slices.Equal(n.Paragraphs, want) {
		t.Errorf("paragraphs %q", n.Paragraphs)
	}
	f := Figure{"encoding (ops/µs)", "0.444", "1.406", "Hex/op=encode/alt=branches", "Hex/op=encode/alt=millrace"}
	if len(n.Figures) != 1 || n.Figures[0] != f {
		t.Errorf("figures %+v", n.Figures)
	}
	if len(n.Targets) != 2 || n.Targets[0].Limit != "ns<=650" || n.Targets[1].Limit != "ratio>=1.5" {
		t.Errorf("targets %+v", n.Targets)
	}
	names := []string{f.NaiveBenchmark, f.ChosenBenchmark, f.ChosenBenchmark, f.ChosenBenchmark, "Hex/op=encode/alt=stdlib"}
	if got := n.Names(); !slices.Equal(got, names) {
		t.Errorf("names %q", got)
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                 "first line",
		"Hex\n":                            "first line",
		"# \n":                             "first line",
		"# Hex\nfigure: a | 1 | 2 | X":     "4 fields",
		"# Hex\nfigure:":                   "1 fields",
		"# Hex\ntarget: a | ns<=1":         "2 fields",
		"# Hex\ntarget: a | 14 ns | X":     "14 ns",
		"# Hex\ntarget: a | ns==1 | X":     "ns==1",
		"# Hex\ntarget: a | ns<=1.2.3 | X": "1.2.3",
		"# Hex\ntarget: a | ns<= | X":      "ns<=",
	} {
		if n, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %+v", text, err, n)
		}
	}
}

func TestParseGoesOnAfterAnError(t *testing.T) {
	t.Parallel()
	n, err := Parse("# Hex\nfigure: a\n" + strings.TrimPrefix(example, "# Hex, by table\n"))
	if err == nil || len(n.Targets) != 2 || len(n.Paragraphs) != 3 {
		t.Errorf("%v, %+v", err, n)
	}
}

func TestReported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		label, naive, chosen string
		want                 float64
	}{
		{"encoding (ops/µs)", "0.5", "2", 4},
		{"write queue (ns)", "1,000", "500", 2},
		{"write queue (ns/op)", "1,000", "500", 2},
		{"server (req/s)", "545,332", "545,332", 1},
		{"no unit", "10 M", "25 M", 2.5},
		{"many (µs)", "10 µs", "20 µs", 0.5},
		{"search", "1", "an order of magnitude", math.NaN()},
	} {
		got := Figure{Label: c.label, Naive: c.naive, Chosen: c.chosen}.Reported()
		if got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// measured has what the example names, and an alternative more.
func measured() *result.Report {
	topic := &result.Topic{Name: "hex"}
	for _, b := range []struct {
		name string
		ns   float64
	}{{"stdlib", 900}, {"branches", 1800}, {"millrace", 600}} {
		topic.Add([]result.Measurement{{Name: "Hex/op=encode/alt=" + b.name, Values: map[string]float64{
			result.Time: b.ns / 1e9, result.Allocs: 2, result.Bytes: 64, "reserved/live": 1.25, "sec/pair": 4e-9,
		}}})
	}
	return &result.Report{Topics: []*result.Topic{topic}}
}

func TestHere(t *testing.T) {
	t.Parallel()
	n, _ := Parse(example)
	if r, ok := n.Figures[0].Here(measured()); !ok || math.Abs(r.Center-3) > 1e-9 {
		t.Errorf("%+v, %v", r, ok)
	}
	if _, ok := n.Figures[0].Here(new(result.Report)); ok {
		t.Error("measured, but there is nothing")
	}
}

func TestTargets(t *testing.T) {
	t.Parallel()
	const ours = "Hex/op=encode/alt=millrace"
	for _, c := range []struct {
		fields string
		value  float64
		met    bool
	}{
		{"ns<=600 | " + ours, 600, true},
		{"ns<=599 | " + ours, 600, false},
		{"us<1 | " + ours, 0.6, true},
		{"ms>=1 | " + ours, 0.0006, false},
		{"ratio>=1.5 | " + ours, 1.5, true}, // the row's reference is the standard library
		{"ratio>1.5 | " + ours, 1.5, false},
		{"ratio>=3 | " + ours + " | Hex/op=encode/alt=branches", 3, true},
		{"ratio<=1 | " + ours + " | Hex/op=encode/alt=branches", 3, false},
		{"allocs<=1 | " + ours, 2, false},
		{"allocs<=2 | " + ours, 2, true},
		{"B<100 | " + ours, 64, true},
		{"B<64 | " + ours, 64, false},
		{"reserved/live<1.25 | " + ours, 1.25, false},
		{"reserved/live<=1.25 | " + ours, 1.25, true},
		{"ns/pair<=5 | " + ours, 4, true},
	} {
		n, err := Parse("# Hex\ntarget: x | " + c.fields)
		if err != nil {
			t.Fatal(err)
		}
		v, ok := n.Targets[0].Value(measured())
		v = math.Round(v*1e9) / 1e9
		if !ok || v != c.value || n.Targets[0].Met(v) != c.met {
			t.Errorf("%s: %v, %v, met: %v", c.fields, v, ok, n.Targets[0].Met(v))
		}
	}
}

func TestTargetsWithoutMeasurement(t *testing.T) {
	t.Parallel()
	for _, fields := range []string{
		"ns<=1 | Hex/alt=none", "ratio>=1 | Hex/alt=none", "widgets<=1 | Hex/op=encode/alt=millrace",
		"ratio>=1 | Hex/op=encode/alt=millrace | Hex/alt=none",
	} {
		n, err := Parse("# Hex\ntarget: x | " + fields)
		if err != nil {
			t.Fatal(err)
		}
		if v, ok := n.Targets[0].Value(measured()); ok {
			t.Errorf("%s: %v", fields, v)
		}
	}
}
