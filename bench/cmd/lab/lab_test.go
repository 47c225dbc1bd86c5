package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"millrace.dev/bench/internal/load"
	"millrace.dev/bench/internal/report"
	"millrace.dev/bench/internal/result"
	"millrace.dev/bench/internal/wrk"
)

// The tests run this program itself as if it were that of bench/micro: these are its
// benchmarks.

var probeSink int

func BenchmarkProbe(b *testing.B) {
	for _, alternative := range []string{"naive", "millrace"} {
		b.Run("op=add/alt="+alternative, func(b *testing.B) {
			for i := range b.N {
				probeSink += i
			}
			b.ReportMetric(1.5, "widgets")
		})
	}
}

// failingProbe is set in the environment of the runs in which BenchmarkFailingProbe fails.
const failingProbe = "LAB_TEST_FAILING_PROBE"

func BenchmarkFailingProbe(b *testing.B) {
	b.Run("alt=naive", func(b *testing.B) {
		for range b.N {
			probeSink++
		}
	})
	b.Run("alt=millrace", func(b *testing.B) {
		if os.Getenv(failingProbe) != "" {
			b.Fatal("as it was told")
		}
	})
}

// probeLab is a lab with this program's benchmarks and two topics.
func probeLab(t *testing.T) (*lab, []*topic) {
	t.Helper()
	bin, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	topics := []*topic{
		{name: "failing", functions: []string{"BenchmarkFailingProbe"}},
		{name: "probe", functions: []string{"BenchmarkProbe"}},
	}
	l := &lab{settings: settings{count: 2, benchtime: "10x"}, root: benchWith(t, nil), bin: bin, all: topics}
	return l, topics
}

// quiet is the progress of a run that shows it to nobody.
func quiet(count, topics int) (*progress, *strings.Builder) {
	var b strings.Builder
	return &progress{w: &b, count: count, now: time.Now, took: make([]time.Duration, topics)}, &b
}

func TestPlay(t *testing.T) {
	t.Parallel()
	l, topics := probeLab(t)
	p, shown := quiet(2, 1)
	measured, err := l.play(t.Context(), topics[1:], p)
	if err != nil || len(measured.Topics) != 1 {
		t.Fatalf("%v, %+v", err, measured)
	}
	topic := measured.Topics[0]
	if topic.Run.Repetitions != 2 || len(topic.Run.Others) != 2 || topic.Run.Each != "10 iterations" || len(topic.Failures) > 0 {
		t.Errorf("%+v", topic)
	}
	rows := topic.Rows()
	if len(rows) != 1 || rows[0].Name != "Probe/op=add" || len(rows[0].Alternatives) != 2 {
		t.Fatalf("%+v", rows)
	}
	for _, a := range rows[0].Alternatives {
		if len(a.Values[result.Time]) != 2 || len(a.Values[result.Allocs]) != 2 || a.Median("widgets") != 1.5 {
			t.Errorf("%s: %v", a.Name, a.Values)
		}
	}
	if got := shown.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "repetition 2/2, topic 1/1: probe") {
		t.Errorf("progress:\n%s", got)
	}
}

func TestPlayReportsFailures(t *testing.T) {
	t.Setenv(failingProbe, "1")
	l, topics := probeLab(t)
	p, shown := quiet(2, 2)
	measured, err := l.play(t.Context(), topics, p)
	if err == nil || err.Error() != "failing failed" {
		t.Errorf("error: %v", err)
	}
	failing := measured.Topic("failing")
	if failing == nil || len(failing.Failures) != 1 || !strings.Contains(failing.Failures[0], "as it was told") {
		t.Fatalf("%+v", failing)
	}
	if strings.Contains(failing.Failures[0], "ns/op") || strings.Contains(failing.Failures[0], "goos") {
		t.Errorf("the failure has results in it: %s", failing.Failures[0])
	}
	if len(failing.Benchmarks) != 1 || failing.Benchmarks[0].Name != "FailingProbe/alt=naive" {
		t.Errorf("what did not fail: %+v", failing.Benchmarks)
	}
	if probe := measured.Topic("probe"); probe == nil || len(probe.Rows()[0].Alternatives) != 2 {
		t.Errorf("the other topic: %+v", probe)
	}
	if n := strings.Count(shown.String(), "as it was told"); n != 1 {
		t.Errorf("shown %d times:\n%s", n, shown.String())
	}
}

func TestPlayInterrupted(t *testing.T) {
	t.Parallel()
	l, topics := probeLab(t)
	l.count = 1000
	ctx, cancel := context.WithCancel(t.Context())
	p, _ := quiet(l.count, 2)
	p.now = func() time.Time {
		if p.repetition == 2 && p.topic == 1 { // the third turn of the second topic begins
			cancel()
		}
		return time.Now()
	}
	measured, err := l.play(ctx, topics, p)
	if err != nil || ctx.Err() == nil {
		t.Fatalf("%v", err)
	}
	for name, want := range map[string]int{"failing": 3, "probe": 2} {
		topic := measured.Topic(name)
		if topic == nil || topic.Run.Repetitions != want || len(topic.Benchmarks[0].Values[result.Time]) != want {
			t.Errorf("%s: %+v", name, topic)
		}
	}
}

func TestRunSelectsBenchmarks(t *testing.T) {
	t.Parallel()
	l, topics := probeLab(t)
	l.pattern = "^Probe/op=add/alt=mill"
	p, _ := quiet(2, 2)
	measured, err := l.play(t.Context(), topics, p)
	if err != nil || len(measured.Topics) != 1 || len(measured.Topics[0].Benchmarks) != 1 {
		t.Errorf("%v, %+v", err, measured)
	}
}

// times is a report of topics with a benchmark each.
func times(names ...string) *result.Report {
	r := new(result.Report)
	for _, name := range names {
		topic := &result.Topic{Name: name}
		topic.Add([]result.Measurement{{Name: name + "/alt=a", Values: map[string]float64{result.Time: 1}}})
		r.Topics = append(r.Topics, topic)
	}
	return r
}

// filesLab has files in a new directory, with a document whose tables are of these topics.
func filesLab(t *testing.T, topics ...string) *lab {
	t.Helper()
	dir := t.TempDir()
	l := &lab{all: []*topic{{name: "failing"}, {name: "probe"}}}
	l.json, l.html, l.docs = filepath.Join(dir, "r.json"), filepath.Join(dir, "r.html"), filepath.Join(dir, "d.md")
	document, err := report.Splice("before\n<!-- lab:begin -->\n<!-- lab:end -->\nafter\n", report.Report{Measured: times(topics...)}.Markdown())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.docs, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestWriteMerges(t *testing.T) {
	t.Parallel()
	l := filesLab(t, "probe", "deleted")
	if err := times("probe", "deleted").Save(l.json); err != nil {
		t.Fatal(err)
	}
	before, old, err := l.readFiles()
	if err != nil || old != nil {
		t.Fatal(err, old)
	}
	if err := l.write(before, times("failing")); err != nil {
		t.Fatal(err)
	}
	back, err := result.Load(l.json)
	if err != nil || len(back.Topics) != 2 || back.Topic("deleted") != nil {
		t.Errorf("%v, %+v", err, back)
	}
	text, err := os.ReadFile(l.docs)
	if err != nil || !strings.HasPrefix(string(text), "before\n") || !strings.HasSuffix(string(text), "-->\nafter\n") {
		t.Errorf("%v\n%s", err, text)
	}
	if names, _ := report.TopicsIn(string(text)); strings.Join(names, " ") != "failing probe" {
		t.Errorf("tables of %v", names)
	}
	if page, err := os.ReadFile(l.html); err != nil || !strings.Contains(string(page), "topic-probe") {
		t.Errorf("%v\n%s", err, page)
	}
}

func TestWriteLosesNoTable(t *testing.T) {
	t.Parallel()
	l := filesLab(t, "probe")
	was, _ := os.ReadFile(l.docs)
	err := l.write(new(result.Report), times("failing"))
	if err == nil || !strings.Contains(err.Error(), "(probe)") {
		t.Errorf("error: %v", err)
	}
	if is, _ := os.ReadFile(l.docs); string(is) != string(was) {
		t.Errorf("the document became\n%s", is)
	}
	if back, err := result.Load(l.json); err != nil || back.Topic("failing") == nil {
		t.Errorf("the results: %v, %+v", err, back)
	}
}

func TestNarrow(t *testing.T) {
	t.Parallel()
	old, measured := times("failing", "probe"), times("probe")
	old.Topics[1].Add([]result.Measurement{{Name: "probe/alt=b", Values: map[string]float64{result.Time: 1}}})
	l := new(lab)
	l.narrow(old, measured)
	if len(old.Topics) != 1 || old.Find("probe/alt=b") == nil {
		t.Errorf("of whole topics: %+v", old.Topics)
	}
	l.pattern = "x"
	l.narrow(old, measured)
	if len(old.Topics) != 1 || old.Find("probe/alt=a") == nil || old.Find("probe/alt=b") != nil {
		t.Errorf("with -run: %+v", old.Topics)
	}
}

func TestWriteWithoutFiles(t *testing.T) {
	t.Parallel()
	if err := new(lab).write(new(result.Report), times("probe")); err != nil {
		t.Error(err)
	}
}

func TestReadFilesRefuses(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(l *lab) error{
		"results that are none":      func(l *lab) error { return os.WriteFile(l.json, []byte("x"), 0o600) },
		"a document without markers": func(l *lab) error { return os.WriteFile(l.docs, nil, 0o600) },
		"no document":                func(l *lab) error { return os.Remove(l.docs) },
		"nothing to compare with":    func(l *lab) error { l.compare = l.html; return nil },
	} {
		l := filesLab(t)
		if err := spoil(l); err != nil {
			t.Fatal(err)
		}
		if before, old, err := l.readFiles(); err == nil {
			t.Errorf("%s: %+v, %+v", name, before, old)
		}
	}
}

func TestProgressOnATerminal(t *testing.T) {
	t.Parallel()
	p, shown := quiet(2, 2)
	p.width = 60
	clock := time.Unix(0, 0)
	p.now = func() time.Time { return clock }
	p.begin(0, 0, "hex")
	clock = clock.Add(10 * time.Second)
	p.done()
	p.begin(0, 1, "query")
	if got := p.left(); got != 30*time.Second { // this turn, and two more
		t.Errorf("left: %v", got)
	}
	p.at("BenchmarkQuery/" + strings.Repeat("ü", 100))
	p.end()
	got := strings.Split(shown.String(), "\r\x1b[K")
	if len(got) != 5 || got[1] != "repetition 1/2, topic 1/2: hex" || got[4] != "" {
		t.Errorf("%q", got)
	}
	if want := "repetition 1/2, topic 2/2: query, about 30s left BenchmarkQuery/üüü"; string([]rune(want)[:59]) != got[3] {
		t.Errorf("%q", got[3])
	}
}

func TestServerMeasurement(t *testing.T) {
	t.Parallel()
	m := serverMeasurement("ServerLeak/load=c100/alt=simple", load.Sample{
		Result: wrk.Result{Requests: 200_000, PerSecond: 100_000}, Usage: load.Usage{ServerCPU: time.Second},
	})
	want := map[string]float64{result.Time: 5e-6, unitPerSecond: 100_000, unitPerCPU: 200_000}
	for unit, v := range want {
		if m.Values[unit] != v {
			t.Errorf("%s: %v instead of %v", unit, m.Values[unit], v)
		}
	}
}

func TestServerRoundReportsFailures(t *testing.T) {
	t.Parallel()
	l := &lab{server: filepath.Join(t.TempDir(), "none"), dir: t.TempDir()}
	r, err := l.serverRound(t.Context(), serverTopics[1], func(string) {})
	if len(r.measured) > 0 || err == nil || !errors.Is(err, os.ErrNotExist) || strings.Count(err.Error(), "-leak") != 4 {
		t.Errorf("%v, %v", r, err)
	}
}
