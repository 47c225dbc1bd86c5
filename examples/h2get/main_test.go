package main

import (
	"context"
	"fmt"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"millrace.dev/loop"
)

func TestGet(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		switch {
		case r.ProtoMajor != 2:
			w.WriteHeader(505)
		case r.URL.Path == "/abort":
			panic(nethttp.ErrAbortHandler)
		default:
			fmt.Fprint(w, strings.Repeat("x", 100_000))
		}
	}))
	server.Config.Protocols = new(nethttp.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()
	group, err := loop.NewGroup(loop.Options{Loops: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := group.Shutdown(0, 5*time.Second).Wait(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	paths := []string{"/abort"}
	want := "/abort: http2: stream: reset by peer: INTERNAL_ERROR\n"
	for i := range 300 { // more than net/http allows at once
		paths = append(paths, fmt.Sprint("/", i))
		want += fmt.Sprintf("/%d: 200, 100000 bytes\n", i)
	}
	var out strings.Builder
	if err := get(&out, group, server.Listener.Addr().String(), paths); err == nil {
		t.Error("an answer that was aborted is no error")
	}
	if out.String() != want {
		t.Errorf("got\n%.1000s", out.String())
	}
	if err := get(&out, group, "127.0.0.1:1", paths); err == nil {
		t.Error("no server, no error")
	}
}
