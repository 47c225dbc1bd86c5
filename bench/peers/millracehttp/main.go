// Command millracehttp runs the net/http.Handler of package hello, unchanged, on Millrace's
// httpserver.
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

func main() {
	profile := flag.String("pprof", "", "`HOST:PORT` to serve profiles on")
	o := peer.ParseFlags()
	if *profile != "" {
		go func() { peer.Exit(http.ListenAndServe(*profile, nil)) }()
	}
	group, err := loop.NewGroup(loop.Options{Loops: o.Loops})
	peer.Exit(err)
	server := &httpserver.Server{Group: group, Handler: hello.Handler()}
	server.HTTP2.MaxStreams = uint32(o.MaxStreams)
	listener, err := server.Listen("tcp", o.Addr)
	peer.Exit(err)
	peer.Announce(os.Stdout, listener.LocalAddr())
	select {}
}
