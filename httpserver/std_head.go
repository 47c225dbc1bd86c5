package httpserver

import (
	nethttp "net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"millrace.dev/codec/http"
)

// The head of an answer is taken from the handler's map when WriteHeader is called. Framing,
// Connection and Date are the codec's business.

func itoa(n int) string { return strconv.Itoa(n) }

// writeHead is WriteHeader of a final answer.
func (e *stdExchange) writeHead(status int) {
	e.flags |= fWroteHeader
	r := http.NewResponse(status)
	e.msg = r
	if !http.BodyAllowed(status) || status == 205 {
		e.flags |= fNoBody
	}
	if e.header == nil {
		return
	}
	e.announced()
	var room [16]string
	for _, name := range sortedNames(room[:0], e.header) {
		e.addField(r, name, e.header[name])
	}
	if e.flags&fNoBody != 0 {
		e.left = -1
	}
	r.ContentLength = e.left
}

// sortedNames appends the header's names in order, as net/http sends them, so that equal
// answers are equal byte for byte.
func sortedNames(names []string, h nethttp.Header) []string {
	for name := range h {
		names = append(names, name)
	}
	if len(names) > 1 {
		slices.Sort(names)
	}
	return names
}

// addField adds a field of the handler's to a head, unless it is not to be sent.
func (e *stdExchange) addField(r *http.Response, name string, values []string) {
	f := http.FieldOf(name)
	switch f {
	case http.FieldContentLength:
		if _, chunked := e.header["Transfer-Encoding"]; !chunked {
			e.declareLength(values)
		}
		return
	case http.FieldTransferEncoding:
		e.flags |= fOwnType // as net/http has it
		return
	case http.FieldContentType:
		e.flags |= fOwnType
		if r.Status == 304 {
			return
		}
	case http.FieldContentEncoding:
		if len(values) > 0 && values[0] != "" {
			e.flags |= fOwnType
		}
	case http.FieldOther:
		if strings.HasPrefix(name, nethttp.TrailerPrefix) {
			e.flags |= fTrailers
			return
		}
	}
	addValues(&r.Header, f, name, values)
}

// addValues adds fields, with what may not be in a field's value replaced by spaces. A name
// that is no token is left out. That is what net/http does with them.
func addValues(h *http.Header, f http.Field, name string, values []string) {
	if f == http.FieldOther && !http.IsToken(name) {
		return
	}
	for _, v := range values {
		if !http.IsFieldValue(v) {
			v = strings.Map(spaceOutControls, v)
		}
		h.Add(name, v)
	}
}

func spaceOutControls(r rune) rune {
	if r < ' ' && r != '\t' || r == 0x7f {
		return ' '
	}
	return r
}

// declareLength notes the Content-Length that the handler has set.
func (e *stdExchange) declareLength(values []string) {
	if len(values) == 0 || values[0] == "" {
		return
	}
	n, err := strconv.ParseInt(values[0], 10, 64)
	if err != nil || n < 0 {
		e.complain("invalid Content-Length " + strconv.Quote(values[0]))
		return
	}
	e.left = n
}

// announced notes the trailers that the Trailer field names.
func (e *stdExchange) announced() {
	for _, list := range e.header["Trailer"] {
		for name := range strings.SplitSeq(list, ",") {
			name = textproto.CanonicalMIMEHeaderKey(textproto.TrimString(name))
			if name == "" || !trailerAllowed(name) {
				continue
			}
			r := e.seldom()
			r.trailer = append(r.trailer, name)
			e.flags |= fTrailers
		}
	}
}

// trailerAllowed refuses fields that a recipient needs before the content or that frame
// the message, RFC 9110 section 6.5.1.
func trailerAllowed(name string) bool {
	switch http.FieldOf(name) {
	case http.FieldContentLength, http.FieldTransferEncoding, http.FieldTrailer, http.FieldHost,
		http.FieldConnection, http.FieldTE, http.FieldAuthorization, http.FieldCacheControl,
		http.FieldContentEncoding, http.FieldContentRange, http.FieldContentType, http.FieldExpect,
		http.FieldKeepAlive, http.FieldPragma, http.FieldProxyAuthenticate, http.FieldProxyAuthorization,
		http.FieldProxyConnection, http.FieldRange, http.FieldSetCookie, http.FieldWWWAuthenticate:
		return false
	}
	return http.IsToken(name)
}

// finalTrailer returns the trailer fields at the end of the answer, nil if there are none.
func (e *stdExchange) finalTrailer() *http.Header {
	if e.flags&fTrailers == 0 && !e.latePrefix() {
		return nil
	}
	h := http.AcquireHeader()
	if e.rare != nil {
		for _, name := range e.rare.trailer {
			addValues(h, http.FieldOf(name), name, e.header[name])
		}
	}
	for _, name := range sortedNames(nil, e.header) {
		if short, ok := strings.CutPrefix(name, nethttp.TrailerPrefix); ok && trailerAllowed(short) {
			addValues(h, http.FieldOf(short), short, e.header[name])
		}
	}
	if h.Len() == 0 {
		http.ReleaseHeader(h)
		return nil
	}
	return h
}

// latePrefix reports whether trailers have been set by their prefix after the head was sent.
func (e *stdExchange) latePrefix() bool {
	for name := range e.header {
		if strings.HasPrefix(name, nethttp.TrailerPrefix) {
			return true
		}
	}
	return false
}

// interimHead returns an answer with a status below 200.
func (e *stdExchange) interimHead(status int) *http.Response {
	r := http.NewResponse(status)
	if status == 100 {
		e.flags &^= fExpects
	}
	for _, name := range sortedNames(nil, e.header) {
		switch f := http.FieldOf(name); f {
		case http.FieldContentLength, http.FieldTransferEncoding:
		default:
			addValues(&r.Header, f, name, e.header[name])
		}
	}
	return r
}

// takeHead returns the head to be sent, with the content type that its first content
// suggests.
func (e *stdExchange) takeHead(content []byte) *http.Response {
	r := e.msg
	e.msg = nil
	e.flags |= fSentHead
	if e.flags&(fOwnType|fNoBody) == 0 && len(content) > 0 {
		r.Header.AddField(http.FieldContentType, nethttp.DetectContentType(content))
	}
	return r
}
