package site

import (
	"fmt"
	"runtime/debug"

	"millrace.dev/channel"
	"millrace.dev/cmd/millrace/internal/files"
	"millrace.dev/codec/http"
	"millrace.dev/httpserver"
)

// fileRequest is what the worker that opens a file needs of a request, in memory of its own:
// the request's is recycled if the client goes away meanwhile.
type fileRequest struct {
	site   *Site
	x      *httpserver.Async
	method http.Method
	path   []byte
	header http.Header
}

// wanted are the fields that decide how a file is answered.
var wanted = [...]http.Field{
	http.FieldRange, http.FieldIfRange, http.FieldIfMatch, http.FieldIfNoneMatch,
	http.FieldIfModifiedSince, http.FieldIfUnmodifiedSince,
}

// file has a worker open the file that path names.
func (s *Site) file(x *httpserver.Exchange, path []byte) {
	if s.o.Tree == nil {
		x.Respond(404, textPlain, notGiven)
		return
	}
	in := x.Request()
	r := &fileRequest{site: s, x: x.Async(), method: in.Method, path: append([]byte(nil), path...)}
	for _, f := range wanted {
		if in.Header.HasField(f) {
			for value := range in.Header.Values(f.String()) {
				r.header.AddField(f, string(value))
			}
		}
	}
	if !s.opening.Do(r.open) {
		busy := http.NewResponse(503)
		busy.Header.AddField(http.FieldRetryAfter, "1")
		x.RespondWith(busy)
	}
}

// open runs on a worker.
func (r *fileRequest) open() {
	a := r.answer()
	if err := r.x.Do(func(x *httpserver.Exchange) {
		if x == nil {
			a.Close() // the client has gone
			return
		}
		send(x, a)
	}); err != nil {
		a.Close() // the server has gone
	}
}

// answer contains a panic, which would take the whole server down here.
func (r *fileRequest) answer() (a *files.Answer) {
	defer func() {
		if v := recover(); v != nil {
			r.site.o.Logger.Error("opening a file panicked", "path", fmt.Sprintf("%q", r.path),
				"panic", v, "stack", string(debug.Stack()))
			a = &files.Answer{Status: 500}
		}
	}()
	return r.site.o.Tree.Answer(r.method, r.path, &r.header)
}

// send sends an answer, on the loop. It owns a.
func send(x *httpserver.Exchange, a *files.Answer) {
	r := http.NewResponse(a.Status)
	for _, f := range a.Fields {
		r.Header.AddField(f.Name, f.Value)
	}
	r.Header.Add("X-Content-Type-Options", "nosniff")
	pieces := a.Pieces
	a.Pieces = nil // they are taken one by one
	switch {
	case len(pieces) == 0:
		if http.BodyAllowed(a.Status) {
			r.ContentLength = a.Length // of what GET would have sent
		}
		x.RespondWith(r)
	case len(pieces) == 1 && pieces[0].File == nil:
		r.Body = x.Allocator().Allocate(len(pieces[0].Text))
		r.Body.Write(pieces[0].Text)
		x.RespondWith(r)
	case len(pieces) == 1:
		p := pieces[0]
		x.SendFile(r, &channel.FileRegion{File: p.File, Offset: p.Offset, Count: p.Count})
	default:
		sendParts(x, r, a.Length, pieces)
	}
}

// sendParts sends the parts of a multipart answer. All are handed over at once: file ranges
// take no memory, and there are few.
func sendParts(x *httpserver.Exchange, r *http.Response, length int64, pieces []files.Piece) {
	r.ContentLength = length
	id := x.Request().ID
	x.Start(r)
	for _, p := range pieces {
		var m *http.Content
		if p.File != nil {
			m = http.NewFileContent(p.File, p.Offset, p.Count, false)
		} else {
			b := x.Allocator().Allocate(len(p.Text))
			b.Write(p.Text)
			m = http.NewContent(b, false)
		}
		m.ID = id
		x.Context().Write(m)
	}
	x.End(nil)
}
