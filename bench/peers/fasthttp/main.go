// Command fasthttp answers GET /plaintext on fasthttp.
package main

import (
	"github.com/valyala/fasthttp"

	"millrace.dev/bench/internal/hello"
	"millrace.dev/bench/internal/peer"
)

func serve(ctx *fasthttp.RequestCtx) {
	if string(ctx.Path()) != hello.Path {
		ctx.NotFound()
		return
	}
	ctx.SetContentType(hello.ContentType)
	ctx.SetBodyString(hello.Body)
}

func main() {
	ln, err := peer.Listen(peer.ParseFlags())
	peer.Exit(err)
	s := &fasthttp.Server{Handler: serve, NoDefaultServerHeader: true}
	peer.Exit(s.Serve(ln))
}
