package http1

import (
	"strings"
	"testing"

	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/internal/allocs"
	"millrace.dev/internal/blackhole"
)

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

// servePlaintext returns a connection served by a codec and a plaintext handler.
func servePlaintext(t testing.TB) (*blackhole.Conn, *plaintext) {
	app := &plaintext{}
	return blackhole.Connect(t, NewServerCodec(ServerOptions{}), app), app
}

// What ServerCodec and a native handler do for a request, from the received buffer to the
// transport, costs no allocation.
func TestServerAllocations(t *testing.T) {
	allocs.Need(t)
	conn, app := servePlaintext(t)
	for name, input := range map[string]string{
		"one":       wrkHead,
		"pipelined": strings.Repeat(wrkHead, 16),
		"content":   "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
		"chunked":   chunkedPost,
	} {
		if n := testing.AllocsPerRun(200, func() { blackhole.Receive(conn, input) }); n != 0 {
			t.Errorf("%s: %v allocations a batch", name, n)
		}
	}
	app.fixed = helloWorld(t)
	if n := testing.AllocsPerRun(200, func() { blackhole.Receive(conn, wrkHead) }); n != 0 {
		t.Errorf("fixed: %v allocations a batch", n)
	}
	if conn.Bytes == 0 || app.requests == 0 {
		t.Errorf("%d bytes, %d requests", conn.Bytes, app.requests)
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
			conn, app := servePlaintext(b)
			if c.fixed {
				app.fixed = helloWorld(b)
			}
			b.ReportAllocs()
			for b.Loop() {
				blackhole.Receive(conn, c.input)
				c.input, c.other = c.other, c.input
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(app.requests), "ns/request")
		})
	}
}
