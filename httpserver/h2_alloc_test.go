package httpserver_test

import (
	"encoding/binary"
	"io"
	nethttp "net/http"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/httpserver"
	"millrace.dev/internal/allocs"
)

// As in alloc_test.go, nothing here is parallel.

// h2Requests repeats requests of one client, each on a stream of its own.
type h2Requests struct {
	raw []byte // the same each time, but for the stream in its frames' headers
	id  uint32
}

// next returns the bytes of the next request.
func (r *h2Requests) next() []byte {
	r.id += 2
	for p := r.raw; len(p) > 0; {
		binary.BigEndian.PutUint32(p[5:], r.id)
		p = p[9+int(p[0])<<16+int(p[1])<<8+int(p[2]):]
	}
	return r.raw
}

// connectH2 makes a connection of one over HTTP/1.1, and sends the first request, that fills
// both sides' tables. It returns what to send from then on.
func connectH2(c *sinkConn, content string, fields ...string) *h2Requests {
	f := newFrames()
	build := func(id uint32) []byte {
		f.head(id, content == "", fields...)
		if content != "" {
			f.data(id, content, true)
		}
		return []byte(f.take())
	}
	f.hello().window(0, 1<<30)
	c.request([]byte(f.take()), 0)
	c.request(build(1), 1)
	return &h2Requests{build(3), 1}
}

// least returns the bytes of the shortest of some answers: each second one has a new date.
func (r *h2Requests) least(c *sinkConn) int {
	size := c.request(r.next(), 1)
	for range 10 {
		size = min(size, c.request(r.next(), 1))
	}
	return size
}

var browserFields = []string{":path=/index.html?a=b", ":authority=www.example.com",
	"user-agent=Mozilla/5.0 (X11; Linux x86_64)", "accept=text/html,application/xhtml+xml",
	"accept-language=en-GB,en;q=0.5", "accept-encoding=gzip, deflate", "cookie=session=0123456789abcdef"}

func TestH2NativeRequestAllocatesNothing(t *testing.T) {
	allocs.Need(t)
	buffertest.Level(t, buffer.Disabled)
	for name, f := range answering {
		for _, body := range []string{"", "hello"} {
			c := newSinkConn(t, &httpserver.Server{Native: f})
			r := connectH2(c, body, browserFields...)
			size := r.least(c)
			if n := testing.AllocsPerRun(200, func() { c.request(r.next(), size) }); n != 0 {
				t.Errorf("%s, content %q: %v objects for each request", name, body, n)
			}
			if !c.channel.IsOpen() {
				t.Errorf("%s, content %q: the connection was closed", name, body)
			}
		}
	}
}

// What a net/http handler costs, in objects: over HTTP/2 no more than over HTTP/1.1.
func TestH2AdapterAllocates(t *testing.T) {
	allocs.Need(t)
	buffertest.Level(t, buffer.Disabled)
	h := nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write([]byte("Hello, World!"))
	})
	for _, body := range []string{"", "hello"} {
		one := newSinkConn(t, &httpserver.Server{Handler: h})
		input := []byte(browserRequest)
		if body != "" {
			input = []byte("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
		}
		size := one.request(input, 1)
		before, _ := perRequest(func() { one.request(input, size) })
		two := newSinkConn(t, &httpserver.Server{Handler: h})
		fields := browserFields
		if body != "" {
			fields = []string{":method=POST", "content-length=5"}
		}
		r := connectH2(two, body, fields...)
		size = r.least(two)
		objects, bytes := perRequest(func() { two.request(r.next(), size) })
		t.Logf("content %q: %.1f objects, %.0f bytes; over HTTP/1.1 %.1f objects", body, objects, bytes, before)
		if objects > before+0.5 {
			t.Errorf("content %q: %.1f objects for each request; over HTTP/1.1 %.1f", body, objects, before)
		}
	}
}

// While it waits for its answer, a request keeps little beside its head.
func TestH2WaitingRequestIsSmall(t *testing.T) {
	buffertest.Level(t, buffer.Disabled)
	var waiting []*httpserver.Exchange
	s := &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		waiting = append(waiting, x)
		return true
	})}
	const streams = 5000 // many, as the pool of buffers may grow meanwhile
	s.HTTP2.MaxStreams = 2 * streams
	c := newSinkConn(t, s)
	f := newFrames().hello().get(1, "/")
	c.request([]byte(f.take()), 0)
	var input [streams][]byte
	for i := range input {
		input[i] = []byte(f.get(uint32(2*i+3), "/").take())
	}
	waiting = make([]*httpserver.Exchange, 0, streams)
	before := heapAlloc()
	for _, raw := range input {
		c.request(raw, 0)
	}
	each := int(heapAlloc()-before) / streams
	if len(waiting) != streams {
		t.Fatalf("%d requests", len(waiting))
	}
	t.Logf("a request that waits has %d bytes", each)
	if each > 1<<10 {
		t.Errorf("a request that waits has %d bytes", each)
	}
}
