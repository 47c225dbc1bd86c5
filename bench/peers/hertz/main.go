// Command hertz answers GET /plaintext on hertz with its default transport, netpoll.
package main

import (
	"context"

	"github.com/cloudwego/hertz/pkg/app"
	"github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/common/config"
	"github.com/cloudwego/hertz/pkg/common/hlog"
	"github.com/cloudwego/netpoll"

	"millrace.dev/bench/internal/hello"
	"millrace.dev/bench/internal/peer"
)

var body = []byte(hello.Body)

func serve(_ context.Context, ctx *app.RequestContext) {
	ctx.Data(200, hello.ContentType, body)
}

// withoutServerHeader sets an option that hertz has no function for.
func withoutServerHeader() config.Option {
	return config.Option{F: func(o *config.Options) { o.NoDefaultServerHeader = true }}
}

func main() {
	o := peer.ParseFlags()
	hlog.SetLevel(hlog.LevelError)
	peer.Exit(netpoll.Configure(netpoll.Config{PollerNum: o.Loops}))
	ln, err := peer.Listen(o)
	peer.Exit(err)
	h := server.New(server.WithListener(ln), server.WithDisablePrintRoute(true), withoutServerHeader())
	h.GET(hello.Path, serve)
	peer.Exit(h.Run())
}
