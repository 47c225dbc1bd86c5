package wrk

import (
	"bufio"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Result is what one run measured.
type Result struct {
	// Requests is the number of answers, and Elapsed the time that they took.
	Requests int64
	Elapsed  time.Duration
	// PerSecond is answers per second, as wrk computed it.
	PerSecond float64
	// P50 and P99 are latency percentiles; of a whole batch when pipelining.
	P50, P99 time.Duration
	// CPU is the processor time that wrk used; Parse leaves it 0.
	CPU time.Duration
	// Errors counts what went wrong.
	Errors Errors

	histogram []bucket
}

// Errors counts failed connects, reads, writes, answers that took over 2 s, and answers
// with a status of 400 or more.
type Errors struct{ Connect, Read, Write, Timeout, Status int64 }

// Total returns how many errors there were of any kind.
func (e Errors) Total() int64 { return e.Connect + e.Read + e.Write + e.Timeout + e.Status }

var units = map[string]time.Duration{
	"us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour,
}

// Parse reads the text that wrk --latency prints.
func Parse(out string) (Result, error) {
	var r Result
	lines := bufio.NewScanner(strings.NewReader(out))
	lines.Buffer(nil, 64<<20) // the histogram is one long line
	for lines.Scan() {
		if err := r.parseLine(strings.TrimSpace(lines.Text())); err != nil {
			return Result{}, err
		}
	}
	if err := lines.Err(); err != nil {
		return Result{}, err
	}
	if r.Elapsed == 0 {
		return Result{}, errors.New("no line that counts the requests")
	}
	return r, nil
}

func (r *Result) parseLine(line string) (err error) {
	name, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch {
	case name == "50%":
		r.P50, err = parseDuration(rest)
	case name == "99%":
		r.P99, err = parseDuration(rest)
	case name == "Requests/sec:":
		r.PerSecond, err = strconv.ParseFloat(rest, 64)
	case strings.HasPrefix(rest, "requests in "):
		err = r.parseCount(name, rest)
	case strings.HasPrefix(line, "Socket errors:"):
		e := &r.Errors
		_, err = fmt.Sscanf(line, "Socket errors: connect %d, read %d, write %d, timeout %d",
			&e.Connect, &e.Read, &e.Write, &e.Timeout)
	case strings.HasPrefix(line, "Non-2xx or 3xx responses:"):
		_, err = fmt.Sscanf(line, "Non-2xx or 3xx responses: %d", &r.Errors.Status)
	case name == "histogram:":
		r.histogram, err = parseHistogram(rest)
	}
	if err != nil {
		return fmt.Errorf("%q: %w", line, err)
	}
	return nil
}

// parseCount reads "N requests in 2.00s, 5.51MB read".
func (r *Result) parseCount(n, rest string) (err error) {
	if r.Requests, err = strconv.ParseInt(n, 10, 64); err != nil {
		return err
	}
	text, _, ok := strings.Cut(strings.TrimPrefix(rest, "requests in "), ",")
	if !ok {
		return errors.New("no comma after the time")
	}
	r.Elapsed, err = parseDuration(text)
	return err
}

// parseDuration reads wrk's form, a number with a unit: "635.00us", "1.07m".
func parseDuration(s string) (time.Duration, error) {
	i := strings.LastIndexAny(s, "0123456789.") + 1
	unit, ok := units[s[i:]]
	if !ok {
		return 0, fmt.Errorf("unknown unit of time in %q", s)
	}
	v, err := strconv.ParseFloat(s[:i], 64)
	if err != nil {
		return 0, err
	}
	return time.Duration(v * float64(unit)), nil
}
