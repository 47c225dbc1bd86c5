package main

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"time"

	"millrace.dev/bench/internal/host"
	"millrace.dev/bench/internal/stats"
)

// report is everything that a comparison found. Its JSON form has every round.
type report struct {
	Started     time.Time         `json:"started"`
	Command     string            `json:"command"`
	Rounds      int               `json:"rounds"`
	Seconds     float64           `json:"seconds"` // of one run
	Connections int               `json:"connections"`
	Loops       int               `json:"loops"`
	Threads     int               `json:"wrk_threads"`
	Seed        uint64            `json:"seed"`
	Host        host.Host         `json:"host"`
	Servers     []serverInfo      `json:"servers"`
	Skipped     []string          `json:"skipped,omitempty"`
	Scenarios   []*scenarioResult `json:"scenarios"`
}

type serverInfo struct {
	Name    string `json:"name"`
	About   string `json:"about"`
	Role    role   `json:"role"`
	Version string `json:"version"`
}

type scenarioResult struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Best names the best peer, by metric.
	Best map[string]string `json:"best_peer"`
	// Servers are sorted by the first metric, the best first.
	Servers []*serverResult `json:"servers"`

	metrics []metric
	refs    []reference
}

type serverResult struct {
	Name string `json:"name"`
	// Failure says why later rounds are missing.
	Failure string             `json:"failure,omitempty"`
	Errors  float64            `json:"errors"`
	Rounds  []sample           `json:"rounds"`
	Medians map[string]float64 `json:"medians"`
	// Spread is (largest - smallest) / median of the first metric; nil without any round.
	Spread *float64 `json:"spread,omitempty"`
	// Ratios has, by metric and reference, the medians of the rounds' ratios. Those to a
	// reference that did not take part are missing.
	Ratios map[string]ratios `json:"ratios"`

	role role
}

// ratios are by the key of the reference.
type ratios map[string]float64

// reference is what servers are compared with.
type reference struct {
	key, title string
	// find returns nil when it did not take part.
	find func(*scenarioResult, metric) *serverResult
}

var (
	toNetHTTP  = reference{"net_http", "net/http", named(referenceName)}
	toBestPeer = reference{"best_peer", "the best peer", (*scenarioResult).bestPeer}
	toCLoop    = reference{"c_loop", "the C loop", named(limitName)}
	toNghttpd  = reference{"nghttpd", "nghttpd", named(nghttpdName)}
)

func named(name string) func(*scenarioResult, metric) *serverResult {
	return func(sc *scenarioResult, _ metric) *serverResult { return sc.find(name) }
}

func newReport(s settings, programs []program, skipped []string) *report {
	r := &report{
		Started: time.Now().UTC().Truncate(time.Second), Command: s.command, Rounds: s.rounds,
		Seconds: s.duration.Seconds(), Connections: s.connections, Loops: s.loops, Threads: s.threads, Seed: s.seed,
		Host: host.This(), Skipped: skipped,
	}
	for _, p := range programs {
		r.Servers = append(r.Servers, serverInfo{p.name, p.about, p.role, p.version})
	}
	return r
}

// writeFiles writes PREFIX.md and PREFIX.json; an empty prefix writes nothing.
func (r *report) writeFiles(prefix string) error {
	if prefix == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(prefix+".json", append(text, '\n'), 0o644),
		os.WriteFile(prefix+".md", []byte(r.markdown()), 0o644))
}

// values returns one metric of every round.
func (s *serverResult) values(key string) []float64 {
	values := make([]float64, len(s.Rounds))
	for i, round := range s.Rounds {
		values[i] = round.get(key)
	}
	return values
}

// summarise computes what is shown from the rounds.
func (sc *scenarioResult) summarise() {
	for _, s := range sc.Servers {
		s.Medians, s.Ratios = make(map[string]float64), make(map[string]ratios)
		for _, m := range sc.metrics {
			if v := stats.Median(s.values(m.key)); !math.IsNaN(v) {
				s.Medians[m.key] = v
			}
		}
		for _, round := range s.Rounds {
			s.Errors += round[keyErrors]
		}
		s.Spread = known(stats.Spread(s.values(sc.metrics[0].key)))
	}
	sc.compare()
	sc.sort()
}

// compare finds the best peer of each metric, by its median, and computes all ratios.
func (sc *scenarioResult) compare() {
	sc.Best = make(map[string]string)
	for _, m := range sc.metrics {
		if best := sc.bestPeer(m); best != nil {
			sc.Best[m.key] = best.Name
		}
		for _, s := range sc.Servers {
			if m.compared {
				s.Ratios[m.key] = s.ratios(sc, m)
			}
		}
	}
}

func (s *serverResult) ratios(sc *scenarioResult, m metric) ratios {
	r := make(ratios)
	for _, ref := range sc.refs {
		if to := ref.find(sc, m); to != nil {
			if v := known(stats.MedianRatio(s.values(m.key), to.values(m.key))); v != nil {
				r[ref.key] = *v
			}
		}
	}
	return r
}

// known returns nil for what is no number, which JSON has no form for.
func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func (sc *scenarioResult) find(name string) *serverResult {
	for _, s := range sc.Servers {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// bestPeer returns the peer with the best median, nil when none has any.
func (sc *scenarioResult) bestPeer(m metric) *serverResult {
	var best *serverResult
	for _, s := range sc.Servers {
		if _, measured := s.Medians[m.key]; !measured || s.role != peer {
			continue
		}
		if best == nil || m.better(s, best) {
			best = s
		}
	}
	return best
}

// better says whether a's median is better than b's; any is better than none.
func (m metric) better(a, b *serverResult) bool {
	x, hasX := a.Medians[m.key]
	y, hasY := b.Medians[m.key]
	if !hasX || !hasY {
		return hasX
	}
	return x != y && (x < y) == m.lower
}

func (sc *scenarioResult) sort() {
	slices.SortStableFunc(sc.Servers, func(a, b *serverResult) int {
		switch {
		case sc.metrics[0].better(a, b):
			return -1
		case sc.metrics[0].better(b, a):
			return 1
		}
		return 0
	})
}
