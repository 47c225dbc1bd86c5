package httpserver

import (
	"os"
	"runtime"
	"strings"

	nethttp "net/http"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
)

// response is the ResponseWriter of a handler. Its methods behave as net/http's do. Small
// answers stay in buf until the handler returns and then go to the loop as one message;
// others go in pieces, and then a Write waits while the client takes less than is written.
type response stdExchange

// wholeAnswer is up to how many bytes an answer is kept back, to be sent with its
// Content-Length in one piece.
const wholeAnswer = 4 << 10

// maxPiece is the most bytes of content in one message to the loop.
const maxPiece = 64 << 10

// Header returns the fields of the answer. Changes after WriteHeader have no effect, except
// for trailers.
func (w *response) Header() nethttp.Header {
	if w.header == nil {
		w.header = make(nethttp.Header)
	}
	return w.header
}

// WriteHeader begins the answer, or sends an interim one for a status below 200.
func (w *response) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic("httpserver: WriteHeader: status code out of range")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	e := (*stdExchange)(w)
	switch {
	case w.flags&fHijacked != 0:
		e.complain("WriteHeader on a hijacked connection")
	case w.flags&(fWroteHeader|fEnded) != 0:
		e.complain("superfluous WriteHeader")
	case status < 200 && status != 101:
		e.emit(e.interimHead(status))
	default:
		e.writeHead(status)
	}
}

// complain logs a mistake of the handler, with the place that it was made at.
func (e *stdExchange) complain(what string) {
	s := e.conn.shard.server
	s.Logger.Warn("handler: "+what, "channel", e.conn.ctx.Channel(), "caller", callerOutside())
}

// callerOutside returns the innermost place on the stack that is neither here nor in
// net/http.
func callerOutside() string {
	var pc [16]uintptr
	frames := runtime.CallersFrames(pc[:runtime.Callers(2, pc[:])])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "millrace.dev/httpserver.") && !strings.HasPrefix(f.Function, "net/http.") {
			return f.File + ":" + itoa(f.Line)
		}
		if !more {
			return "unknown"
		}
	}
}

// Write sends content, or keeps it back while the answer is small. It takes p's bytes
// before it returns.
func (w *response) Write(p []byte) (int, error) { return write((*stdExchange)(w), p) }

// WriteString is Write for a string.
func (w *response) WriteString(s string) (int, error) { return write((*stdExchange)(w), s) }

func write[T []byte | string](e *stdExchange, p T) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.mayWrite(len(p)); err != nil || len(p) == 0 {
		return 0, err
	}
	if n := e.buffered(); n+len(p) <= wholeAnswer {
		b := e.bufferFor(len(p))
		b.Advance(copy(b.Writable(), p))
		return len(p), nil
	}
	written := 0
	for len(p) > 0 {
		b, n := piece(e, p)
		if err := e.emitContent(b); err != nil {
			return written, err
		}
		written += n
		p = p[n:]
	}
	return written, nil
}

// piece takes what is kept back, and as much of p as there is room for behind it.
func piece[T []byte | string](e *stdExchange, p T) (b *buffer.Buffer, n int) {
	kept := e.buf
	e.buf = nil
	e.mu.Unlock() // the loop does not have to wait for the copy
	defer e.mu.Lock()
	had := 0
	if kept != nil {
		had = kept.Len()
	}
	size := min(had+len(p), maxPiece)
	if had > 0 && len(kept.Writable()) >= size-had {
		b = kept
	} else {
		b = e.conn.shard.loop.Allocator().Allocate(size)
		if kept != nil {
			b.Write(kept.Readable())
			kept.Close()
		}
	}
	n = copy(b.Writable()[:size-had], p)
	b.Advance(n)
	return b, n
}

// mayWrite settles what comes before n bytes of content, and refuses them if the answer
// can't have them.
func (e *stdExchange) mayWrite(n int) error {
	switch {
	case e.flags&fHijacked != 0:
		if n > 0 {
			e.complain("Write on a hijacked connection")
		}
		return nethttp.ErrHijacked
	case e.flags&fEnded != 0:
		return ErrAnswered
	}
	if e.flags&fWroteHeader == 0 {
		e.writeHead(200)
	}
	if n == 0 {
		return nil
	}
	if e.flags&fNoBody != 0 {
		return nethttp.ErrBodyNotAllowed
	}
	if e.err != nil {
		return e.err
	}
	if e.flags&fTooLong != 0 || e.left >= 0 && int64(n) > e.left {
		e.flags |= fTooLong
		return nethttp.ErrContentLength
	}
	if e.left >= 0 {
		e.left -= int64(n)
	}
	return nil
}

func (e *stdExchange) buffered() int {
	if e.buf == nil {
		return 0
	}
	return e.buf.Len()
}

// bufferFor returns buf with room for n bytes more.
func (e *stdExchange) bufferFor(n int) *buffer.Buffer {
	if e.buf == nil {
		e.buf = e.conn.shard.answerBuffer(n)
	}
	e.buf.Ensure(n)
	return e.buf
}

// emitContent sends b, which it takes over, behind the head. It waits while the client has
// not taken enough of what was sent before.
func (e *stdExchange) emitContent(b *buffer.Buffer) error {
	if err := e.awaitWritable(); err != nil {
		b.Close()
		return err
	}
	switch {
	case e.flags&fSentHead == 0:
		r := e.takeHead(b.Readable())
		r.End = false
		if e.flags&fIsHead != 0 {
			b.Close() // nobody will see it
			e.emit(r)
			return nil
		}
		r.Body = b
		e.queued += int32(b.Len())
		e.emit(r)
	case e.flags&fIsHead != 0:
		b.Close()
	default:
		e.queued += int32(b.Len())
		e.emit(http.NewContent(b, false))
	}
	return nil
}

// awaitWritable waits until the loop has taken what it was given and the channel is below
// its watermark.
func (e *stdExchange) awaitWritable() error {
	ch := e.conn.ctx.Channel()
	for {
		switch {
		case e.flags&fEnded != 0:
			return ErrAnswered
		case e.err != nil:
			return e.err
		case e.rare != nil && e.rare.write.expired():
			e.fail(os.ErrDeadlineExceeded)
			e.cancel()
			return e.err
		case e.queued < maxPiece && e.streamWritable(ch):
			return nil
		}
		e.wait()
	}
}

// streamWritable reports whether the client takes what was sent before.
func (e *stdExchange) streamWritable(ch *channel.Channel) bool {
	if e.flags&fStream != 0 {
		return e.flags&fBlocked == 0
	}
	return ch.IsWritable()
}

// emit gives a message to the loop.
func (e *stdExchange) emit(msg any) {
	if e.first == nil {
		e.first = msg
	} else {
		r := e.seldom()
		r.more = append(r.more, msg)
	}
	e.post()
}

// Flush is FlushError for http.Flusher.
func (w *response) Flush() { _ = w.FlushError() }

// FlushError sends what has been written so far. It waits as Write does, and says if the
// connection is lost.
func (w *response) FlushError() error {
	e := (*stdExchange)(w)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.flags&fHijacked != 0 {
		return nethttp.ErrHijacked
	}
	if e.flags&(fWroteHeader|fEnded) == 0 {
		e.writeHead(200)
	}
	return e.flush()
}

func (e *stdExchange) flush() error {
	if err := e.awaitWritable(); err != nil {
		return err
	}
	if e.buffered() > 0 {
		b := e.buf
		e.buf = nil
		return e.emitContent(b)
	}
	if e.flags&fSentHead == 0 {
		r := e.takeHead(nil)
		r.End = false
		e.emit(r)
	}
	return nil
}
