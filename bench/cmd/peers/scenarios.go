package main

import (
	"fmt"
	"strings"

	"millrace.dev/bench/internal/hello"
	"millrace.dev/bench/internal/wrk"
)

// scenario is one kind of load.
type scenario struct {
	name, about string
	// tenfold: ten times the connections of the other scenarios.
	tenfold bool
	// pipeline is how many requests are sent at once on a connection.
	pipeline int
	// close: one request on each connection.
	close bool
	// handlers: only servers with the net/http.Handler take part.
	handlers bool
	// idle: connections that do nothing after one request, instead of load.
	idle bool
}

var scenarios = []scenario{
	{name: "c100", about: "one request at a time on each connection"},
	{name: "pipelined", about: "16 requests at once on each connection", pipeline: 16},
	{name: "c1000", about: "ten times the connections", tenfold: true},
	{name: "close", about: "one request per connection: accepting and closing", close: true},
	{name: "handler", about: "like c100, of the servers that run the same net/http.Handler", handlers: true},
	{name: "idle", about: "memory of keep-alive connections, idle after one request each", idle: true},
}

func (sc scenario) connections(s settings) int {
	switch {
	case sc.idle:
		return s.idle
	case sc.tenfold:
		return 10 * s.connections
	}
	return s.connections
}

// title names the scenario with the figures of this run.
func (sc scenario) title(s settings) string {
	return fmt.Sprintf("%s: %d connections, %s", sc.name, sc.connections(s), sc.about)
}

func (sc scenario) plan(s settings, addr string) wrk.Plan {
	return wrk.Plan{
		Addr: addr, Path: hello.Path, Threads: s.threads, Connections: sc.connections(s),
		Duration: s.duration, Pipeline: sc.pipeline, Close: sc.close,
	}
}

// metrics are what the scenario measures, the most telling one first.
func (sc scenario) metrics() []metric {
	if sc.idle {
		return idleMetrics
	}
	return loadMetrics
}

func (sc scenario) takesPart(programs []program) []program {
	var in []program
	for _, p := range programs {
		if p.handler || !sc.handlers {
			in = append(in, p)
		}
	}
	return in
}

func selectScenarios(list string) ([]scenario, error) {
	if list == "all" {
		return scenarios, nil
	}
	return pick(list, "scenario", scenarios, func(sc scenario) string { return sc.name })
}

func listScenarios() string {
	var b strings.Builder
	for _, sc := range scenarios {
		fmt.Fprintf(&b, "  %-17s %s\n", sc.name, sc.about)
	}
	return b.String()
}
