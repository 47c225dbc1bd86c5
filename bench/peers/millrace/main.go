// Command millrace answers GET /plaintext with a native handler of Millrace's httpserver:
// the full parser, and every limit and timeout at its default.
package main

import (
	"flag"
	"net/http"
	_ "net/http/pprof" // served on -pprof only
	"os"

	"millrace.dev/bench/internal/hello"
	"millrace.dev/bench/internal/peer"
	"millrace.dev/httpserver"
	"millrace.dev/loop"
)

var body = []byte(hello.Body)

func main() {
	profile := flag.String("pprof", "", "`HOST:PORT` to serve profiles on")
	o := peer.ParseFlags()
	if *profile != "" {
		go func() { peer.Exit(http.ListenAndServe(*profile, nil)) }()
	}
	group, err := loop.NewGroup(loop.Options{Loops: o.Loops})
	peer.Exit(err)
	server := &httpserver.Server{Group: group, Native: httpserver.NativeFunc(serve)}
	listener, err := server.Listen("tcp", o.Addr)
	peer.Exit(err)
	peer.Announce(os.Stdout, listener.LocalAddr())
	select {}
}

func serve(x *httpserver.Exchange) bool {
	if string(x.Request().Path()) != hello.Path {
		return false
	}
	x.Respond(http.StatusOK, hello.ContentType, body)
	return true
}
