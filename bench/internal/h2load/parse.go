package h2load

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Result is what one run measured.
type Result struct {
	// Requests is the number of answers, Failed how many of them had a status from 400,
	// and of the streams that ended without one. PerSecond is answers per second.
	Requests, Failed int64
	PerSecond        float64
	// Mean and Max are latencies as h2load gives them.
	Mean, Max time.Duration
	// P50 and P99 are percentiles of the latencies in h2load's log; Parse leaves them 0.
	P50, P99 time.Duration
	// CPU is the processor time that h2load used; Parse leaves it 0.
	CPU time.Duration
}

// Parse reads the text that h2load prints.
func Parse(out string) (Result, error) {
	var r Result
	var columns []string // of the table of times
	counted := false
	for line := range strings.Lines(out) {
		name, rest, _ := strings.Cut(line, ":")
		var err error
		switch fields := strings.Fields(rest); {
		case strings.HasPrefix(line, "finished in "):
			_, err = fmt.Sscanf(line, "finished in %s %f req/s", new(string), &r.PerSecond)
		case name == "requests":
			counted, err = true, r.parseCounts(rest)
		case name == "time for request":
			err = r.parseTimes(columns, fields)
		case strings.HasPrefix(strings.TrimSpace(line), "min "):
			columns = strings.Fields(line)
		}
		if err != nil {
			return Result{}, fmt.Errorf("%q: %w", line, err)
		}
	}
	if !counted {
		return Result{}, errors.New("no line that counts the requests")
	}
	return r, nil
}

// parseCounts reads "12 total, 13 started, 12 done, 11 succeeded, 1 failed, 0 errored, 0
// timeout". What was errored or timed out has failed, too.
func (r *Result) parseCounts(counts string) error {
	n := make(map[string]int64)
	for _, count := range strings.Split(counts, ",") {
		number, what, _ := strings.Cut(strings.TrimSpace(count), " ")
		v, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return err
		}
		n[what] = v
	}
	for _, what := range []string{"done", "failed"} {
		if _, ok := n[what]; !ok {
			return fmt.Errorf("no number of %s", what)
		}
	}
	r.Requests, r.Failed = n["done"], n["failed"]
	return nil
}

func (r *Result) parseTimes(columns, values []string) error {
	for name, v := range map[string]*time.Duration{"mean": &r.Mean, "max": &r.Max} {
		i := slices.Index(columns, name)
		if i < 0 || i >= len(values) {
			return fmt.Errorf("no %s", name)
		}
		var err error
		if *v, err = time.ParseDuration(values[i]); err != nil {
			return err
		}
	}
	return nil
}
