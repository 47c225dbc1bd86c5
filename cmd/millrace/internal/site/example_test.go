package site_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	nethttp "net/http"
	"time"

	"millrace.dev/channel"
	"millrace.dev/cmd/millrace/internal/figures"
	"millrace.dev/cmd/millrace/internal/site"
	"millrace.dev/httpserver"
	"millrace.dev/loop"
)

func Example() {
	logger := slog.New(slog.DiscardHandler)
	group, err := loop.NewGroup(loop.Options{Loops: 1, Name: "example", Logger: logger})
	if err != nil {
		panic(err)
	}
	defer func() { _, _ = group.Shutdown(0, time.Second).Wait(context.Background()) }()
	server := &httpserver.Server{Group: group, Metrics: channel.NewMetrics(group), Logger: logger}
	s, err := site.New(site.Options{Logger: logger, Collector: &figures.Collector{
		Group: group, Metrics: server.Metrics, Server: server, Started: time.Now(),
	}})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	server.Native = s
	ln, err := server.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer server.Close()
	r, err := nethttp.Get("http://" + ln.LocalAddr().String() + "/json")
	if err != nil {
		panic(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	fmt.Println(string(b), err)
	// Output: {"message":"Hello, World!"} <nil>
}
