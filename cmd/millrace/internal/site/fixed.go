package site

import (
	"millrace.dev/cmd/millrace/internal/pages"
	"millrace.dev/codec/http"
	"millrace.dev/httpserver"
)

// The answers that are known beforehand.

const textPlain = "text/plain; charset=utf-8"

var (
	plaintext = []byte("Hello, World!")
	notFound  = []byte("404 Not Found\nThe start page at / lists what there is.\n")
	notGiven  = []byte("404 Not Found\nNo directory is served: start the server with --dir DIRECTORY.\n")
	tooSlow   = []byte("408 Request Timeout\n")
	healthy   = []byte("ok\n")
	draining  = []byte("draining\n")
)

// readOnly reports whether the method is one that only looks, and answers if it isn't.
func readOnly(x *httpserver.Exchange) bool {
	switch x.Request().Method {
	case http.MethodGet, http.MethodHead:
		return true
	case http.MethodOptions:
		allow(x, 204, "GET, HEAD, OPTIONS")
	default:
		allow(x, 405, "GET, HEAD, OPTIONS")
	}
	return false
}

// allow says which methods there are.
func allow(x *httpserver.Exchange, status int, methods string) {
	r := http.NewResponse(status)
	r.Header.AddField(http.FieldAllow, methods)
	x.RespondWith(r)
}

func redirect(x *httpserver.Exchange, to string) {
	r := http.NewResponse(301)
	r.ContentLength = 0 // also for HEAD
	r.Header.AddField(http.FieldLocation, to)
	x.RespondWith(r)
}

// servePage sends a page of HTML.
func servePage(x *httpserver.Exchange, p *pages.Page) {
	r := http.NewResponse(200)
	r.Header.AddField(http.FieldContentType, "text/html; charset=utf-8")
	r.Header.AddField(http.FieldCacheControl, "no-cache")
	r.Header.Add("Content-Security-Policy", p.Policy)
	r.Body = x.Allocator().Allocate(len(p.HTML))
	r.Body.Write(p.HTML)
	x.RespondWith(r)
}

// json makes its object anew for each request, as an application would.
func (s *Site) json(x *httpserver.Exchange) {
	b := x.Allocator().Allocate(64)
	b.WriteString(`{"message":"Hello, World!"}`)
	x.RespondBuffer(200, "application/json", b)
}

// health is for whoever decides where requests go.
func (s *Site) health(x *httpserver.Exchange) {
	r := http.NewResponse(200)
	body := healthy
	if s.o.Collector.Draining.Load() {
		r.Status, body = 503, draining
	}
	r.Header.AddField(http.FieldContentType, textPlain)
	r.Header.AddField(http.FieldCacheControl, "no-store")
	r.Body = x.Allocator().Allocate(len(body))
	r.Body.Write(body)
	x.RespondWith(r)
}
