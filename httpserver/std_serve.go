package httpserver

import (
	nethttp "net/http"
	"runtime/debug"
	"time"

	"millrace.dev/codec/http"
)

// serve runs the handler on a worker's goroutine. It returns the worker, or nil if that is to
// end.
func (e *stdExchange) serve() (w *worker) {
	returned := false
	defer func() {
		if !returned {
			// A panic, or runtime.Goexit, after which only the deferred calls still run.
			w = e.unwound(recover())
		}
	}()
	e.runHandler()
	returned = true
	return e.finish()
}

func (e *stdExchange) runHandler() {
	r := e.req
	w := (*response)(e)
	switch {
	case r == nil:
		w.Header().Set("Connection", "close")
		nethttp.Error(w, "400 Bad Request: invalid request target", nethttp.StatusBadRequest)
	case r.Method == "OPTIONS" && r.RequestURI == "*":
		w.Header().Set("Content-Length", "0") // what is asked for is the server as a whole
	default:
		e.conn.shard.server.Handler.ServeHTTP(w, r)
	}
}

// finish ends the answer after the handler has returned.
func (e *stdExchange) finish() *worker {
	e.closeBody()
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.flags&fHijacked != 0:
	case e.err != nil:
		e.flags |= fAbort // a part of the answer is missing
	default:
		if e.flags&fWroteHeader == 0 {
			e.writeHead(200)
		}
		e.emitEnd()
	}
	return e.returned()
}

// returned tells the loop that the handler has returned, and that nothing more comes. It
// returns the worker, nil if the loop has ended.
func (e *stdExchange) returned() *worker {
	e.flags |= fEnded | fDone
	if e.worker == nil {
		e.worker = &worker{tasks: make(chan *stdExchange, 1)}
	}
	w := e.worker // the loop's, from post on
	e.cancel()
	if e.rare != nil {
		e.rare.setBoth(time.Time{}, nil)
	}
	if e.buf != nil {
		e.buf.Close()
		e.buf = nil
	}
	if e.msg != nil {
		e.msg.Close()
		e.msg = nil
	}
	if !e.post() {
		return nil
	}
	return w
}

// emitEnd gives the end of the answer to the loop: usually that is the whole answer.
func (e *stdExchange) emitEnd() {
	b := e.buf
	e.buf = nil
	if b != nil && b.IsEmpty() {
		b.Close()
		b = nil
	}
	trailer := e.finalTrailer()
	if e.flags&fSentHead == 0 {
		var content []byte
		if b != nil {
			content = b.Readable()
		}
		r := e.takeHead(content)
		if e.flags&fIsHead != 0 && e.left >= 0 && b != nil {
			b.Close() // the length is what the handler says
			b = nil
		}
		r.Body = b
		fits := e.left <= 0 && e.flags&fTooLong == 0 || e.flags&(fNoBody|fIsHead) != 0
		if fits && (e.flags&fTrailers == 0 && trailer == nil) {
			e.emit(r)
			return
		}
		r.End = false
		e.emit(r)
		b = nil
	}
	m := http.NewContent(b, true)
	m.Trailer = trailer
	e.emit(m)
}

// unwound ends a request whose handler has panicked, or ended its goroutine if value is
// nil: the connection is closed, so that the client doesn't take the answer for whole.
func (e *stdExchange) unwound(value any) *worker {
	panicked := value != nil && value != nethttp.ErrAbortHandler
	if panicked {
		e.conn.shard.server.Logger.Error("handler panicked", "channel", e.conn.ctx.Channel(),
			"panic", value, "stack", string(debug.Stack()))
	}
	e.closeBody()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.flags&fHijacked == 0 {
		e.flags |= fAbort
	}
	if value == nil {
		e.flags |= fGone
	}
	if panicked {
		e.flags |= fPanicked
	}
	w := e.returned()
	if value == nil {
		return nil
	}
	return w
}
