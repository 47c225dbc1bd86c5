package main

import (
	"cmp"
	"fmt"
	"strings"

	"millrace.dev/bench/internal/hello"
)

// The names of the servers that others are compared with.
const (
	referenceName = "nethttp"
	limitName     = "cepoll"
	nghttpdName   = "nghttpd"
)

// role says what a server is compared as.
type role string

const (
	peer    role = "peer"    // a rival: the best of them is a reference
	limit   role = "limit"   // what is possible at all
	subject role = "subject" // what is compared with the others
)

// server is an entry of the table. To add one, write a command that takes -addr and -loops
// and prints "listening HOST:PORT" first (package peer helps), and name it here.
type server struct {
	name, about string
	role        role
	// plays are the kinds of scenarios that it takes part in.
	plays kind
	// dir is what to build, under bench/; build makes a program of it.
	dir   string
	build func(*builder, server) (program, error)
	// module is the Go module whose version is reported; empty: the Go release.
	module string
	// path is what it answers instead of hello.Path, if it has to.
	path string
	// args follow the address and the number of loops.
	args []string
	// optional: the default selection leaves it out, with a note, where it cannot be built.
	optional bool
}

var servers = []server{
	{name: limitName, about: "C, epoll, hardly a parser: the limit", role: limit, plays: http1, dir: "peers/cepoll/cepoll.c", build: (*builder).c},
	{name: referenceName, about: "net/http", role: peer, plays: anyKind,
		dir: "peers/nethttp", build: (*builder).golang},
	{name: "fasthttp", about: "fasthttp", role: peer, plays: http1, dir: "peers/fasthttp", build: (*builder).golang,
		module: "github.com/valyala/fasthttp"},
	{name: "gnet", about: "gnet v2, hardly a parser", role: peer, plays: http1, dir: "peers/gnet", build: (*builder).golang,
		module: "github.com/panjf2000/gnet/v2"},
	{name: "nbio-mixed", about: "nbio, mixed I/O", role: peer, plays: http1, dir: "peers/nbio", build: (*builder).golang,
		module: "github.com/lesismal/nbio", args: []string{"-mode", "mixed"}},
	{name: "nbio-nonblocking", about: "nbio, non-blocking I/O", role: peer, plays: http1, dir: "peers/nbio", build: (*builder).golang,
		module: "github.com/lesismal/nbio", args: []string{"-mode", "nonblocking"}},
	{name: "hertz", about: "hertz on netpoll", role: peer, plays: http1, dir: "peers/hertz", build: (*builder).golang,
		module: "github.com/cloudwego/hertz"},
	{name: "nginx", about: "nginx, return 200", role: peer, plays: http1, build: (*builder).nginx, optional: true},
	{name: nghttpdName, about: "nghttpd, a file", role: peer, plays: http2, build: (*builder).nghttpd,
		path: "/plaintext.txt", optional: true},
	{name: "millrace", about: "Millrace, native handler", role: subject, plays: http1 | http2 | waiting,
		dir: "peers/millrace", build: (*builder).golang, module: "millrace.dev", optional: true},
	{name: "millrace-fixed", about: "Millrace, native handler, answer put together once", role: subject, plays: http1,
		dir: "peers/millrace", build: (*builder).golang, module: "millrace.dev", args: []string{"-fixed"}, optional: true},
	{name: "millracehttp", about: "Millrace's httpserver, net/http.Handler", role: subject, plays: anyKind,
		dir: "peers/millracehttp", build: (*builder).golang, module: "millrace.dev", optional: true},
}

// resource is the path of what it is asked for.
func (s server) resource() string { return cmp.Or(s.path, hello.Path) }

// selectServers returns the servers that a flag names. A server named by itself is not
// optional.
func selectServers(list string) ([]server, error) {
	if list == "all" {
		return servers, nil
	}
	picked, err := pick(list, "server", servers, func(s server) string { return s.name })
	for i := range picked {
		picked[i].optional = false
	}
	return picked, err
}

func listServers() string {
	var b strings.Builder
	for _, s := range servers {
		fmt.Fprintf(&b, "  %-17s %s\n", s.name, s.about)
	}
	return b.String()
}
