package main

import (
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
		"-rounds 0", "-duration 1500ms", "-duration 0s", "-warmup -1s", "-warmup 10ms", "-threads 0", "-idle-streams 0", "-idle-streams 150",
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

func TestServersTakePartInWhatTheyPlay(t *testing.T) {
	t.Parallel()
	var programs []program
	for _, s := range servers {
		programs = append(programs, program{server: s})
	}
	for name, want := range map[string]string{
		"c100":    "cepoll nethttp fasthttp gnet nbio-mixed nbio-nonblocking hertz nginx millrace millrace-fixed millracehttp",
		"handler": "nethttp millracehttp",
		"h2c10":   "nethttp nghttpd millrace millracehttp",
		"h2idle":  "nethttp millrace millracehttp",
	} {
		sc, err := selectScenarios(name)
		if err != nil {
			t.Fatal(err)
		}
		var in, build []string
		for _, p := range sc[0].takesPart(programs) {
			in = append(in, p.name)
		}
		for _, s := range needed(servers, sc) {
			build = append(build, s.name)
		}
		if got := strings.Join(in, " "); got != want {
			t.Errorf("%s is played by %s", name, got)
		}
		if got := strings.Join(build, " "); got != want {
			t.Errorf("%s needs %s", name, got)
		}
	}
}

func TestScenariosWithoutTheirLoadGenerator(t *testing.T) {
	t.Setenv("PATH", "")
	http2, err := selectScenarios("h2c1,h2idle")
	if err != nil {
		t.Fatal(err)
	}
	can, skipped, err := playable(http2)
	if err != nil || len(can) != 1 || can[0].name != "h2idle" || len(skipped) != 1 || !strings.Contains(skipped[0], "h2load") {
		t.Errorf("without h2load: %v, %v, %v", can, skipped, err)
	}
	if _, _, err := playable(scenarios); err == nil {
		t.Error("plays without wrk")
	}
}

func TestHTTP2Scenarios(t *testing.T) {
	t.Parallel()
	s, err := parseFlags([]string{"-scenarios", "h2c1,h2c10,h2idle", "-idle-streams", "50000", "-connections", "7"})
	if err != nil {
		t.Fatal(err)
	}
	one, ten, idle := s.scenarios[0], s.scenarios[1], s.scenarios[2]
	if p := one.plan2(s, "a:1", "/x"); p.Connections != 1 || p.Streams != 100 || p.Path != "/x" || p.Duration != s.duration {
		t.Errorf("h2c1: %+v", p)
	}
	if p := ten.plan2(s, "a:1", "/x"); p.Connections != 10 {
		t.Errorf("h2c10: %+v", p)
	}
	if got := one.title(s); got != "h2c1: 1 connection, HTTP/2, 100 requests at once on it" {
		t.Errorf("title %q", got)
	}
	const want = "h2idle: 100 connections, memory of open HTTP/2 streams, unanswered, 500 on each"
	if got := idle.title(s); got != want {
		t.Errorf("title %q", got)
	}
	if m := idle.metrics(); m[0].key != keyWaiting || len(m) != len(idleMetrics) || idleMetrics[0].key != keyIdle {
		t.Errorf("metrics %v", m)
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
	sc := &scenarioResult{Name: "c100", Title: "c100: an example", metrics: loadMetrics, refs: (scenario{kind: http1}).references(), Servers: []*serverResult{
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
	if len(r) != 3 || r["net_http"] != 3 || r["best_peer"] != 1.5 || r["c_loop"] != 0.75 {
		t.Errorf("ratios: %v", r)
	}
	if m.Medians[keyPerCPU] != 300 || m.Errors != 3 || math.Abs(*m.Spread-140.0/300) > 1e-9 {
		t.Errorf("median %v, errors %v, spread %v", m.Medians, m.Errors, *m.Spread)
	}
	if b := sc.find("broken"); b.Spread != nil || len(b.Ratios[keyPerCPU]) > 0 {
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

func TestHTTP2IsComparedWithNghttpd(t *testing.T) {
	t.Parallel()
	sc := &scenarioResult{metrics: loadMetrics, refs: (scenario{kind: http2}).references(), Servers: []*serverResult{
		rounds("nghttpd", peer, keyPerCPU, 400), rounds("millrace", subject, keyPerCPU, 800),
	}}
	sc.summarise()
	var b strings.Builder
	if err := writeScenario(&b, sc); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nTo net/http / to nghttpd:\n", "| millrace    |  – / 2.00 |", "| (best peer) |   nghttpd |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("lacks %q:\n%s", want, b.String())
		}
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
		"broken failed: it ended", "\nTo net/http / to the best peer / to the C loop:\n",
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
