package main

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"millrace.dev/bench/internal/table"
)

// The keys of what a run measures.
const (
	keyPerSecond = "requests_per_second"
	keyPerCPU    = "requests_per_cpu_second"
	keyCPU       = "cpu_seconds"
	keyP50       = "p50_ms"
	keyP99       = "p99_ms"
	keyMean      = "mean_ms"
	keyMax       = "max_ms"
	keyRSS       = "rss_mib"
	keyRSSBefore = "rss_before_mib"
	keyIdle      = "kib_per_idle_connection"
	keyWaiting   = "kib_per_open_stream"
	keyOthers    = "others_percent"
	keyErrors    = "errors"
)

// sample is what one run measured, by key.
type sample map[string]float64

// metric is a column of the tables.
type metric struct {
	key, title string
	// lower values are better.
	lower bool
	// compared: it has ratios.
	compared bool
	digits   int
}

var loadMetrics = []metric{
	{key: keyPerCPU, title: "per CPU-s", compared: true},
	{key: keyPerSecond, title: "req/s", compared: true},
	{key: keyP50, title: "p50 ms", compared: true, lower: true, digits: 2},
	{key: keyP99, title: "p99 ms", compared: true, lower: true, digits: 2},
	{key: keyRSS, title: "RSS MiB", compared: true, lower: true, digits: 1},
	{key: keyOthers, title: "others %", lower: true},
}

var idleMetrics = []metric{
	{key: keyIdle, title: "KiB per idle connection", compared: true, lower: true, digits: 2},
	{key: keyRSSBefore, title: "RSS before, MiB", lower: true, digits: 1},
	{key: keyRSS, title: "RSS with all, MiB", compared: true, lower: true, digits: 1},
}

var waitingMetrics = append([]metric{
	{key: keyWaiting, title: "KiB per open stream", compared: true, lower: true, digits: 2},
}, idleMetrics[1:]...)

// format writes a value of the metric: thousands grouped, and a dash for what is missing.
func (m metric) format(v float64) string { return table.Number(v, m.digits) }

// countErrors notes how many errors there were, and of which kinds.
func (s sample) countErrors(byKind map[string]int64) {
	s[keyErrors] = 0
	for kind, n := range byKind {
		if n > 0 {
			s[keyErrors] += float64(n)
			s[keyErrors+"_"+kind] = float64(n)
		}
	}
}

// millis is a time in a sample.
func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// line is a sample in words, for the progress.
func (s sample) line(metrics []metric) string {
	var parts []string
	for _, m := range metrics {
		parts = append(parts, m.title+" "+m.format(s.get(m.key)))
	}
	for _, key := range slices.Sorted(maps.Keys(s)) {
		if strings.HasPrefix(key, keyErrors) && s[key] > 0 {
			parts = append(parts, key+" "+table.Number(s[key], 0))
		}
	}
	return strings.Join(parts, ", ")
}

// get returns NaN for what the sample lacks, as the sample of a round that was not played.
func (s sample) get(key string) float64 {
	if v, ok := s[key]; ok {
		return v
	}
	return math.NaN()
}
