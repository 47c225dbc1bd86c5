package http1

import (
	"net"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/internal/race"
	"millrace.dev/loop"
)

// blackHole is a transport that takes everything.
type blackHole struct {
	driver channel.Driver
	bytes  int64
}

func (t *blackHole) Register(d channel.Driver) error  { t.driver = d; return nil }
func (t *blackHole) Deregister() error                { return nil }
func (t *blackHole) Active() bool                     { return true }
func (t *blackHole) Bind(net.Addr) error              { return nil }
func (t *blackHole) Connect(_, _ net.Addr) error      { return nil }
func (t *blackHole) StartRead()                       {}
func (t *blackHole) StopRead()                        {}
func (t *blackHole) Shutdown(channel.Direction) error { return nil }
func (t *blackHole) Close() error                     { return nil }
func (t *blackHole) LocalAddr() net.Addr              { return nil }
func (t *blackHole) RemoteAddr() net.Addr             { return nil }
func (t *blackHole) Write(q *channel.Queue) error {
	t.bytes += q.Bytes()
	q.Progress(q.Bytes())
	return nil
}

// batch passes input in as one read batch.
func (t *blackHole) batch(input string) {
	ch := t.driver.Channel()
	in := ch.Allocator().Allocate(len(input))
	in.WriteString(input)
	t.driver.BeginBatch()
	t.driver.Read(in)
	t.driver.EndBatch()
}

// plaintext is a native handler like the one of the benchmarks.
type plaintext struct {
	requests int
	fixed    *http.Fixed // or nil
}

func (a *plaintext) OnRead(ctx *channel.Context, msg any) {
	switch m := msg.(type) {
	case *http.Request:
		a.requests++
		if a.fixed != nil {
			ctx.Write(m.RespondFixed(a.fixed))
			m.Close()
			return
		}
		resp := m.Respond(200)
		resp.Header.AddField(http.FieldContentType, "text/plain")
		resp.Body = ctx.Allocator().Allocate(16)
		resp.Body.WriteString("Hello, World!")
		ctx.Write(resp)
		m.Close()
	case *http.Content:
		m.Close()
	}
}

func (a *plaintext) OnReadComplete(ctx *channel.Context) { ctx.Flush() }

// withoutLeakDetector is for what counts allocations or time: following buffers has both.
func withoutLeakDetector(t testing.TB) {
	was := buffer.CurrentLeakLevel()
	buffer.SetLeakLevel(buffer.Disabled)
	t.Cleanup(func() { buffer.SetLeakLevel(was) })
}

// newBlackHole returns a connection served by a codec and a plaintext handler, with the
// memory of a real loop.
func newBlackHole(t testing.TB) (*blackHole, *plaintext) {
	cache := buffer.NewPooled(buffer.PooledOptions{}).NewCache()
	cache.Bind()
	m, err := loop.NewManual(loop.Options{Allocator: cache})
	if err != nil {
		t.Fatal(err)
	}
	hole, app := &blackHole{}, &plaintext{}
	ch := channel.New(m.Loop(), hole, nil, nil)
	for _, h := range []any{NewServerCodec(ServerOptions{}), app} {
		if err := ch.Pipeline().AddLast("", h); err != nil {
			t.Fatal(err)
		}
	}
	ch.Register()
	m.RunPending()
	t.Cleanup(func() {
		ch.Close()
		m.RunPending()
		m.Close()
		cache.Unbind()
	})
	return hole, app
}

// What ServerCodec and a native handler do for a request, from the received buffer to the
// transport, costs no allocation.
func TestServerAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("allocations can't be counted under the race detector")
	}
	withoutLeakDetector(t)
	hole, app := newBlackHole(t)
	for name, input := range map[string]string{
		"one":       wrkHead,
		"pipelined": strings.Repeat(wrkHead, 16),
		"content":   "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
		"chunked":   chunkedPost,
	} {
		if n := testing.AllocsPerRun(200, func() { hole.batch(input) }); n != 0 {
			t.Errorf("%s: %v allocations a batch", name, n)
		}
	}
	app.fixed = helloWorld(t)
	if n := testing.AllocsPerRun(200, func() { hole.batch(wrkHead) }); n != 0 {
		t.Errorf("fixed: %v allocations a batch", n)
	}
	if hole.bytes == 0 || app.requests == 0 {
		t.Errorf("%d bytes, %d requests", hole.bytes, app.requests)
	}
}

func helloWorld(t testing.TB) *http.Fixed {
	f, err := http.NewFixed(200, []byte("Hello, World!"), "Content-Type", "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// BenchmarkServerCodec is a request from the received buffer to the transport. Clients
// that repeat themselves are the rule, so the heads are all the same; "other" has each
// differ from the one before.
func BenchmarkServerCodec(b *testing.B) {
	withoutLeakDetector(b)
	sixteen := strings.Repeat(wrkHead, 16)
	for _, c := range []struct {
		name, input, other string
		fixed              bool
	}{
		{"one", wrkHead, wrkHead, false},
		{"pipelined", sixteen, sixteen, false},
		{"pipelined, fixed", sixteen, sixteen, true},
		{"browser", browserHead, browserHead, false},
		{"browser, other", browserHead, strings.Replace(browserHead, "session=5", "session=6", 1), false},
	} {
		b.Run(c.name, func(b *testing.B) {
			hole, app := newBlackHole(b)
			if c.fixed {
				app.fixed = helloWorld(b)
			}
			b.ReportAllocs()
			for b.Loop() {
				hole.batch(c.input)
				c.input, c.other = c.other, c.input
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(app.requests), "ns/request")
		})
	}
}
