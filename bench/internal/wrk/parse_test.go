package wrk

import (
	"os"
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

func TestParseCleanRun(t *testing.T) {
	t.Parallel()
	r := parseFile(t, "clean.txt")
	if r.Requests != 386740 || r.Elapsed != 2100*time.Millisecond || r.PerSecond != 184127.17 {
		t.Errorf("counts: %+v", r)
	}
	if r.P50 != 275*time.Microsecond || r.P99 != 1230*time.Microsecond {
		t.Errorf("percentiles: %v, %v", r.P50, r.P99)
	}
	if r.Errors.Total() != 0 {
		t.Errorf("errors: %+v", r.Errors)
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	r := parseFile(t, "errors.txt")
	want := Errors{Connect: 1, Read: 23, Write: 4, Timeout: 56, Status: 7890}
	if r.Errors != want || want.Total() != 7974 {
		t.Errorf("got %+v, want %+v", r.Errors, want)
	}
	if r.P99 != 1070*time.Millisecond || r.Elapsed != 66*time.Second {
		t.Errorf("seconds and minutes: %v, %v", r.P99, r.Elapsed)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nothing":           "",
		"no count":          "  50%  1.00ms\n",
		"unknown unit":      "  50%  1.00parsec\n  1 requests in 1.00s, 1B read\n",
		"no unit":           "  99%  12\n  1 requests in 1.00s, 1B read\n",
		"no number":         "  99%  ms\n  1 requests in 1.00s, 1B read\n",
		"count":             "  x requests in 1.00s, 1B read\n",
		"time without end":  "  1 requests in 1.00s\n",
		"socket errors":     "  1 requests in 1.00s, 1B read\n  Socket errors: connect x\n",
		"histogram value":   "  1 requests in 1.00s, 1B read\nhistogram: 10 x:1\n",
		"histogram count":   "  1 requests in 1.00s, 1B read\nhistogram: 10 1:x\n",
		"histogram no time": "  1 requests in 1.00s, 1B read\nhistogram: 1:1\n",
	} {
		if r, err := Parse(text); err == nil {
			t.Errorf("%s: accepted as %+v", name, r)
		}
	}
}

func TestScript(t *testing.T) {
	t.Parallel()
	s := Plan{Path: "/plaintext", Close: true}.script()
	if !strings.Contains(s, `"GET /plaintext HTTP/1.1\r\nHost: "`) ||
		!strings.Contains(s, `"\r\nConnection: close\r\n\r\n"`) || !strings.Contains(s, "one:rep(1)") {
		t.Errorf("one request a connection:\n%s", s)
	}
	s = Plan{Path: "/", Pipeline: 16}.script()
	if strings.Contains(s, "close") || !strings.Contains(s, "one:rep(16)") || !strings.Contains(s, "histogram:") {
		t.Errorf("pipelined:\n%s", s)
	}
}

func TestArgs(t *testing.T) {
	t.Parallel()
	p := Plan{Addr: "127.0.0.1:80", Path: "/x", Threads: 2, Connections: 100, Duration: 3 * time.Second}
	const want = "-t 2 -c 100 -d 3s --latency -s f.lua http://127.0.0.1:80/x"
	if got := strings.Join(p.args("f.lua"), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
