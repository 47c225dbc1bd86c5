package http1

import (
	"math"

	"millrace.dev/buffer/text"
	"millrace.dev/codec/http"
	"millrace.dev/codec/internal/octet"
)

// framing is how the end of a message's content is found, RFC 9112 section 6.3.
type framing int64

// Anything from 0 on is the length of the content.
const (
	framingChunked framing = -1 - iota
	framingNone            // the head says nothing: no content, or all until the end
)

// framingOf reads Transfer-Encoding and Content-Length. What two recipients could
// understand differently is refused.
func framingOf(h *http.Header, v http.Version) (framing, *Error) {
	if h.HasField(http.FieldTransferEncoding) {
		return chunkedFraming(h, v)
	}
	if !h.HasField(http.FieldContentLength) {
		return framingNone, nil
	}
	// RFC 9110 section 8.6 lets a recipient take a length that is repeated identically
	// as one or refuse it; it is refused here, also as a list in one line.
	if h.Repeated(http.FieldContentLength) {
		return 0, errLengthTwice
	}
	switch n := http.ParseContentLength(h.ValueOf(http.FieldContentLength)); n {
	case -1:
		return 0, errLength
	case math.MaxInt64:
		return 0, errBodyLong
	default:
		return framing(n), nil
	}
}

// chunkedFraming accepts a Transfer-Encoding of chunked and nothing else.
func chunkedFraming(h *http.Header, v http.Version) (framing, *Error) {
	switch {
	case v < http.HTTP11:
		return 0, errTEInHTTP10 // RFC 9112 section 6.1: the framing is faulty
	case h.HasField(http.FieldContentLength):
		return 0, errLengthAndTE // section 6.1: possibly smuggling
	case h.Repeated(http.FieldTransferEncoding):
		return 0, errTE
	}
	value := h.ValueOf(http.FieldTransferEncoding)
	if text.EqualFold(value, "chunked") {
		if h.HasField(http.FieldTrailer) && !validTrailerNames(h) {
			return 0, errTrailerFields
		}
		return framingChunked, nil
	}
	// Section 6.1: a coding that is not understood is 501. Section 6.3: without chunked
	// as the last coding the length is unknown, 400. Chunked twice is section 7.1's 400.
	last, others := false, false
	for e, rest, ok := octet.NextElement(value); ok; e, rest, ok = octet.NextElement(rest) {
		if !octet.IsToken(e) || last {
			return 0, errTE
		}
		last = text.EqualFold(e, "chunked")
		others = others || !last
	}
	if last && others {
		return 0, errTEUnknown
	}
	return 0, errTE
}

// validTrailerNames refuses announcements of trailers that would change the framing:
// RFC 9110 section 6.5.1 forbids to send them.
func validTrailerNames(h *http.Header) bool {
	for list := range h.Values("Trailer") {
		for e, rest, ok := octet.NextElement(list); ok; e, rest, ok = octet.NextElement(rest) {
			switch http.FieldOfBytes(e) {
			case http.FieldTransferEncoding, http.FieldContentLength, http.FieldTrailer:
				return false
			}
		}
	}
	return true
}

// persistent applies RFC 9112 section 9.3: whether the sender of a message with these
// fields means to go on using the connection.
func persistent(h *http.Header, v http.Version) bool {
	if !h.HasField(http.FieldConnection) {
		return v >= http.HTTP11
	}
	if h.HasToken("Connection", "close") {
		return false
	}
	return v >= http.HTTP11 || h.HasToken("Connection", "keep-alive")
}
