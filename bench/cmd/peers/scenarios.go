package main

import (
	"fmt"
	"slices"
	"strings"

	"millrace.dev/bench/internal/h2load"
	"millrace.dev/bench/internal/hello"
	"millrace.dev/bench/internal/wrk"
)

// kind is what a server has to be able to do for a scenario.
type kind uint8

const (
	http1    kind = 1 << iota // answer hello.Path over HTTP/1.1
	handlers                  // do so with the net/http.Handler of package hello
	http2                     // answer it over HTTP/2 without TLS
	waiting                   // leave hello.WaitPath open there
	anyKind  kind = 1<<iota - 1
)

const (
	// busyStreams is how many requests are under way at once on a connection of HTTP/2.
	busyStreams = 100
	// waitingConns is how many connections the open streams are spread over.
	waitingConns = 100
)

// scenario is one kind of load.
type scenario struct {
	name, about string
	kind        kind
	// conns is a number of connections that no flag changes; 0: there is a flag.
	conns int
	// tenfold: ten times the connections of the other scenarios.
	tenfold bool
	// pipeline is how many requests are sent at once on a connection.
	pipeline int
	// close: one request on each connection.
	close bool
	// idle: connections that do nothing after one request, or streams that are never
	// answered, instead of load.
	idle bool
}

var scenarios = []scenario{
	{name: "c100", kind: http1, about: "one request at a time on each connection"},
	{name: "pipelined", kind: http1, about: "16 requests at once on each connection", pipeline: 16},
	{name: "c1000", kind: http1, about: "ten times the connections", tenfold: true},
	{name: "close", kind: http1, about: "one request per connection: accepting and closing", close: true},
	{name: "handler", kind: handlers, about: "like c100, of the servers that run the same net/http.Handler"},
	{name: "idle", kind: http1, about: "memory of keep-alive connections, idle after one request each", idle: true},
	{name: "h2c1", kind: http2, about: "HTTP/2, 100 requests at once on it", conns: 1},
	{name: "h2c10", kind: http2, about: "HTTP/2, 100 requests at once on each connection", conns: 10},
	{name: "h2idle", kind: waiting, about: "memory of open HTTP/2 streams, unanswered",
		conns: waitingConns, idle: true},
}

func (sc scenario) connections(s settings) int {
	switch {
	case sc.conns > 0:
		return sc.conns
	case sc.idle:
		return s.idle
	case sc.tenfold:
		return 10 * s.connections
	}
	return s.connections
}

// title names the scenario with the figures of this run.
func (sc scenario) title(s settings) string {
	n, noun := sc.connections(s), "connections"
	if n == 1 {
		noun = "connection"
	}
	title := fmt.Sprintf("%s: %d %s, %s", sc.name, n, noun, sc.about)
	if sc.kind == waiting {
		title += fmt.Sprintf(", %d on each", s.idleStreams/waitingConns)
	}
	return title
}

// http2 says whether HTTP/2 is spoken.
func (sc scenario) http2() bool { return sc.kind&(http2|waiting) != 0 }

func (sc scenario) plan(s settings, addr string) wrk.Plan {
	return wrk.Plan{
		Addr: addr, Path: hello.Path, Threads: s.threads, Connections: sc.connections(s),
		Duration: s.duration, Pipeline: sc.pipeline, Close: sc.close,
	}
}

func (sc scenario) plan2(s settings, addr, path string) h2load.Plan {
	return h2load.Plan{
		Addr: addr, Path: path, Threads: s.threads, Connections: sc.connections(s), Streams: busyStreams,
		Duration: s.duration,
	}
}

// metrics are what the scenario measures, the most telling one first.
func (sc scenario) metrics() []metric {
	switch {
	case sc.idle && sc.http2():
		return waitingMetrics
	case sc.idle:
		return idleMetrics
	}
	return loadMetrics
}

// references are what the servers are compared with.
func (sc scenario) references() []reference {
	if sc.http2() {
		return []reference{toNetHTTP, toNghttpd}
	}
	return []reference{toNetHTTP, toBestPeer, toCLoop}
}

func (sc scenario) takesPart(programs []program) []program {
	var in []program
	for _, p := range programs {
		if p.plays&sc.kind != 0 {
			in = append(in, p)
		}
	}
	return in
}

// playable returns the scenarios whose load generator is installed, and says which are not.
func playable(scenarios []scenario) (can []scenario, skipped []string, err error) {
	for _, sc := range scenarios {
		switch {
		case sc.idle:
		case sc.http2():
			if _, err := h2load.Find(); err != nil {
				progress("without %s: %v", sc.name, err)
				skipped = append(skipped, fmt.Sprintf("%s (%v)", sc.name, err))
				continue
			}
		default:
			if _, err := wrk.Find(); err != nil {
				return nil, nil, err
			}
		}
		can = append(can, sc)
	}
	return can, skipped, nil
}

// needed returns the servers that take part in any of the scenarios.
func needed(servers []server, scenarios []scenario) []server {
	var kinds kind
	for _, sc := range scenarios {
		kinds |= sc.kind
	}
	return slices.DeleteFunc(slices.Clone(servers), func(s server) bool { return s.plays&kinds == 0 })
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
