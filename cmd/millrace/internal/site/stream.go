package site

import (
	"time"

	"millrace.dev/buffer"
	"millrace.dev/cmd/millrace/internal/figures"
	"millrace.dev/codec/http"
	"millrace.dev/httpserver"
	"millrace.dev/loop"
)

// streamInterval is how often the figures are sent.
const streamInterval = time.Second

// streams are the open /stats/stream answers of one loop, on which alone they are used. One
// timer serves all of them, and the figures are put into words once for all of them: a
// stream costs neither a goroutine nor a timer of its own.
type streams struct {
	loop      *loop.Loop
	collector *figures.Collector
	open      map[*httpserver.Exchange]struct{}
	timer     loop.Timer
}

func newStreams(l *loop.Loop, c *figures.Collector) *streams {
	s := &streams{loop: l, collector: c, open: make(map[*httpserver.Exchange]struct{})}
	s.timer.Init(l, s)
	return s
}

// stream answers with the figures, now and every second until the client goes.
func (s *Site) stream(x *httpserver.Exchange) {
	if s.o.Collector.Draining.Load() {
		x.Respond(503, textPlain, draining)
		return
	}
	r := http.NewResponse(200)
	r.Header.AddField(http.FieldContentType, "text/event-stream")
	r.Header.AddField(http.FieldCacheControl, "no-store")
	if x.Request().Method == http.MethodHead {
		x.RespondWith(r)
		return
	}
	x.Start(r)
	s.streams[x.Channel().Loop()].add(x)
}

func (s *streams) add(x *httpserver.Exchange) {
	s.open[x] = struct{}{}
	x.OnClose(s.remove)
	x.Write(buffer.CopyString("retry: 2000\n\n"))
	x.Write(buffer.Wrap(message(s.collector)))
	if !s.timer.Active() {
		s.timer.Reset(streamInterval)
	}
}

func (s *streams) remove(x *httpserver.Exchange) {
	delete(s.open, x)
	if len(s.open) == 0 {
		s.timer.Stop()
	}
}

// RunTimer sends the figures to every client that has taken what it was sent before. One
// that hasn't misses some: figures of the past are of no use to it.
func (s *streams) RunTimer(*loop.Timer) {
	m := message(s.collector)
	for x := range s.open {
		if x.IsWritable() {
			b := x.Allocator().Allocate(len(m))
			b.Write(m)
			x.Write(b)
		}
	}
	s.timer.Reset(streamInterval)
}

// end ends all streams; their clients may ask again elsewhere.
func (s *streams) end() {
	s.timer.Stop()
	for x := range s.open {
		delete(s.open, x)
		x.End(nil)
	}
}
