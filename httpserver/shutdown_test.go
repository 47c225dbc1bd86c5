package httpserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
	"millrace.dev/httpserver"
	"millrace.dev/loop"
)

func TestShutdownDrains(t *testing.T) {
	t.Parallel()
	started, release := make(chan struct{}), make(chan struct{})
	s := &httpserver.Server{Handler: nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path == "/slow" {
			close(started)
			<-release
		}
		fmt.Fprint(w, "done")
	})}
	s.Group = newGroup(t, 1) // the idle connection's end tells that the busy one knows, too
	addr := serve(t, s)
	idle, busy := dial(t, addr), dial(t, addr)
	idle.send(getLine)
	idle.receive("GET")
	busy.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
	receiveFrom(t, "the handler starts", started)
	ended := make(chan error, 1)
	go func() { ended <- shutdown(t, s) }()
	idle.expectClosed()
	select {
	case err := <-ended:
		t.Fatalf("Shutdown has returned %v before the answer", err)
	default:
	}
	if c, err := net.Dial("tcp", addr); err == nil {
		_ = c.Close()
		t.Error("accepts while it shuts down")
	}
	close(release)
	if got := busy.receive("GET"); got.body != "done" || !got.Close {
		t.Errorf("got %q, close %t", got.body, got.Close)
	}
	busy.expectClosed()
	if err := receiveFrom(t, "Shutdown returns", ended); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if _, err := s.Listen("tcp", "127.0.0.1:0"); !errors.Is(err, httpserver.ErrServerClosed) {
		t.Errorf("Listen after Shutdown: %v", err)
	}
}

func TestShutdownWhileContentOfAnAnsweredRequestArrives(t *testing.T) {
	t.Parallel()
	s := &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		x.Respond(200, "text/plain", []byte("ok"))
		return true
	})}
	c := dial(t, serve(t, s))
	c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab")
	c.receive("POST")
	ended := make(chan error, 1)
	go func() { ended <- shutdown(t, s) }()
	await(t, "the listener closes", func() bool {
		probe, err := net.Dial("tcp", c.RemoteAddr().String())
		if err == nil {
			_ = probe.Close()
		}
		return err != nil
	})
	c.send("cd")
	if err := receiveFrom(t, "Shutdown returns", ended); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
}

func TestShutdownEndsAtItsDeadline(t *testing.T) {
	t.Parallel()
	gone := make(chan error, 1)
	started := make(chan struct{})
	s := &httpserver.Server{Handler: nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		close(started)
		<-r.Context().Done()
		_, err := w.Write([]byte("late"))
		gone <- err
	})}
	c := dial(t, serve(t, s))
	c.send(getLine)
	receiveFrom(t, "the handler starts", started)
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Shutdown: %v", err)
	}
	if err := receiveFrom(t, "the handler ends", gone); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Write to a connection that was closed: %v", err)
	}
}

// Whoever has no time for a Shutdown that is under way may call Close.
func TestCloseDuringShutdown(t *testing.T) {
	t.Parallel()
	for range 20 {
		s := newStd(nethttp.HandlerFunc(func(nethttp.ResponseWriter, *nethttp.Request) {}))
		if got := get(t, serve(t, s), "/"); got.StatusCode != 200 { // and a worker is idle
			t.Fatal(got.Status)
		}
		ended := make(chan error, 1)
		go func() { ended <- s.Close() }()
		if err := shutdown(t, s); err != nil {
			t.Error(err)
		}
		if err := receiveFrom(t, "Close returns", ended); err != nil {
			t.Error(err)
		}
	}
}

func TestListenAndServeReturnsWhenClosed(t *testing.T) {
	t.Parallel()
	s := &httpserver.Server{}
	ended := make(chan error, 1)
	go func() { ended <- s.ListenAndServe("127.0.0.1:0") }()
	await(t, "it listens", func() bool { return s.Addr() != nil })
	if got := get(t, s.Addr().String(), "/"); got.StatusCode != 404 {
		t.Errorf("status %d", got.StatusCode)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := receiveFrom(t, "ListenAndServe returns", ended); !errors.Is(err, httpserver.ErrServerClosed) {
		t.Error(err)
	}
}

func TestServeAListener(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &httpserver.Server{Handler: nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		_, _ = io.Copy(w, r.Body)
	})}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	c := dial(t, l.Addr().String())
	c.send(post5 + chunked5)
	for range 2 {
		if got := c.receive("POST").body; got != "hello" {
			t.Errorf("got %q", got)
		}
	}
	if err := shutdown(t, s); err != nil {
		t.Error(err)
	}
	c.expectClosed()
	if err := receiveFrom(t, "Serve returns", ended); !errors.Is(err, httpserver.ErrServerClosed) {
		t.Error(err)
	}
	if err := s.Serve(l); !errors.Is(err, httpserver.ErrServerClosed) {
		t.Errorf("Serve after Shutdown: %v", err)
	}
}

func TestServeEndsWithItsListener(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &httpserver.Server{}
	t.Cleanup(func() { _ = s.Close() })
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	await(t, "it listens", func() bool { return s.Addr() != nil })
	for _, ch := range s.Listeners() {
		ch.Close()
	}
	if err := receiveFrom(t, "Serve returns", ended); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

func TestListenFails(t *testing.T) {
	t.Parallel()
	s := &httpserver.Server{}
	if _, err := s.Listen("tcp", "256.0.0.1:http"); err == nil {
		t.Error("no error")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestSurplusConnectionsAreRefused(t *testing.T) {
	t.Parallel()
	s := &httpserver.Server{MaxConns: 1, Native: httpserver.NativeFunc(hello)}
	addr := serve(t, s)
	c := dial(t, addr)
	c.send(getLine)
	c.receive("GET")
	d := dial(t, addr)
	d.expectClosed()
	if s.Refused() != 1 || s.Connections() != 1 {
		t.Errorf("refused %d, open %d", s.Refused(), s.Connections())
	}
}

func TestInitWithABootstrapOfOnesOwn(t *testing.T) {
	t.Parallel()
	g, err := loop.NewGroup(loop.Options{Loops: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := &httpserver.Server{Native: httpserver.NativeFunc(hello)}
	config := channel.NewConfig()
	config.AllowHalfClosure = true
	b := &bootstrap.Server{Group: g, Init: s.Init, Config: config}
	ch, err := b.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, ch.LocalAddr().String())
	c.send(getLine)
	if got := c.receive("GET").body; got != "hello" {
		t.Errorf("got %q", got)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := b.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	c.expectClosed()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := g.Shutdown(0, patience).Wait(ctx); err != nil {
		t.Error(err)
	}
}

// Not parallel: it counts goroutines.
func TestNoGoroutineIsLeftBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	s := &httpserver.Server{Handler: nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		switch r.URL.Path {
		case "/panic":
			panic(nethttp.ErrAbortHandler)
		case "/hijack":
			c, _, err := w.(nethttp.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_ = c.Close()
		default:
			fmt.Fprint(w, "hello")
		}
	})}
	ch, err := s.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			c, err := net.Dial("tcp", ch.LocalAddr().String())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(patience))
			path := []string{"/", "/panic", "/hijack"}[i%3]
			fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
			_, _ = c.Read(make([]byte, 512))
		})
	}
	wg.Wait()
	if err := shutdown(t, s); err != nil {
		t.Error(err)
	}
	await(t, "every goroutine ends", func() bool { return runtime.NumGoroutine() <= before })
}

// Not parallel: it counts goroutines.
func TestIdleWorkersEnd(t *testing.T) {
	before := countWorkers()
	var wg sync.WaitGroup
	ch := embed(t, &httpserver.Server{Timeouts: httpserver.Timeouts{Idle: -1}, Handler: nethttp.HandlerFunc(func(nethttp.ResponseWriter, *nethttp.Request) {
		wg.Done()
	})})
	wg.Add(1)
	feed(t, ch, getLine)
	wg.Wait()
	letRun(t, ch, "the answer", func() bool { return sent(t, ch) != "" })
	if countWorkers() == 0 {
		t.Error("there is no idle worker")
	}
	ch.Advance(time.Minute)
	await(t, "the worker ends", func() bool { return countWorkers() <= before })
	wg.Add(1)
	feed(t, ch, getLine)
	letRun(t, ch, "another answer", func() bool { return sent(t, ch) != "" })
}

// Ending very many workers at once would hold up the loop. Not parallel: it counts goroutines.
func TestManyIdleWorkersEndInTurns(t *testing.T) {
	const many = 2500
	var wait atomic.Bool
	var waiting atomic.Int32
	release := make(chan struct{})
	s := &httpserver.Server{Timeouts: httpserver.Timeouts{Idle: -1}, Handler: nethttp.HandlerFunc(func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		if waiting.Add(1); wait.Load() {
			<-release
		}
		w.Header().Set("Date", "never") // so that all answers have the same length
		w.WriteHeader(204)
	})}
	s.HTTP2.MaxStreams = many
	c := newSinkConn(t, s)
	r := connectH2(c, "")
	size := r.least(c)
	var raw []byte
	for range many {
		raw = append(raw, r.next()...)
	}
	before := runtime.NumGoroutine() // with one idle worker
	wait.Store(true)
	waiting.Store(0)
	sent := c.sink.sent
	c.request(raw, 0)
	await(t, "all handlers run", func() bool { return waiting.Load() == many })
	close(release)
	await(t, "all have answered", func() bool {
		c.manual.RunPending()
		return c.sink.sent-sent == many*size
	})
	c.manual.Advance(10*time.Second + 2*time.Millisecond)
	await(t, "some workers end", func() bool { return runtime.NumGoroutine() <= before+many-1000 })
	for range 1000 {
		runtime.Gosched() // others would end, too, if they had been told to
	}
	if n := runtime.NumGoroutine() - before; n < many/5 {
		t.Errorf("%d of %d workers are left", n, many)
	}
	c.manual.Advance(time.Second)
	await(t, "all workers end", func() bool { return runtime.NumGoroutine() <= before })
}

// countWorkers counts the goroutines for net/http handlers, of all servers.
func countWorkers() int {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return bytes.Count(stacks, []byte("httpserver.(*stdExchange).work("))
}
