// Command nethttp answers GET /plaintext on net/http's server, over HTTP/1.1 and HTTP/2.
package main

import (
	"net/http"

	"millrace.dev/bench/internal/hello"
	"millrace.dev/bench/internal/peer"
)

func main() {
	o := peer.ParseFlags()
	ln, err := peer.Listen(o)
	peer.Exit(err)
	server := &http.Server{Handler: hello.Handler(), Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	server.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: int(o.MaxStreams)}
	peer.Exit(server.Serve(ln))
}
