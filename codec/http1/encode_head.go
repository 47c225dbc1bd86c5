package http1

import (
	"strconv"

	"millrace.dev/buffer/text"
	"millrace.dev/codec/http"
	"millrace.dev/codec/internal/octet"
)

// The lines that an encoder adds by itself, at their longest.
const (
	maxLengthLine       = len("Content-Length: \r\n") + 19
	chunkedLine         = "Transfer-Encoding: chunked\r\n"
	closeLine           = "Connection: close\r\n"
	keepAliveLine       = "Connection: keep-alive\r\n"
	upgradeLine         = "Connection: upgrade\r\n"
	maxAddedLines       = maxLengthLine + len(chunkedLine) + len(keepAliveLine) + len(upgradeLine) + http.DateLineLen + 2
	undeclared    int64 = -1
)

// headPlan is what has been decided about a head before it is written.
type headPlan struct {
	length    int64 // for a Content-Length line, or undeclared
	chunked   bool
	close     bool // Connection: close
	keepAlive bool // Connection: keep-alive, for HTTP/1.0
}

// managed reports whether the Header has fields that the encoder writes itself, so that
// its lines cannot be copied as they are.
func managed(h *http.Header) bool {
	return h.HasField(http.FieldConnection) || h.HasField(http.FieldContentLength) ||
		h.HasField(http.FieldTransferEncoding) || h.HasField(http.FieldUpgrade)
}

// asksClose reports whether the Header itself says that the connection will be closed.
func asksClose(h *http.Header) bool {
	return h.HasField(http.FieldConnection) && h.HasToken("Connection", "close")
}

// declaredIn returns the length that a Header declares, undeclared if it doesn't, and
// refuses framing fields that no message should carry (RFC 9112 section 6).
func declaredIn(h *http.Header) (int64, error) {
	length, encoding := h.HasField(http.FieldContentLength), h.HasField(http.FieldTransferEncoding)
	switch {
	case !length && !encoding:
		return undeclared, nil
	case length && encoding, h.Repeated(http.FieldContentLength), h.Repeated(http.FieldTransferEncoding):
		return 0, ErrFraming
	case encoding:
		if !text.EqualFold(h.ValueOf(http.FieldTransferEncoding), "chunked") {
			return 0, ErrFraming
		}
		return undeclared, nil
	}
	n := http.ParseContentLength(h.ValueOf(http.FieldContentLength))
	if n < 0 {
		return 0, ErrFraming
	}
	return n, nil
}

// appendHeadFields writes the Header's fields, those that the plan adds, and the empty line.
func appendHeadFields(p []byte, h *http.Header, plan headPlan) []byte {
	lines, whole := h.Lines()
	if whole && !managed(h) {
		p = append(p, lines...)
		switch {
		case plan.close:
			p = append(p, closeLine...)
		case plan.keepAlive:
			p = append(p, keepAliveLine...)
		}
	} else {
		p = appendManaged(p, h, plan)
	}
	if plan.length >= 0 {
		p = append(p, "Content-Length: "...)
		p = appendLength(p, plan.length)
		p = append(p, "\r\n"...)
	} else if plan.chunked {
		p = append(p, chunkedLine...)
	}
	return p
}

func appendLength(p []byte, n int64) []byte {
	switch { // most answers are small, and this is four times as fast
	case n < 10:
		return append(p, byte('0'+n))
	case n < 100:
		return append(p, byte('0'+n/10), byte('0'+n%10))
	}
	return strconv.AppendInt(p, n, 10)
}

// appendManaged writes the fields one by one without those that frame the message, and
// one Connection line with the options that are true: those of the Header, close and
// keep-alive as the plan has it, and upgrade beside an Upgrade field (RFC 9110 sections
// 7.6.1 and 7.8).
func appendManaged(p []byte, h *http.Header, plan headPlan) []byte {
	upgrade := h.HasField(http.FieldUpgrade)
	options := 0
	option := func(token []byte) {
		if options == 0 {
			p = append(p, "Connection: "...)
		} else {
			p = append(p, ", "...)
		}
		p = append(p, token...)
		options++
	}
	for i := range h.Len() {
		switch name, value := h.At(i); h.FieldAt(i) {
		case http.FieldContentLength, http.FieldTransferEncoding, http.FieldConnection:
		default:
			p = appendField(p, name, value)
		}
	}
	for list := range h.Values("Connection") {
		for e, rest, ok := octet.NextElement(list); ok; e, rest, ok = octet.NextElement(rest) {
			switch {
			case len(e) == 0, text.EqualFold(e, "close"), text.EqualFold(e, "keep-alive"):
			case text.EqualFold(e, "upgrade"):
				if upgrade {
					option(e)
					upgrade = false
				}
			default:
				option(e)
			}
		}
	}
	if upgrade {
		option([]byte("upgrade"))
	}
	if plan.close {
		option([]byte("close"))
	} else if plan.keepAlive {
		option([]byte("keep-alive"))
	}
	if options > 0 {
		p = append(p, "\r\n"...)
	}
	return p
}

func appendField(p, name, value []byte) []byte {
	p = append(p, name...)
	p = append(p, ": "...)
	p = append(p, value...)
	return append(p, "\r\n"...)
}

// appendFields writes all fields of a Header whose Err is nil.
func appendFields(p []byte, h *http.Header) []byte {
	if lines, ok := h.Lines(); ok {
		return append(p, lines...)
	}
	for name, value := range h.All() {
		p = appendField(p, name, value)
	}
	return p
}

// fieldsLen is the most bytes that the Header's fields need. Joining several Connection
// lines into one makes nothing longer.
func fieldsLen(h *http.Header) int {
	if lines, ok := h.Lines(); ok {
		return len(lines) + h.Len() // a line may have come without the space behind its colon
	}
	n := 0
	for name, value := range h.All() {
		n += len(name) + len(value) + 4
	}
	return n
}
