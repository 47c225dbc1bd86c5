package httpserver_test

import (
	"io"
	"log/slog"
	"net"
	nethttp "net/http"
	"runtime"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/httpserver"
	"millrace.dev/internal/allocs"
	"millrace.dev/loop"
)

// The tests here count allocations of the whole process, so they are not parallel, and
// they switch the leak detector off, which allocates.

// sink is a transport that counts what is sent.
type sink struct {
	driver channel.Driver
	runs   [16][]byte
	sent   int
}

func (s *sink) Register(d channel.Driver) error  { s.driver = d; return nil }
func (s *sink) Deregister() error                { return nil }
func (s *sink) Active() bool                     { return true }
func (s *sink) Bind(net.Addr) error              { return nil }
func (s *sink) Connect(net.Addr, net.Addr) error { return nil }
func (s *sink) StartRead()                       {}
func (s *sink) StopRead()                        {}
func (s *sink) Shutdown(channel.Direction) error { return nil }
func (s *sink) Close() error                     { return nil }
func (s *sink) LocalAddr() net.Addr              { return fakeAddr("server") }
func (s *sink) RemoteAddr() net.Addr             { return fakeAddr("192.0.2.1:1234") }

func (s *sink) Write(q *channel.Queue) error {
	for !q.Empty() {
		n := 0
		for _, run := range q.Gather(s.runs[:0]) {
			n += len(run)
		}
		s.sent += n
		q.Progress(int64(n))
	}
	return nil
}

type fakeAddr string

func (fakeAddr) Network() string  { return "fake" }
func (a fakeAddr) String() string { return string(a) }

// sinkConn is a connection of a server over a sink.
type sinkConn struct {
	sink    *sink
	manual  *loop.Manual
	channel *channel.Channel
}

func newSinkConn(t *testing.T, s *httpserver.Server) *sinkConn {
	t.Helper()
	m, err := loop.NewManual(loop.Options{Allocator: buffer.NewPooled(buffer.PooledOptions{})})
	if err != nil {
		t.Fatal(err)
	}
	s.Logger = slog.New(slog.DiscardHandler)
	config := channel.NewConfig()
	config.AllowHalfClosure = true
	c := &sinkConn{sink: &sink{}, manual: m}
	c.channel = channel.New(m.Loop(), c.sink, config, nil)
	if err := s.Init(c.channel); err != nil {
		t.Fatal(err)
	}
	c.channel.Register()
	t.Cleanup(func() {
		c.channel.Close()
		m.RunPending()
		m.Close()
		_ = s.Close()
	})
	return c
}

// request passes a request in and waits for all of the answer, of which the length is known
// from the first time.
func (c *sinkConn) request(raw []byte, answer int) int {
	before := c.sink.sent
	b := c.channel.Allocator().Allocate(len(raw))
	b.Write(raw)
	c.sink.driver.BeginBatch()
	c.sink.driver.Read(b)
	c.sink.driver.EndBatch()
	c.manual.RunPending()
	for c.sink.sent-before < answer {
		runtime.Gosched()
		c.manual.RunPending()
	}
	return c.sink.sent - before
}

const browserRequest = "GET /index.html?a=b HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\n" +
	"Accept: text/html,application/xhtml+xml\r\nAccept-Language: en-GB,en;q=0.5\r\nAccept-Encoding: gzip, deflate\r\n" +
	"Connection: keep-alive\r\nCookie: session=0123456789abcdef\r\n\r\n"

// answering are the ways of a native handler to answer, over either protocol.
var answering = map[string]httpserver.NativeFunc{
	"respond": func(x *httpserver.Exchange) bool {
		x.Respond(200, "text/plain", greeting)
		return true
	},
	"not found": func(*httpserver.Exchange) bool { return false },
	"stream": func(x *httpserver.Exchange) bool {
		x.Start(http.NewResponse(200))
		for range 3 {
			b := x.Allocator().Allocate(len(greeting))
			b.Write(greeting)
			x.Write(b)
		}
		x.End(nil)
		return true
	},
	"body": func(x *httpserver.Exchange) bool {
		x.SetBodyReader(echoBody{})
		return true
	},
}

var greeting = []byte("Hello, World!")

func TestNativeRequestAllocatesNothing(t *testing.T) {
	allocs.Need(t)
	buffertest.Level(t, buffer.Disabled)
	requests := map[string]string{
		"get":     browserRequest,
		"post":    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
		"chunked": "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
	}
	for handler, f := range answering {
		for request, raw := range requests {
			c := newSinkConn(t, &httpserver.Server{Native: f})
			input := []byte(raw)
			size := c.request(input, 0)
			c.request(input, size)
			if n := testing.AllocsPerRun(200, func() { c.request(input, size) }); n != 0 {
				t.Errorf("%s, %s: %v objects for each request", handler, request, n)
			}
			if !c.channel.IsOpen() {
				t.Errorf("%s, %s: the connection was closed", handler, request)
			}
		}
	}
}

type echoBody struct{}

func (echoBody) ReadBody(x *httpserver.Exchange, data *buffer.Buffer, end bool, _ error) {
	if end {
		x.RespondBuffer(200, "text/plain", data)
		return
	}
	if data != nil {
		data.Close() // the content of a short request comes in one piece
	}
}

// perRequest returns the objects and bytes that one call of f allocates.
func perRequest(f func()) (objects, bytes float64) {
	const warmUp, runs = 20, 400
	for range warmUp {
		f()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		f()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / runs, float64(after.TotalAlloc-before.TotalAlloc) / runs
}

// netHTTPConn is a connection of net/http's server, in memory.
type netHTTPConn struct {
	client net.Conn
	buf    [4096]byte
}

// oneListener gives out one connection.
type oneListener struct{ conns chan net.Conn }

func (l oneListener) Accept() (net.Conn, error) {
	c, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (l oneListener) Close() error   { return nil }
func (l oneListener) Addr() net.Addr { return fakeAddr("server") }

func newNetHTTPConn(t *testing.T, h nethttp.Handler) *netHTTPConn {
	client, server := net.Pipe()
	l := oneListener{make(chan net.Conn, 1)}
	l.conns <- server
	s := &nethttp.Server{Handler: h}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() {
		close(l.conns)
		_ = client.Close()
		_ = s.Close()
	})
	return &netHTTPConn{client: client}
}

func (c *netHTTPConn) request(t *testing.T, raw []byte, answer int) int {
	if _, err := c.client.Write(raw); err != nil {
		t.Fatal(err)
	}
	got := 0
	for got == 0 || got < answer {
		n, err := c.client.Read(c.buf[:])
		if err != nil {
			t.Fatal(err)
		}
		got += n
	}
	return got
}

func TestAdapterAllocatesLessThanNetHTTP(t *testing.T) {
	allocs.Need(t)
	buffertest.Level(t, buffer.Disabled)
	content := []byte("Hello, World!")
	handlers := map[string]nethttp.HandlerFunc{
		"plain": func(w nethttp.ResponseWriter, _ *nethttp.Request) { _, _ = w.Write(content) },
		"with a field": func(w nethttp.ResponseWriter, _ *nethttp.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = w.Write(content)
		},
		"body": func(w nethttp.ResponseWriter, r *nethttp.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = w.Write(content)
		},
		"context": func(w nethttp.ResponseWriter, r *nethttp.Request) {
			<-neverDone(r.Context().Done())
			_, _ = w.Write(content)
		},
	}
	requests := map[string]string{
		"small":   "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"browser": browserRequest,
		"post":    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
	}
	for handler, h := range handlers {
		for request, raw := range requests {
			input := []byte(raw)
			ours := newSinkConn(t, &httpserver.Server{Handler: h})
			size := ours.request(input, 1)
			objects, bytes := perRequest(func() { ours.request(input, size) })
			theirs := newNetHTTPConn(t, h)
			size = theirs.request(t, input, 0)
			stdObjects, stdBytes := perRequest(func() { theirs.request(t, input, size) })
			t.Logf("%s, %s: %.1f objects, %.0f bytes; net/http %.1f, %.0f", handler, request, objects, bytes, stdObjects, stdBytes)
			if objects >= stdObjects || bytes >= stdBytes {
				t.Errorf("%s, %s: %.1f objects, %.0f bytes for each request; net/http %.1f, %.0f",
					handler, request, objects, bytes, stdObjects, stdBytes)
			}
		}
	}
}

// neverDone has the channel made, and returns one that is closed.
func neverDone(<-chan struct{}) <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// heapAlloc returns the bytes of the heap that are in use.
func heapAlloc() uint64 {
	runtime.GC()
	runtime.GC() // what sync.Pool kept goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// idleBytes returns the live heap bytes of a connection that is idle after one request,
// without its transport.
func idleBytes(t *testing.T, s *httpserver.Server) int {
	const conns = 2000
	all := make([]*sinkConn, conns)
	first := newSinkConn(t, s)
	raw := []byte(browserRequest)
	size := first.request(raw, 1)
	before := heapAlloc()
	for i := range all {
		c := &sinkConn{sink: first.sink, manual: first.manual}
		c.channel = channel.New(c.manual.Loop(), c.sink, first.channel.Config(), nil)
		if err := s.Init(c.channel); err != nil {
			t.Fatal(err)
		}
		c.channel.Register()
		c.request(raw, size)
		all[i] = c
	}
	after := heapAlloc()
	for _, c := range all {
		c.channel.Close()
		c.manual.RunPending()
	}
	return int(after-before) / conns
}

func TestIdleConnectionIsSmall(t *testing.T) {
	buffertest.Level(t, buffer.Disabled)
	content := []byte("Hello, World!")
	native := idleBytes(t, &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		x.Respond(200, "text/plain", content)
		return true
	})})
	std := idleBytes(t, &httpserver.Server{Handler: nethttp.HandlerFunc(func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		_, _ = w.Write(content)
	})})
	t.Logf("an idle connection has %d bytes natively, %d behind net/http", native, std)
	if native > 850 || std > 950 {
		t.Errorf("an idle connection has %d bytes natively, %d behind net/http", native, std)
	}
}
