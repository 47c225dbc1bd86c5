package site

import (
	"bufio"
	"encoding/json"
	"io"
	nethttp "net/http"
	"strings"
	"testing"

	"millrace.dev/cmd/millrace/internal/figures"
	"millrace.dev/future"
)

// open opens a stream.
func (r *rig) open() (*nethttp.Response, *bufio.Scanner) {
	r.Helper()
	a, err := r.client.Get(r.url + "/stats/stream")
	r.must(err)
	r.Cleanup(func() { a.Body.Close() })
	if a.StatusCode != 200 || a.Header.Get("Content-Type") != "text/event-stream" {
		r.Fatalf("%s, %v", a.Status, a.Header)
	}
	lines := bufio.NewScanner(a.Body)
	lines.Buffer(nil, 1<<20)
	return a, lines
}

// next returns the figures of the next event.
func (r *rig) next(lines *bufio.Scanner) (s figures.Snapshot) {
	r.Helper()
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			r.must(json.Unmarshal([]byte(data), &s))
			return s
		}
	}
	r.Fatalf("no more events: %v", lines.Err())
	return s
}

// streamsOpen asks each loop.
func (r *rig) streamsOpen() (n int) {
	for l, s := range r.site.streams {
		p := future.NewPromise[int](l)
		r.must(l.Execute(func() { p.TrySucceed(len(s.open)) }))
		here, err := p.Future().Wait(r.Context())
		r.must(err)
		n += here
	}
	return n
}

func TestStream(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, first := r.open()
	_, second := r.open()
	for range 2 { // one event at once, another by the timer
		if s := r.next(first); s.Version != "test" || s.Connections.Open < 1 {
			t.Errorf("%+v", s)
		}
		r.next(second)
	}
	if n := r.streamsOpen(); n != 2 {
		t.Errorf("%d streams are open", n)
	}
}

func TestStreamEndsWithItsClient(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c, in := r.dial()
	_, err := io.WriteString(c, "GET /stats/stream HTTP/1.1\r\nHost: h\r\n\r\n")
	r.must(err)
	_, err = in.ReadString('\n')
	r.must(err)
	r.must(c.Close())
	r.eventually("the stream is forgotten", func() bool { return r.streamsOpen() == 0 })
	for l, s := range r.site.streams {
		p := future.NewPromise[bool](l)
		r.must(l.Execute(func() { p.TrySucceed(s.timer.Active()) }))
		if active, err := p.Future().Wait(r.Context()); err != nil || active {
			t.Errorf("the timer goes on for nobody: %t, %v", active, err)
		}
	}
}

func TestDrainEndsStreams(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, lines := r.open()
	r.next(lines)
	r.site.Drain()
	for lines.Scan() { // up to the end, which has to come
	}
	r.must(lines.Err())
	r.must(r.server.Shutdown(r.Context()))
	r.eventually("no stream is left", func() bool { return r.server.Connections() == 0 })
}

func TestNoStreamWhileDraining(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.site.Drain()
	if a, _ := r.do("GET", "/stats/stream", nil); a.StatusCode != 503 {
		t.Errorf("%s", a.Status)
	}
}

func TestStreamHead(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if a, body := r.do("HEAD", "/stats/stream", nil); a.StatusCode != 200 || body != "" {
		t.Errorf("%s %q", a.Status, body)
	}
	if n := r.streamsOpen(); n != 0 {
		t.Errorf("%d streams are open", n)
	}
}
