// Command nbio answers GET /plaintext on nbio's HTTP server, in either of its I/O modes.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"

	"github.com/lesismal/nbio/logging"
	"github.com/lesismal/nbio/nbhttp"

	"millrace.dev/bench/internal/hello"
	"millrace.dev/bench/internal/peer"
)

var (
	handler = hello.Handler()
	length  = []string{strconv.Itoa(len(hello.Body))}
)

var modes = map[string]int{
	"mixed":       nbhttp.IOModMixed,
	"nonblocking": nbhttp.IOModNonBlocking,
}

// serve tells nbio the length, since it would send the body in chunks otherwise.
func serve(w http.ResponseWriter, r *http.Request) {
	w.Header()["Content-Length"] = length
	handler.ServeHTTP(w, r)
}

func listen(network, addr string) (net.Listener, error) {
	ln, err := net.Listen(network, addr)
	if err == nil {
		peer.Announce(os.Stdout, ln.Addr())
	}
	return ln, err
}

func main() {
	name := flag.String("mode", "mixed", "I/O `MODE`: mixed or nonblocking")
	o := peer.ParseFlags()
	mode, ok := modes[*name]
	if !ok {
		peer.Exit(fmt.Errorf("unknown -mode %q", *name))
	}
	logging.SetLevel(logging.LevelError)
	engine := nbhttp.NewEngine(nbhttp.Config{
		Network: "tcp",
		Addrs:   []string{o.Addr},
		Listen:  listen,
		IOMod:   mode,
		NPoller: o.Loops,
		Handler: http.HandlerFunc(serve),
	})
	peer.Exit(engine.Start())
	select {} // the runner ends the process
}
