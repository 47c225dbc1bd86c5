// Command nethttp answers GET /plaintext on net/http's server.
package main

import (
	"net/http"

	"millrace.dev/bench/internal/hello"
	"millrace.dev/bench/internal/peer"
)

func main() {
	ln, err := peer.Listen(peer.ParseFlags())
	peer.Exit(err)
	peer.Exit((&http.Server{Handler: hello.Handler()}).Serve(ln))
}
