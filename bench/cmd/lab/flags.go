package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// settings are the parsed flags.
type settings struct {
	topics    string
	pattern   string // of -run
	count     int
	benchtime string
	duration  time.Duration

	list, quick, smoke, render bool

	json, html, docs string // paths; empty: not written
	compare          string // the old results
	compareWith      string // the new ones, when nothing is to be measured
}

const usageText = `Usage: go run ./cmd/lab [flags]                        (in bench/)
       go run ./cmd/lab -compare OLD.json NEW.json

Builds the benchmarks of bench/micro once and runs them in repetitions, each of which plays
every chosen topic, so that a slow minute hits all alternatives alike. It prints a table for
each topic and writes

  report.json           every value measured
  report.html           tables and plots, in one file
  ../docs/benchmarks.md the tables and the summary, between the lab's markers there

-topics measures some topics only: they replace those of the same names in report.json, and
the page and the tables are made of all that are in it. -run, -quick and -smoke only print,
unless -json or -html name a file; it then has just what was measured.

An interrupt ends the run; what has been repeated completely is written all the same. The
exit status is 1 when a benchmark failed.

Examples:
  go run ./cmd/lab                                     everything
  go run ./cmd/lab -quick -topics hex,query            a first look
  go run ./cmd/lab -run 'Hex/op=encode'                one part, as of go test -bench
  go run ./cmd/lab -topics hex -compare report.json    what moved since the last run
  go run ./cmd/lab -smoke                              does every benchmark still run?

Flags:
`

// What -quick and -smoke stand for, where a flag of its own says nothing else. Fewer than 4
// repetitions could never tell a difference from chance.
const (
	quickCount, quickTime = 4, "10ms"
	smokeCount, smokeTime = 1, "1x"
)

func parseFlags(args []string) (settings, error) {
	var s settings
	f := flag.NewFlagSet("lab", flag.ContinueOnError)
	f.StringVar(&s.topics, "topics", "all", "comma-separated `NAMES` of topics (-list shows them)")
	f.StringVar(&s.pattern, "run", "", "only benchmarks that match `REGEXP`, an element of the name between slashes each, as of go test -bench")
	f.IntVar(&s.count, "count", 6, "repetitions; intervals need 6, and differences 4")
	f.StringVar(&s.benchtime, "benchtime", "50ms", "how `LONG` each benchmark runs in each repetition, or how often (100x)")
	f.DurationVar(&s.duration, "duration", 2*time.Second, "how long wrk loads a server in each repetition, in whole seconds")
	f.BoolVar(&s.list, "list", false, "list the topics and their benchmarks")
	f.BoolVar(&s.quick, "quick", false, fmt.Sprintf("a first look: -count %d -benchtime %s -duration 1s, and write no files", quickCount, quickTime))
	f.BoolVar(&s.smoke, "smoke", false, "run every benchmark once, check names and notes, and write no files; without the servers unless -topics names them")
	f.BoolVar(&s.render, "render", false, "measure nothing; write the page and the tables again from the results, as after a change of the notes")
	f.StringVar(&s.json, "json", "report.json", "where the results go, a `FILE`; empty: nowhere")
	f.StringVar(&s.html, "html", "report.html", "where the page goes, a `FILE`; empty: nowhere")
	f.StringVar(&s.docs, "docs", "../docs/benchmarks.md", "the `FILE` whose marked part the tables replace; empty: none")
	f.StringVar(&s.compare, "compare", "", "also show what moved since the results in `OLD.json`; with another file as argument compare the two and measure nothing")
	f.Usage = func() {
		fmt.Fprint(os.Stderr, usageText)
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return s, err
	}
	given := make(map[string]bool)
	f.Visit(func(g *flag.Flag) { given[g.Name] = true })
	s.applyModes(given)
	if s.compare != "" && f.NArg() == 1 {
		s.compareWith = f.Arg(0)
	} else if f.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	return s, s.validate(given)
}

// applyModes replaces defaults by those of -quick and -smoke, and of runs that only print.
func (s *settings) applyModes(given map[string]bool) {
	count, benchtime := s.count, s.benchtime
	switch {
	case s.smoke:
		count, benchtime = smokeCount, smokeTime
	case s.quick:
		count, benchtime = quickCount, quickTime
	}
	if !given["count"] {
		s.count = count
	}
	if !given["benchtime"] {
		s.benchtime = benchtime
	}
	if (s.smoke || s.quick) && !given["duration"] {
		s.duration = time.Second
	}
	if !s.partial() {
		return
	}
	for name, path := range map[string]*string{"json": &s.json, "html": &s.html, "docs": &s.docs} {
		if !given[name] {
			*path = ""
		}
	}
}

// partial says whether the run is no measurement of whole topics that could stand for them.
func (s *settings) partial() bool { return s.smoke || s.quick || s.pattern != "" }

// benchtimeForm is a duration or a number of iterations.
var benchtimeForm = regexp.MustCompile(`^[1-9][0-9]*x$`)

func (s *settings) validate(given map[string]bool) error {
	if s.count < 1 {
		return errors.New("-count: at least 1")
	}
	if d, err := time.ParseDuration(s.benchtime); !benchtimeForm.MatchString(s.benchtime) && (err != nil || d <= 0) {
		return errors.New("-benchtime: a time such as 50ms or a number such as 100x")
	}
	if s.duration < time.Second || s.duration%time.Second != 0 {
		return errors.New("-duration: whole seconds, at least 1s (wrk takes no others)")
	}
	for _, choice := range splitPattern(s.pattern, '|') {
		for _, element := range splitPattern(choice, '/') {
			if _, err := regexp.Compile(element); err != nil {
				return fmt.Errorf("-run: %w", err)
			}
		}
	}
	if s.partial() && given["docs"] && s.docs != "" {
		return errors.New("-docs: the tables there are of whole topics, and not of -run, -quick or -smoke")
	}
	if s.compareWith == "" && s.smoke && s.compare != "" {
		return errors.New("-compare: one iteration of -smoke says nothing about times")
	}
	return nil
}

// each says how long a benchmark runs in each repetition.
func (s *settings) each() string {
	if n, ok := strings.CutSuffix(s.benchtime, "x"); ok {
		if n == "1" {
			return "1 iteration"
		}
		return n + " iterations"
	}
	d, _ := time.ParseDuration(s.benchtime) // validated
	if d < time.Second {
		return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'g', -1, 64) + " ms"
	}
	return strconv.FormatFloat(d.Seconds(), 'g', -1, 64) + " s"
}
