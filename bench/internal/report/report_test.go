package report

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"millrace.dev/bench/internal/host"
	"millrace.dev/bench/internal/notes"
	"millrace.dev/bench/internal/result"
)

const hexNotes = "# Hex, by <table>\n\nTwo ways: `branches` & a table,\nsee [the docs](../x.md).\n\n" +
	"figure: encoding (ops/µs) | 0.5 | 2.0 | Hex/op=encode/alt=branches | Hex/op=encode/alt=millrace\n" +
	"figure: unknown | 1 | many | Hex/op=encode/alt=branches | Hex/alt=none\n" +
	"target: fast | ns<=700 | Hex/op=encode/alt=millrace\n" +
	"target: faster | ratio>=3 | Hex/op=encode/alt=millrace\n" +
	"target: elsewhere | ns<=1 | Else/alt=none\n"

// recorded reads a recorded output of six repetitions. They are of the topics hex and mix.
func recorded(t *testing.T) Report {
	t.Helper()
	run := result.Run{
		Started: time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC), Repetitions: 6, Each: "50 ms",
		Host: host.Host{CPU: "Example 9", Cores: 2, Kernel: "6.1", Go: "go1.26.0"}, Commit: "abc1234", Others: []float64{1, 4, 2},
	}
	hex, mix := &result.Topic{Name: "hex", Run: run}, &result.Topic{Name: "mix", Run: run}
	mix.Failures = []string{"exit status 1\n--- FAIL: BenchmarkMix/alt=`x`\n    mix_test.go:3: <wrong>"}
	text, err := os.ReadFile("testdata/output.txt")
	if err != nil {
		t.Fatal(err)
	}
	measured, err := result.Parse(strings.NewReader(string(text)), 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range measured {
		topic := mix
		if strings.HasPrefix(m.Name, "Hex") {
			topic = hex
		}
		topic.Add([]result.Measurement{m})
	}
	n, err := notes.Parse(hexNotes)
	if err != nil {
		t.Fatal(err)
	}
	return Report{Measured: &result.Report{Topics: []*result.Topic{hex, mix}}, Notes: map[string]notes.Notes{"hex": n}}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("testdata/report.md")
	if err != nil {
		t.Fatal(err)
	}
	if got := recorded(t).Markdown(); got != string(want) {
		t.Errorf("it is not testdata/report.md but\n%s", got)
	}
}

func TestMarkdownOfNothing(t *testing.T) {
	t.Parallel()
	got := Report{Measured: new(result.Report)}.Markdown()
	if strings.Contains(got, "|") || !strings.HasPrefix(got, "## ") {
		t.Errorf("got\n%s", got)
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{duration(12.345e-9), "12.3 ns"},
		{duration(2e-9), "2.00 ns"},
		{duration(0.2154e-9), "0.215 ns"},
		{duration(0), "0 ns"},
		{duration(999.4e-9), "999 ns"},
		{duration(999.6e-9), "1.00 µs"},
		{duration(0.0123), "12.3 ms"},
		{duration(75), "75.0 s"},
		{duration(1234), "1,234 s"},
		{rate(850.6e6), "851 MB/s"},
		{rate(1701e6), "1.70 GB/s"},
		{rate(12), "12.0 B/s"},
		{times(975.9), "976"},
		{times(99.94), "99.94"},
		{times(0.0042), "0.004"},
		{times(0.0996), "0.10"},
		{times(math.NaN()), "–"},
		{number(0), "0"},
		{number(65536), "65,536"},
		{number(1.1304), "1.13"},
		{number(182345.4), "182,345"},
		{number(0.000123456), "0.000123"},
		{quantity(1e-7, "sec/pair"), "100 ns/pair"},
		{quantity(1.13, "reserved/live"), "1.13 reserved/live"},
		{change(1, 0, ""), "1 → 0"},
		{change(1, 1, ""), "1"},
		{change(1.5, 1.13, "reserved/live"), "1.50 → 1.13 reserved/live"},
		{change(1e-6, 1e-7, "sec/pair"), "1.00 µs/pair → 100 ns/pair"},
	} {
		if c.got != c.want {
			t.Errorf("%q instead of %q", c.got, c.want)
		}
	}
}

func TestHeadline(t *testing.T) {
	t.Parallel()
	for failure, want := range map[string]string{
		"exit status 1\n  --- FAIL: BenchmarkX\n text": "--- FAIL: BenchmarkX",
		"exit status 2\npanic: `oops`\ngoroutine 1":    "panic: 'oops'",
		"\nexit status 3\nelse":                        "exit status 3",
		"":                                             "",
	} {
		if got := headline(failure); got != want {
			t.Errorf("%q: %q", failure, got)
		}
	}
}

// benchmarks has a topic of benchmarks with these times in seconds.
func benchmarks(times map[string][]float64, allocs float64) *result.Report {
	topic := &result.Topic{Name: "x"}
	for name, values := range times {
		for _, v := range values {
			topic.Add([]result.Measurement{{Name: name, Values: map[string]float64{result.Time: v, result.Allocs: allocs}}})
		}
	}
	return &result.Report{Topics: []*result.Topic{topic}}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	old := benchmarks(map[string][]float64{
		"X/alt=same": {100, 101, 102, 103, 104, 105}, "X/alt=half": {200, 201, 202, 203, 204, 205},
		"X/alt=threefold": {100, 101, 102, 103, 104, 105}, "X/alt=gone": {1},
	}, 1)
	now := benchmarks(map[string][]float64{
		"X/alt=same": {100, 101, 102, 103, 104, 105}, "X/alt=half": {100, 101, 102, 103, 104, 105},
		"X/alt=threefold": {300, 301, 302, 303, 304, 305}, "X/alt=new": {1}, "X/alt=newer": {1},
	}, 0)
	got := Compare(old, now)
	var order []string
	for line := range strings.Lines(got) {
		if name, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " "); ok && strings.HasPrefix(name, "X/") {
			order = append(order, name)
		}
	}
	if fmt.Sprint(order) != "[X/alt=threefold X/alt=half X/alt=same]" {
		t.Errorf("order %v", order)
	}
	for _, want := range []string{"+195.1 %", "-49.4 %", "|        ~ |", "p=0.002 n=6", "1 → 0", "102 s ±2 %",
		"2 of 3 benchmarks moved (p <= 0.05; ~ for the others); 2 are new, 1 are gone."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

func TestCompareTellsOtherMachines(t *testing.T) {
	t.Parallel()
	old, now := benchmarks(map[string][]float64{"X": {1}}, 0), benchmarks(map[string][]float64{"X": {1}}, 0)
	if got := Compare(old, now); strings.Contains(got, "machines differ") {
		t.Errorf("of the same machine:\n%s", got)
	}
	now.Topics[0].Run.Host.Cores = 64
	if got := Compare(old, now); !strings.Contains(got, "machines differ") || !strings.Contains(got, "new: 64 cores") {
		t.Errorf("got\n%s", got)
	}
}

func TestCompareNothing(t *testing.T) {
	t.Parallel()
	if got := Compare(new(result.Report), new(result.Report)); !strings.HasPrefix(got, "0 of 0 benchmarks moved") {
		t.Errorf("got %q", got)
	}
}

func TestSplice(t *testing.T) {
	t.Parallel()
	const document = "# A\r\n\n<!-- lab:begin -->\nold\n" +
		"<!-- lab:topic hex -->\nx\n<!-- lab:topic mix -->\n<!-- lab:end -->\n<!-- lab:topic no -->\nrest"
	got, err := Splice(document, "\nnew <!-- lab:begin\n\n")
	if want := "# A\r\n\n<!-- lab:begin -->\n\nnew <!-- lab:begin\n\n<!-- lab:end -->\n<!-- lab:topic no -->\nrest"; err != nil || got != want {
		t.Errorf("%v, %q", err, got)
	}
	if names, err := TopicsIn(document); err != nil || fmt.Sprint(names) != "[hex mix]" {
		t.Errorf("%v, %v", err, names)
	}
	again, err := Splice(got, "new <!-- lab:begin")
	if err != nil || again != got {
		t.Errorf("a second time: %v, %q", err, again)
	}
}

func TestSpliceRefuses(t *testing.T) {
	t.Parallel()
	for _, document := range []string{
		"", beginMarker, endMarker, endMarker + beginMarker,
		beginMarker + beginMarker + endMarker, beginMarker + endMarker + endMarker,
	} {
		if got, err := Splice(document, "x"); err == nil {
			t.Errorf("%q: %q", document, got)
		}
		if got, err := TopicsIn(document); err == nil {
			t.Errorf("%q: %q", document, got)
		}
	}
}
