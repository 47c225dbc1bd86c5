package figures_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	nethttp "net/http"
	"testing"
	"time"

	"millrace.dev/channel"
	"millrace.dev/cmd/millrace/internal/figures"
	"millrace.dev/httpserver"
	"millrace.dev/loop"
)

// start serves on a free port and returns where, and the figures.
func start(t testing.TB) (string, *figures.Collector) {
	t.Helper()
	group, err := loop.NewGroup(loop.Options{Loops: 2, Name: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	server := &httpserver.Server{
		Group:    group,
		Metrics:  channel.NewMetrics(group),
		MaxConns: 5,
		Logger:   slog.New(slog.DiscardHandler),
		Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
			x.Respond(200, "text/plain", []byte("hello"))
			return true
		}),
	}
	ln, err := server.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if _, err := group.Shutdown(0, time.Minute).Wait(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return "http://" + ln.LocalAddr().String(), &figures.Collector{
		Version: "v1", Transport: "tcp", MaxConns: 5,
		Group: group, Metrics: server.Metrics, Server: server, Started: time.Now(),
	}
}

func TestSnapshot(t *testing.T) {
	t.Parallel()
	url, c := start(t)
	c.Address.Store(&url)
	for range 3 {
		r, err := nethttp.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
	}
	s := c.Snapshot()
	if s.Version != "v1" || s.Address != url || s.Transport != "tcp" || s.Draining || s.UptimeSeconds <= 0 {
		t.Errorf("%+v", s)
	}
	if s.Connections.Opened < 1 || s.Connections.Limit != 5 || s.Requests.Begun != 3 || s.Requests.Native != 3 {
		t.Errorf("connections %+v, requests %+v", s.Connections, s.Requests)
	}
	if len(s.Loops) != 2 || s.Loops[0].Name == s.Loops[1].Name {
		t.Fatalf("loops %+v", s.Loops)
	}
	// What a loop has just written counts a moment after it was received.
	for deadline := time.Now().Add(time.Minute); ; s = c.Snapshot() {
		var in, out int64
		for _, l := range s.Loops {
			in, out = in+l.BytesIn, out+l.BytesOut
		}
		if in > 0 && in == s.Bytes.In && out > 0 && out == s.Bytes.Out {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("loops %d in, %d out; together %+v", in, out, s.Bytes)
		}
	}
	// A loop's own allocations show with a delay, its cache at once.
	if s.Allocator.Caches != 2 || s.Allocator.Arenas != 1 || s.Memory.HeapBytes == 0 || s.Memory.TotalBytes == 0 || s.Memory.Goroutines == 0 {
		t.Errorf("allocator %+v, memory %+v", s.Allocator, s.Memory)
	}
	c.Draining.Store(true)
	c.Leaks.Add(2)
	if s := c.Snapshot(); !s.Draining || s.Leaks != 2 {
		t.Errorf("draining %t, leaks %d", s.Draining, s.Leaks)
	}
}

// The names are what the live page, and whoever scrapes, looks for.
func TestSnapshotNames(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	b, err := json.Marshal(c.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	for object, names := range map[string][]string{
		"connections": {"open", "opened", "refused", "limit"},
		"requests":    {"begun", "native", "timeouts", "panics"},
		"bytes":       {"in", "out", "pending"},
		"allocator":   {"used", "cached", "reserved", "limit", "arenas", "chunks", "returned", "allocs", "frees"},
		"memory":      {"heap_bytes", "goroutines", "gc_cycles", "stack_bytes", "total_bytes"},
	} {
		fields, ok := got[object].(map[string]any)
		if !ok {
			t.Errorf("no object %s", object)
		}
		for _, name := range names {
			if _, ok := fields[name].(float64); !ok {
				t.Errorf("no number %s.%s", object, name)
			}
		}
	}
	if kind := got["allocator"].(map[string]any)["kind"]; kind != "pooled" {
		t.Errorf("allocator.kind is %v", kind)
	}
	first := got["loops"].([]any)[0].(map[string]any)
	for _, name := range []string{
		"connections", "bytes_in", "bytes_out", "turns", "events", "tasks", "sleeps", "timers", "queued",
	} {
		if _, ok := first[name].(float64); !ok {
			t.Errorf("no number loops[].%s", name)
		}
	}
	for _, name := range []string{"timers", "uptime_seconds", "leaks"} {
		if _, ok := got[name].(float64); !ok {
			t.Errorf("no number %s", name)
		}
	}
}

func Example() {
	group, err := loop.NewGroup(loop.Options{Loops: 1, Name: "figures"})
	if err != nil {
		panic(err)
	}
	defer group.Shutdown(0, time.Second)
	c := &figures.Collector{Group: group, Metrics: channel.NewMetrics(group), Server: &httpserver.Server{}, Started: time.Now()}
	s := c.Snapshot()
	fmt.Println(s.Loops[0].Name, s.Connections.Open)
	// Output: millrace-figures-0 0
}
