package httpserver

import (
	"io"
	nethttp "net/http"
	"net/textproto"
	"os"

	"millrace.dev/codec/http"
)

// requestBody is the body of a request that has content.
type requestBody stdExchange

// Read waits for content. The first Read asks a client that waits for it to send it.
func (b *requestBody) Read(p []byte) (int, error) {
	e := (*stdExchange)(b)
	e.readMu.Lock()
	defer e.readMu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	if err := e.awaitContent(); err != nil {
		return 0, err
	}
	n := e.cur.ReadInto(p)
	if e.cur.IsEmpty() {
		e.dropCurrent()
	}
	return n, nil
}

// awaitContent returns nil when cur has content. readMu is held.
func (e *stdExchange) awaitContent() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		switch {
		case e.flags&fBodyClosed != 0:
			return nethttp.ErrBodyReadAfterClose
		case e.cur != nil:
			return nil
		case e.in != nil:
			e.takeContent()
			return nil
		case e.bodyErr != nil:
			return e.endOfBody()
		}
		if e.flags&fExpects != 0 {
			e.flags = e.flags&^fExpects | fContinue
			e.post()
		}
		if e.rare != nil && e.rare.read.expired() {
			e.bodyErr = os.ErrDeadlineExceeded
			continue
		}
		e.wait()
	}
}

// takeContent takes what has arrived from the loop, which then may receive more.
func (e *stdExchange) takeContent() {
	e.cur, e.in = e.in, nil
	if e.flags&fPaused != 0 {
		e.flags = e.flags&^fPaused | fResume
		e.post()
	}
}

// endOfBody returns what follows the content. Trailers are in the request before its reader
// sees io.EOF.
func (e *stdExchange) endOfBody() error {
	if e.rare != nil && e.rare.requestTrailer != nil {
		mergeTrailer(e.req, e.rare.requestTrailer)
		http.ReleaseHeader(e.rare.requestTrailer)
		e.rare.requestTrailer = nil
	}
	if e.bodyErr != io.EOF {
		e.flags |= fBodyFailed
	}
	return e.bodyErr
}

func mergeTrailer(r *nethttp.Request, h *http.Header) {
	if r.Trailer == nil {
		r.Trailer = make(nethttp.Header, h.Len())
	}
	for name, value := range h.All() {
		r.Trailer.Add(textproto.CanonicalMIMEHeaderKey(string(name)), string(value))
	}
}

// Close gives the content up. What the client still sends of it is thrown away, within
// bounds.
func (b *requestBody) Close() error {
	(*stdExchange)(b).closeBody()
	return nil
}

func (e *stdExchange) closeBody() {
	e.mu.Lock()
	e.flags |= fBodyClosed
	if e.in != nil {
		e.in.Close()
		e.in = nil
	}
	if e.flags&fPaused != 0 {
		e.flags = e.flags&^fPaused | fResume
		e.post()
	}
	e.notify() // a reader on another goroutine, who has readMu, gives it back now
	e.mu.Unlock()
	e.readMu.Lock()
	e.dropCurrent()
	e.readMu.Unlock()
}

func (e *stdExchange) dropCurrent() {
	if e.cur != nil {
		e.cur.Close()
		e.cur = nil
	}
}
