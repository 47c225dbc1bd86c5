package http2

import (
	"testing"
	"unsafe"

	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/internal/allocs"
	"millrace.dev/internal/blackhole"
)

// app answers with a small text, or with a MiB.
type app struct {
	requests int
	large    []byte
}

func (a *app) OnRead(ctx *channel.Context, msg any) {
	switch m := msg.(type) {
	case *http.Request:
		a.requests++
		resp := m.Respond(200)
		resp.Header.AddField(http.FieldContentType, "text/plain")
		if a.large != nil {
			resp.Body = ctx.Allocator().Allocate(len(a.large))
			resp.Body.Write(a.large)
		} else {
			resp.Body = ctx.Allocator().Allocate(16)
			resp.Body.WriteString("Hello, World!")
		}
		ctx.Write(resp)
		m.Close()
	case *http.Content:
		m.Close()
	}
}

func (a *app) OnReadComplete(ctx *channel.Context) { ctx.Flush() }

// newBlackHole returns a server's connection.
func newBlackHole(t testing.TB) (*blackhole.Conn, *app, *ServerCodec) {
	a, codec := &app{}, NewServerCodec(ServerOptions{})
	conn := blackhole.Connect(t, codec, a)
	blackhole.Receive(conn, hello().raw(AppendSettingsAck(nil)).raw(AppendWindowUpdate(nil, 0, 1<<30)).buf)
	return conn, a, codec
}

var browserFields = []string{":method=GET", ":scheme=http", ":authority=mill.example:8080", ":path=/wheel?turns=3",
	"user-agent=Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
	"accept=text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "accept-language=en-US,en;q=0.5",
	"accept-encoding=gzip, deflate, br, zstd", "cookie=session=5e1f7ac9a8b44c1ab7a0"}

// requests are batches of n requests on new streams, from a client that repeats itself.
type requests struct {
	w      wire
	n      int
	id     uint32
	post   bool
	fields [][2][]byte
	block  []byte
}

func newRequests(n int, post bool) *requests {
	r := &requests{n: n, id: 1, post: post}
	for _, f := range browserFields {
		for i := 1; ; i++ {
			if f[i] == '=' {
				r.fields = append(r.fields, [2][]byte{[]byte(f[:i]), []byte(f[i+1:])})
				break
			}
		}
	}
	return r
}

func (r *requests) next() []byte {
	w := &r.w
	w.buf = w.buf[:0]
	for range r.n {
		block := r.block[:0]
		for _, f := range r.fields {
			block = w.enc.Append(block, f[0], f[1])
		}
		r.block = block
		w.buf = AppendHeaders(w.buf, r.id, block, !r.post, MinMaxFrameSize)
		if r.post {
			w.buf = AppendData(w.buf, r.id, []byte("hello"), true)
		}
		r.id += 2
	}
	return w.buf
}

// What ServerCodec and a handler do for a request, from the received buffer to the
// transport, costs no allocation.
func TestServerAllocations(t *testing.T) {
	allocs.Need(t)
	for _, row := range []struct {
		name string
		n    int
		post bool
	}{{"one", 1, false}, {"100 streams", 100, false}, {"content", 10, true}} {
		hole, a, codec := newBlackHole(t)
		r := newRequests(row.n, row.post)
		blackhole.Receive(hole, r.next())
		if n := testing.AllocsPerRun(200, func() { blackhole.Receive(hole, r.next()) }); n != 0 {
			t.Errorf("%s: %v allocations a batch", row.name, n)
		}
		if a.requests != row.n*202 || codec.Streams() != 0 || codec.Err() != nil {
			t.Errorf("%s: %d requests, %d streams, %v", row.name, a.requests, codec.Streams(), codec.Err())
		}
	}
}

// What an idle stream and an idle connection keep: there are many of them.
func TestIdleStreamsAreSmall(t *testing.T) {
	t.Parallel()
	if n := unsafe.Sizeof(stream{}); n > 160 {
		t.Errorf("a stream has %d bytes", n)
	}
	if n := unsafe.Sizeof(Conn{}) + unsafe.Sizeof(ServerCodec{}); n > 1536 {
		t.Errorf("a connection has %d bytes", n)
	}
}

// BenchmarkServerCodec is a request from the received buffer to the transport.
func BenchmarkServerCodec(b *testing.B) {
	for _, c := range []struct {
		name  string
		n     int
		post  bool
		large int
	}{{"streams=1", 1, false, 0}, {"streams=100", 100, false, 0}, {"streams=100/post", 100, true, 0}, {"large=64KiB", 1, false, 64 << 10}} {
		b.Run(c.name, func(b *testing.B) {
			hole, a, _ := newBlackHole(b)
			if c.large > 0 {
				a.large = make([]byte, c.large-1)
			}
			r := newRequests(c.n, c.post)
			b.ReportAllocs()
			for b.Loop() {
				blackhole.Receive(hole, r.next())
				if a.requests%1024 == 0 { // what the answers have used is given back
					blackhole.Receive(hole, AppendWindowUpdate(nil, 0, uint32(1024*max(13, c.large-1))))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(a.requests), "ns/request")
		})
	}
}
