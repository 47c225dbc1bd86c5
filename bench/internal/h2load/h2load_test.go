package h2load

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func parseFile(t *testing.T, name string) Result {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParse(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Result{
		"clean.txt": {Requests: 213100, PerSecond: 213100,
			Mean: 2850 * time.Microsecond, Max: 327220 * time.Microsecond},
		"notfound.txt": {Requests: 140690, Failed: 140690, PerSecond: 140690,
			Mean: 105 * time.Microsecond, Max: 22200 * time.Microsecond},
		"refused.txt": {},
	} {
		if got := parseFile(t, name); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestParseFindsColumnsByName(t *testing.T) {
	t.Parallel()
	r, err := Parse("requests: 1 total, 1 done, 0 failed\n  min  median  mean  max\ntime for request: 1us 2us 3us 4us\n")
	if err != nil || r.Mean != 3*time.Microsecond || r.Max != 4*time.Microsecond {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	const counts = "requests: 1 total, 1 started, 1 done, 1 succeeded, 0 failed\n"
	for name, text := range map[string]string{
		"nothing":         "",
		"no counts":       "finished in 2.01s, 411100.00 req/s, 15.29MB/s\n",
		"no rate":         counts + "finished in 2.01s\n",
		"count":           "requests: x total\n",
		"nothing done":    "requests: 1 total, 0 failed\n",
		"nothing failed":  "requests: 1 total, 1 done\n",
		"no columns":      counts + "time for request: 1us 2us 3us\n",
		"too few columns": counts + " min max mean\ntime for request: 1us 2us\n",
		"unknown unit":    counts + " min max mean\ntime for request: 1us 2us 3parsec\n",
	} {
		if r, err := Parse(text); err == nil {
			t.Errorf("%s: accepted as %+v", name, r)
		}
	}
}

func TestReadLog(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for micros := 200; micros > 0; micros-- {
		fmt.Fprintf(&b, "1796069518017412\t200\t%d\n", micros)
	}
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var r Result
	if err := r.readLog(log); err != nil || r.P50 != 100*time.Microsecond || r.P99 != 198*time.Microsecond {
		t.Errorf("%v and %v, %v", r.P50, r.P99, err)
	}
}

func TestLatencies(t *testing.T) {
	t.Parallel()
	got, err := latencies(strings.NewReader("1\t200\t7\n2\t-1\t8\tmore\t9\n"))
	if err != nil || len(got) != 2 || got[0] != 7 || got[1] != 8 {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"1\t200\n", "1\t200\tx\n", "\n"} {
		if got, err := latencies(strings.NewReader(text)); err == nil {
			t.Errorf("%q: accepted as %v", text, got)
		}
	}
	if got := percentile(nil, 0.5); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestArgs(t *testing.T) {
	t.Parallel()
	p := Plan{Addr: "127.0.0.1:80", Path: "/x", Threads: 2, Connections: 1, Streams: 100, Duration: 3 * time.Second}
	const want = "-t 1 -c 1 -m 100 -D 3 --log-file=f.log http://127.0.0.1:80/x"
	if got := strings.Join(p.args("f.log"), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
