package http1

import (
	"strconv"

	"millrace.dev/buffer"
	"millrace.dev/codec/http"
)

// contentWriter frames the content of the message that is being written.
type contentWriter struct {
	left int64 // bytes to come of the declared length
	mode contentMode
}

type contentMode uint8

const (
	contentDone    contentMode = iota // no message is open
	contentLength                     // declared length, RFC 9112 section 6.2
	contentChunked                    // RFC 9112 section 7.1
	contentRest                       // up to the connection's end, RFC 9112 section 6.3
	contentDropped                    // an answer to HEAD: taken and not sent
	contentNever                      // none is allowed, but the end has not been told
)

// Open reports whether a message's content is still to be ended.
func (w *contentWriter) Open() bool { return w.mode != contentDone }

// Drops reports whether the content that is written now is not sent, as in an answer to
// HEAD.
func (w *contentWriter) Drops() bool { return w.mode == contentDropped }

// check says whether n bytes may follow, and whether the content may end with them.
func (w *contentWriter) check(n int64, end bool) error {
	switch w.mode {
	case contentDone:
		return ErrNoMessage
	case contentNever:
		if n > 0 {
			return ErrContentNotAllowed
		}
	case contentLength:
		if n > w.left {
			return ErrContentLong
		}
		if end && n < w.left {
			return ErrContentShort
		}
	}
	return nil
}

// maxChunkHead is the longest chunk size line: 16 digits and CRLF.
const maxChunkHead = 18

// appendBefore writes what stands before n bytes of data that check has let through.
func (w *contentWriter) appendBefore(p []byte, n int64) []byte {
	if w.mode == contentChunked && n > 0 { // a chunk of size 0 would end the content
		p = strconv.AppendUint(p, uint64(n), 16)
		p = append(p, "\r\n"...)
	}
	return p
}

// appendAfter writes what stands behind n bytes of data, and ends the content.
func (w *contentWriter) appendAfter(p []byte, n int64, end bool, trailer *http.Header) []byte {
	if w.mode == contentLength {
		w.left -= n
	}
	if w.mode == contentChunked {
		if n > 0 {
			p = append(p, "\r\n"...)
		}
		if end {
			p = append(p, "0\r\n"...)
			if trailer != nil {
				p = appendFields(p, trailer)
			}
			p = append(p, "\r\n"...)
		}
	}
	if end {
		w.mode = contentDone
	}
	return p
}

// afterLen is the most that appendAfter writes.
func (w *contentWriter) afterLen(end bool, trailer *http.Header) int {
	const most = len("\r\n0\r\n\r\n")
	if w.mode == contentChunked && end && trailer != nil {
		return most + fieldsLen(trailer)
	}
	return most
}

// checkTrailer refuses what an encoder must not write behind content.
func checkTrailer(h *http.Header) error {
	if h == nil {
		return nil
	}
	for i := range h.Len() {
		switch h.FieldAt(i) {
		case http.FieldContentLength, http.FieldTransferEncoding, http.FieldTrailer,
			http.FieldHost, http.FieldConnection, http.FieldTE:
			return ErrTrailer
		}
	}
	return h.Err()
}

// AppendContent appends c to dst, its data copied, framed as the open message requires.
// Trailers are written in chunked content and dropped elsewhere, where they cannot be
// sent. It does not close c.
func (w *contentWriter) AppendContent(dst *buffer.Buffer, c *http.Content) error {
	if err := w.CheckContent(c); err != nil {
		return err
	}
	w.AppendContentHead(dst, c)
	if c.Data != nil && !w.Drops() {
		appendData(dst, c.Data)
	}
	w.AppendContentTail(dst, c)
	return nil
}

// CheckContent returns the error that AppendContent would return. With AppendContentHead
// and AppendContentTail it lets a caller write large data without a copy.
func (w *contentWriter) CheckContent(c *http.Content) error {
	if err := w.check(c.Len(), c.End); err != nil {
		return err
	}
	return checkTrailer(c.Trailer)
}

// AppendContentHead appends what stands before c's data; CheckContent must have allowed it.
func (w *contentWriter) AppendContentHead(dst *buffer.Buffer, c *http.Content) {
	if w.mode != contentChunked {
		return // nothing stands there
	}
	dst.Ensure(maxChunkHead)
	commit(dst, w.appendBefore(dst.Writable()[:0], c.Len()))
}

// AppendContentTail appends what stands behind c's data, and accounts for c.
func (w *contentWriter) AppendContentTail(dst *buffer.Buffer, c *http.Content) {
	if w.mode == contentChunked {
		dst.Ensure(w.afterLen(c.End, c.Trailer))
	}
	commit(dst, w.appendAfter(dst.Writable()[:0], c.Len(), c.End, c.Trailer))
}

func dataLen(b *buffer.Buffer) int64 {
	if b == nil {
		return 0
	}
	return int64(b.Len())
}

// appendData copies the readable bytes of data, which keeps them.
func appendData(dst, data *buffer.Buffer) {
	if p := data.Readable(); len(p) == data.Len() {
		dst.Write(p)
		return
	}
	for _, p := range data.Runs(nil) {
		dst.Write(p)
	}
}

// commit takes over what was appended to dst.Writable()[:0]: it lies in dst's room or, when
// that was estimated too small, in memory that append has made.
func commit(dst *buffer.Buffer, filled []byte) {
	switch n := len(filled); {
	case n == 0:
	case n <= dst.Available():
		dst.Advance(n)
	default:
		dst.Write(filled)
	}
}
