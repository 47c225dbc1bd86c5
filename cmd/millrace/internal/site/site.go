package site

import (
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"

	"millrace.dev/cmd/millrace/internal/figures"
	"millrace.dev/cmd/millrace/internal/files"
	"millrace.dev/cmd/millrace/internal/pages"
	"millrace.dev/cmd/millrace/internal/workers"
	"millrace.dev/codec/http"
	"millrace.dev/codec/multipart"
	"millrace.dev/httpserver"
	"millrace.dev/loop"
)

// Options say what to serve.
type Options struct {
	Collector *figures.Collector
	// Tree is served at /files/; nil if no directory is.
	Tree *files.Tree
	// Settings are shown on the start page.
	Settings []pages.Fact
	// Forms say what /upload and /form take.
	Forms  multipart.FormOptions
	Logger *slog.Logger
}

// Site is the native handler of all endpoints. It must be closed once the server was shut
// down.
type Site struct {
	o       Options
	start   atomic.Pointer[pages.Page]
	live    pages.Page
	forms   pages.Page
	streams map[*loop.Loop]*streams // not changed after New
	opening *workers.Pool
}

// Opening files waits for disks more than it works, so there may be more at once than there
// are processors. A queue of twenty times that answers within seconds or not at all.
const (
	openingAtOnce = 32
	openingQueued = 640
)

// New returns a site for the loops of the collector's group.
func New(o Options) (*Site, error) {
	s := &Site{o: o, streams: make(map[*loop.Loop]*streams), opening: workers.New(openingAtOnce, openingQueued)}
	var err error
	if s.live, err = pages.Live(); err != nil {
		return nil, fmt.Errorf("live page: %w", err)
	}
	if s.forms, err = pages.Forms(); err != nil {
		return nil, fmt.Errorf("page of forms: %w", err)
	}
	if err := s.renderStart(""); err != nil {
		return nil, err
	}
	for _, l := range o.Collector.Group.Loops() {
		s.streams[l] = newStreams(l, o.Collector)
	}
	return s, nil
}

// Listening tells the site its own base URL, without a slash at the end. Any goroutine may
// call it.
func (s *Site) Listening(base string) error {
	s.o.Collector.Address.Store(&base)
	return s.renderStart(base)
}

func (s *Site) renderStart(base string) error {
	c := s.o.Collector
	facts := []pages.Fact{
		{Name: "Version", Value: c.Version + ", " + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH},
		{Name: "Event loops", Value: fmt.Sprintf("%d, on %d processors", len(c.Group.Loops()), runtime.GOMAXPROCS(0))},
		{Name: "Transport", Value: c.Transport},
	}
	if base != "" {
		facts = append(facts, pages.Fact{Name: "Address", Value: base})
	}
	d := pages.StartData{Facts: append(facts, s.o.Settings...), Base: base}
	if !strings.HasPrefix(base, "http") {
		d.Base = "http://127.0.0.1:8080" // for want of one that a client could use
	}
	if s.o.Tree != nil {
		d.Dir = s.o.Tree.Path()
	}
	page, err := pages.Start(d)
	if err != nil {
		return fmt.Errorf("start page: %w", err)
	}
	s.start.Store(&page)
	return nil
}

// Drain makes the site say that the server is shutting down, and ends its endless answers.
// Any goroutine may call it.
func (s *Site) Drain() {
	s.o.Collector.Draining.Store(true)
	for l, st := range s.streams {
		_ = l.Execute(st.end) // a loop that has ended has no streams
	}
}

// Close waits until no file is being opened any more.
func (s *Site) Close() { s.opening.Close() }

// ServeNative answers a request, on its loop. There is no other handler behind it, so that
// every request is its own.
func (s *Site) ServeNative(x *httpserver.Exchange) bool {
	r := x.Request()
	path := r.Path()
	switch string(path) {
	case "/plaintext":
		if readOnly(x) {
			x.Respond(200, "text/plain", plaintext)
		}
	case "/json":
		if readOnly(x) {
			s.json(x)
		}
	case "/echo":
		serveEcho(x)
	case "/length":
		serveLength(x)
	case "/upload":
		s.upload(x)
	case "/form":
		s.form(x)
	case "/":
		if readOnly(x) {
			servePage(x, s.start.Load())
		}
	case "/live":
		if readOnly(x) {
			servePage(x, &s.live)
		}
	case "/stats":
		if readOnly(x) {
			s.stats(x)
		}
	case "/stats/stream":
		if readOnly(x) {
			s.stream(x)
		}
	case "/healthz":
		if readOnly(x) {
			s.health(x)
		}
	case "/files":
		redirect(x, files.Prefix)
	case "*": // OPTIONS for the server as a whole, RFC 9110 section 9.3.7
		allow(x, 204, "GET, HEAD, POST, PUT, OPTIONS")
	default:
		s.other(x, path)
	}
	return true
}

// other answers for paths that are not fixed.
func (s *Site) other(x *httpserver.Exchange, path []byte) {
	switch {
	case x.Request().Method == http.MethodConnect:
		allow(x, 405, "GET, HEAD, POST, PUT, OPTIONS")
	case len(path) >= len(files.Prefix) && string(path[:len(files.Prefix)]) == files.Prefix:
		s.file(x, path)
	default:
		x.Respond(404, textPlain, notFound)
	}
}
