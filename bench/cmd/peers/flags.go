package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// settings are the parsed flags.
type settings struct {
	servers     []server
	scenarios   []scenario
	rounds      int
	duration    time.Duration
	warmup      time.Duration
	connections int
	threads     int
	idle        int
	idleStreams int
	loops       int
	quiet       float64
	seed        uint64
	out         string
	// command is the command line without -out, for the report.
	command string
}

const usageText = `Usage: go run ./cmd/peers [flags]     (in bench/)

Builds the servers under peers/, plays each scenario against each in interleaved rounds on
the loopback interface, and prints a table for each scenario. Figures are medians over the
rounds. A ratio is computed in each round, against the same round's reference, and the
median of those is shown. "per CPU-s" is answers per second of processor time, user and
system, that the server used.

It needs wrk, and cc for the C loop; nginx takes part when it is installed. The scenarios of
HTTP/2 need h2load and are left out without it; nghttpd takes part in them when it is
installed. Everything that it starts ends with it.

Servers:
%s
Scenarios:
%s
Flags:
`

func parseFlags(args []string) (settings, error) {
	var s settings
	var servers, scenarios string
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.StringVar(&servers, "servers", "all", "comma-separated `NAMES` of servers; all: those that can be built here")
	f.StringVar(&scenarios, "scenarios", "all", "comma-separated `NAMES` of scenarios")
	f.IntVar(&s.rounds, "rounds", 5, "rounds of each scenario")
	f.DurationVar(&s.duration, "duration", 3*time.Second, "length of one run, in whole seconds")
	f.DurationVar(&s.warmup, "warmup", time.Second, "unmeasured run before a scenario's first round, in whole seconds; 0: none")
	f.IntVar(&s.connections, "connections", 100, "connections; the scenario c1000 has ten times as many")
	f.IntVar(&s.threads, "threads", max(1, runtime.NumCPU()/2), "threads of wrk and h2load")
	f.IntVar(&s.idle, "idle", 10000, "connections of the scenario idle")
	f.IntVar(&s.idleStreams, "idle-streams", 100000, "open streams of the scenario h2idle, on 100 connections")
	f.IntVar(&s.loops, "loops", 1, "event loops of the servers that have any")
	f.Float64Var(&s.quiet, "quiet", 0, "repeat a run, at most twice, of which others used more than `PERCENT` of the machine; 0: never")
	f.Uint64Var(&s.seed, "seed", 1, "seed of the order in which the servers take their turns")
	f.StringVar(&s.out, "out", "", "also write `PREFIX`.md and PREFIX.json")
	f.Usage = func() {
		fmt.Fprintf(os.Stderr, usageText, listServers(), listScenarios())
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if f.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if err := s.validate(); err != nil {
		return s, err
	}
	var err1, err2 error
	s.servers, err1 = selectServers(servers)
	s.scenarios, err2 = selectScenarios(scenarios)
	s.command = commandLine(f)
	return s, errors.Join(err1, err2)
}

func (s *settings) validate() error {
	switch {
	case s.rounds < 1:
		return errors.New("-rounds: at least 1")
	case s.duration < time.Second || s.duration%time.Second != 0:
		return errors.New("-duration: whole seconds, at least 1s (wrk takes no others)")
	case s.warmup < 0 || s.warmup%time.Second != 0:
		return errors.New("-warmup: whole seconds")
	case s.threads < 1 || s.connections < s.threads:
		return errors.New("-threads and -connections: at least 1, and a connection for each thread")
	case s.idle < 1:
		return errors.New("-idle: at least 1")
	case s.idleStreams < waitingConns || s.idleStreams%waitingConns != 0:
		return fmt.Errorf("-idle-streams: as many on each of %d connections", waitingConns)
	case s.quiet < 0:
		return errors.New("-quiet: not negative")
	case s.loops < 1:
		return errors.New("-loops: at least 1")
	}
	return nil
}

// commandLine repeats the flags that were given. Where the report goes is left out: the
// report does not depend on it.
func commandLine(f *flag.FlagSet) string {
	var b strings.Builder
	b.WriteString("go run ./cmd/peers")
	f.Visit(func(g *flag.Flag) {
		if g.Name != "out" {
			fmt.Fprintf(&b, " -%s %s", g.Name, g.Value)
		}
	})
	return b.String()
}

// estimate is about how long the scenarios take.
func (s *settings) estimate(programs []program) time.Duration {
	const startAndStop, fill = 200 * time.Millisecond, 3 * time.Second
	var total time.Duration
	for _, sc := range s.scenarios {
		n := time.Duration(len(sc.takesPart(programs)))
		if sc.idle {
			total += n * time.Duration(s.rounds) * (startAndStop + fill)
		} else {
			total += n * (startAndStop + s.warmup + time.Duration(s.rounds)*(s.duration+startAndStop))
		}
	}
	return total
}

// pick returns the items that a comma-separated list names, in the list's order.
func pick[T any](list, what string, items []T, name func(T) string) ([]T, error) {
	var picked []T
next:
	for _, want := range strings.Split(list, ",") {
		for _, item := range items {
			if name(item) == want {
				picked = append(picked, item)
				continue next
			}
		}
		return nil, fmt.Errorf("no %s is called %q (-help lists them)", what, want)
	}
	return picked, nil
}
