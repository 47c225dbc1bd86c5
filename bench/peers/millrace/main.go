// Command millrace answers GET /plaintext with a native handler of Millrace's httpserver:
// the full parser, and every limit and timeout at its default. With -fixed the answer is
// one that was put together once, otherwise it is built and encoded for each request.
// -allocator and -leak choose the kind of buffers and what the leak detector watches.
package main

import (
	"flag"
	"net/http"
	_ "net/http/pprof" // served on -pprof only
	"os"

	"millrace.dev/bench/internal/hello"
	"millrace.dev/bench/internal/peer"
	"millrace.dev/buffer"
	codec "millrace.dev/codec/http"
	"millrace.dev/httpserver"
	"millrace.dev/loop"
)

var (
	body  = []byte(hello.Body)
	fixed *codec.Fixed // nil: build each answer
)

func main() {
	profile := flag.String("pprof", "", "`HOST:PORT` to serve profiles on")
	once := flag.Bool("fixed", false, "put the answer together once")
	var kind buffer.Kind
	flag.TextVar(&kind, "allocator", buffer.PooledHeap, "`KIND` of buffers: pooled, pooled-offheap, unpooled or unpooled-offheap")
	var level buffer.LeakLevel
	flag.TextVar(&level, "leak", buffer.Simple, "`LEVEL` of the leak detector: disabled, simple, advanced or paranoid")
	o := peer.ParseFlags()
	if *once {
		var err error
		fixed, err = codec.NewFixed(http.StatusOK, body, "Content-Type", hello.ContentType)
		peer.Exit(err)
	}
	if *profile != "" {
		go func() { peer.Exit(http.ListenAndServe(*profile, nil)) }()
	}
	buffer.SetLeakLevel(level)
	group, err := loop.NewGroup(loop.Options{Loops: o.Loops, Allocator: buffer.NewAllocator(kind)})
	peer.Exit(err)
	server := &httpserver.Server{Group: group, Native: httpserver.NativeFunc(serve)}
	server.HTTP2.MaxStreams = uint32(o.MaxStreams)
	listener, err := server.Listen("tcp", o.Addr)
	peer.Exit(err)
	peer.Announce(os.Stdout, listener.LocalAddr())
	select {}
}

func serve(x *httpserver.Exchange) bool {
	switch string(x.Request().Path()) {
	case hello.Path:
	case hello.WaitPath:
		return true // and is never answered
	default:
		return false
	}
	if fixed != nil {
		x.RespondFixed(fixed)
	} else {
		x.Respond(http.StatusOK, hello.ContentType, body)
	}
	return true
}
