package main

import (
	"encoding/json"
	"errors"
	"flag"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"millrace.dev/bench/internal/hello"
)

func TestFlags(t *testing.T) {
	t.Parallel()
	s, err := parseFlags([]string{"-servers", "gnet,nethttp", "-scenarios", "c1000,idle", "-rounds", "2",
		"-duration", "2s", "-connections", "50", "-out", "somewhere"})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.servers) != 2 || s.servers[0].name != "gnet" || s.servers[1].name != "nethttp" {
		t.Errorf("servers: %v", s.servers)
	}
	if got := s.scenarios[0].plan(s, "a:1").Connections; got != 500 {
		t.Errorf("c1000 with -connections 50 has %d", got)
	}
	if got := s.scenarios[1].connections(s); got != 10000 {
		t.Errorf("idle has %d", got)
	}
	if want := "go run ./cmd/peers -connections 50 -duration 2s -rounds 2 -scenarios c1000,idle -servers gnet,nethttp"; s.command != want {
		t.Errorf("command %q", s.command)
	}
}

func TestFlagsRefused(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		"-rounds 0", "-duration 1500ms", "-duration 0s", "-warmup -1s", "-warmup 10ms", "-threads 0",
		"-connections 1 -threads 2", "-idle 0", "-loops 0", "-quiet -1", "-servers apache", "-scenarios c7", "extra",
	} {
		if _, err := parseFlags(strings.Fields(args)); err == nil || errors.Is(err, flag.ErrHelp) {
			t.Errorf("%s: accepted", args)
		}
	}
}

func TestANamedServerIsNotOptional(t *testing.T) {
	t.Parallel()
	all, err := selectServers("all")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		named, err := selectServers(s.name)
		if err != nil || len(named) != 1 || named[0].optional {
			t.Errorf("%s: %v, %v", s.name, named, err)
		}
	}
	if all[0].name != limitName || all[1].name != referenceName {
		t.Errorf("the table begins with %s and %s", all[0].name, all[1].name)
	}
}

func TestHandlerScenarioTakesHandlersOnly(t *testing.T) {
	t.Parallel()
	programs := []program{{server: server{name: "a"}}, {server: server{name: "b", handler: true}}}
	if in := (scenario{handlers: true}).takesPart(programs); len(in) != 1 || in[0].name != "b" {
		t.Errorf("got %v", in)
	}
	if in := (scenario{}).takesPart(programs); len(in) != 2 {
		t.Errorf("got %v", in)
	}
}

// rounds makes a result whose first metric has the given values.
func rounds(name string, r role, key string, values ...float64) *serverResult {
	s := &serverResult{Name: name, role: r}
	for _, v := range values {
		s.Rounds = append(s.Rounds, sample{key: v, keyErrors: 1})
	}
	return s
}

func exampleResult() *scenarioResult {
	sc := &scenarioResult{Name: "c100", Title: "c100: an example", metrics: loadMetrics, Servers: []*serverResult{
		rounds("nethttp", peer, keyPerCPU, 100, 50, 100),
		rounds("gnet", peer, keyPerCPU, 200, 100, 210),
		rounds("millrace", subject, keyPerCPU, 300, 160, 300),
		rounds("cepoll", limit, keyPerCPU, 400, 200, 400),
		{Name: "broken", role: peer, Failure: "it ended", Rounds: make([]sample, 3)},
	}}
	sc.summarise()
	return sc
}

func TestSummary(t *testing.T) {
	t.Parallel()
	sc := exampleResult()
	var order []string
	for _, s := range sc.Servers {
		order = append(order, s.Name)
	}
	if got := strings.Join(order, " "); got != "cepoll millrace gnet nethttp broken" {
		t.Errorf("order: %s", got)
	}
	if sc.Best[keyPerCPU] != "gnet" {
		t.Errorf("best peer: %v", sc.Best)
	}
	m := sc.find("millrace")
	r := m.Ratios[keyPerCPU]
	// Per round to net/http: 3, 3.2, 3; to gnet: 1.5, 1.6, 1.43; to C: 0.75, 0.8, 0.75.
	if *r.NetHTTP != 3 || *r.BestPeer != 1.5 || *r.CLoop != 0.75 {
		t.Errorf("ratios: %v, %v, %v", *r.NetHTTP, *r.BestPeer, *r.CLoop)
	}
	if m.Medians[keyPerCPU] != 300 || m.Errors != 3 || math.Abs(*m.Spread-140.0/300) > 1e-9 {
		t.Errorf("median %v, errors %v, spread %v", m.Medians, m.Errors, *m.Spread)
	}
	if b := sc.find("broken"); b.Spread != nil || b.Ratios[keyPerCPU].NetHTTP != nil {
		t.Errorf("a server without rounds has figures: %+v", b)
	}
}

func TestLessIsBetterForTimes(t *testing.T) {
	t.Parallel()
	sc := &scenarioResult{metrics: []metric{{key: keyP99, lower: true, compared: true}}, Servers: []*serverResult{
		rounds("slow", peer, keyP99, 9), rounds("fast", peer, keyP99, 2),
	}}
	sc.summarise()
	if sc.Best[keyP99] != "fast" || sc.Servers[0].Name != "fast" {
		t.Errorf("best %v, first %s", sc.Best, sc.Servers[0].Name)
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := writeScenario(&b, exampleResult()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"## c100: an example\n",
		"| millrace |       300 |", "| millrace    | 3.00 / 1.50 / 0.75 | – / – / – |", "| broken   |         – |",
		"broken failed: it ended",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("lacks %q:\n%s", want, b.String())
		}
	}
	width := 0
	for line := range strings.Lines(b.String()) {
		if !strings.HasPrefix(line, "|") {
			width = 0
		} else if n := len([]rune(line)); width == 0 {
			width = n
		} else if n != width {
			t.Errorf("a row of %d columns in a table of %d: %q", n, width, line)
		}
	}
}

func TestReportFiles(t *testing.T) {
	t.Parallel()
	r := newReport(settings{rounds: 3, duration: time.Second, command: "go run ./cmd/peers"},
		[]program{{server: server{name: "gnet", about: "x", role: peer}, version: "v2"}}, []string{"nginx (not there)"})
	r.Scenarios = append(r.Scenarios, exampleResult())
	prefix := filepath.Join(t.TempDir(), "report")
	if err := r.writeFiles(prefix); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(prefix + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var back report
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if got := back.Scenarios[0].Servers[1].Rounds[1][keyPerCPU]; got != 160 {
		t.Errorf("round 2 of millrace: %v", got)
	}
	if text, err = os.ReadFile(prefix + ".md"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "| gnet   | x    | v2      |") || !strings.Contains(string(text), "Without nginx") {
		t.Errorf("report:\n%s", text)
	}
}

func TestCheckServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"the handler": {hello.Handler().ServeHTTP, ""},
		"status":      {http.NotFound, "status 404"},
		"type": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Write([]byte(hello.Body))
		}, "Content-Type"},
		"date": {func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Date"] = nil
			hello.Handler().ServeHTTP(w, r)
		}, "Date"},
		"close": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close")
			hello.Handler().ServeHTTP(w, r)
		}, "close"},
	} {
		s := httptest.NewServer(c.handler)
		err := checkServer(s.Listener.Addr().String())
		s.Close()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
