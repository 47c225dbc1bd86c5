package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"millrace.dev/bench/internal/hello"
	"millrace.dev/bench/internal/launch"
	"millrace.dev/bench/internal/load"
	"millrace.dev/bench/internal/result"
	"millrace.dev/bench/internal/wrk"
)

// serverTopic compares settings of the HTTP server of peers/millrace under load. The time of
// an operation is the processor time that the server used for a request: wrk shares the
// machine with it, so what is answered in a second says more about both.
type serverTopic struct {
	name      string
	benchmark string // the first element of the benchmarks' names
	flag      string // of the server
	values    []string
}

var serverTopics = []*serverTopic{
	{name: "server-allocators", benchmark: "ServerAllocators", flag: "-allocator",
		values: []string{"pooled", "pooled-offheap", "unpooled", "unpooled-offheap"}},
	{name: "server-leak", benchmark: "ServerLeak", flag: "-leak",
		values: []string{"disabled", "simple", "advanced", "paranoid"}},
}

// loads are what a server is put under, one after the other. Pipelined requests share their
// system calls, so what the server itself does weighs more.
var loads = []struct {
	name     string
	pipeline int
}{{"c100", 1}, {"pipelined", 16}}

const (
	loadConnections = 100
	warmup          = time.Second
)

// units of what wrk and the kernel tell beside the processor time.
const (
	unitPerSecond = "req/s"
	unitPerCPU    = "req/cpu-s"
)

// measurementName is the name of a value's benchmark under a load.
func (s *serverTopic) measurementName(load, value string) string {
	return s.benchmark + "/load=" + load + "/alt=" + value
}

// buildServer compiles the server.
func buildServer(ctx context.Context, root, dir string) (string, error) {
	bin := filepath.Join(dir, "millrace")
	return bin, buildWith(ctx, root, "build", "-o", bin, "./peers/millrace")
}

// serverRound starts a server with each of the values, in a new order each time, and plays
// all loads against it. Only one runs at a time, and none between the rounds.
func (l *lab) serverRound(ctx context.Context, s *serverTopic, progress func(name string)) (round, error) {
	byValue := make([]round, len(s.values))
	var errs []error
	for _, i := range rand.Perm(len(s.values)) {
		var err error
		if byValue[i], err = l.loadServer(ctx, s, s.values[i], progress); err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", s.flag, s.values[i], err))
		}
		if ctx.Err() != nil {
			return round{}, ctx.Err()
		}
	}
	var all round
	for _, r := range byValue { // the first value is the reference, whenever it ran
		all.measured = append(all.measured, r.measured...)
		all.others = append(all.others, r.others...)
	}
	return all, errors.Join(errs...)
}

func (l *lab) loadServer(ctx context.Context, s *serverTopic, value string, progress func(string)) (all round, err error) {
	server, err := launch.Start(ctx, []string{l.server, "-addr", "127.0.0.1:0", "-loops", "1", s.flag, value}, "")
	if err != nil {
		return all, err
	}
	defer server.Stop()
	plan := wrk.Plan{Addr: server.Addr, Path: hello.Path, Threads: 1, Connections: loadConnections, Duration: warmup,
		NoLatencies: true}
	if _, err := wrk.Run(ctx, l.dir, plan); err != nil {
		return all, err
	}
	plan.Duration = l.duration
	for _, ld := range loads {
		plan.Pipeline = ld.pipeline
		m, err := load.Measure(ctx, l.dir, plan, server)
		if err != nil {
			return all, err
		}
		name := s.measurementName(ld.name, value)
		progress(name)
		if m.Errors.Total() > 0 || m.Requests == 0 {
			return all, fmt.Errorf("%s: %d answers; errors: %+v", name, m.Requests, m.Errors)
		}
		all.measured = append(all.measured, serverMeasurement(name, m))
		all.others = append(all.others, m.Others)
	}
	return all, nil
}

func serverMeasurement(name string, m load.Sample) result.Measurement {
	return result.Measurement{Name: name, Values: map[string]float64{
		result.Time:   1 / m.PerCPU(),
		unitPerSecond: m.PerSecond,
		unitPerCPU:    m.PerCPU(),
	}}
}
