package files

import (
	"bytes"
	"math"
	"strconv"
)

// span is a part of a file: length bytes from start on.
type span struct{ start, length int64 }

// contentRange returns the span as a Content-Range value, RFC 9110 section 14.4.
func (s span) contentRange(size int64) string {
	b := append(make([]byte, 0, 64), "bytes "...)
	b = strconv.AppendInt(b, s.start, 10)
	b = append(b, '-')
	b = strconv.AppendInt(b, s.start+s.length-1, 10)
	b = append(b, '/')
	return string(strconv.AppendInt(b, size, 10))
}

// rangeVerdict says what to do about a Range field.
type rangeVerdict uint8

const (
	rangeIgnored       rangeVerdict = iota // serve the whole file
	rangeGiven                             // serve the spans
	rangeUnsatisfiable                     // 416
)

// maxSpans bounds the ranges of one request. A request for more is answered with the whole
// file, as RFC 9110 section 14.2 advises against serving many small ranges.
const maxSpans = 16

// parseRanges reads a Range value for a file of the given size, RFC 9110 section 14.1.2.
//
// Another unit than bytes has to be ignored, and so is what breaks the grammar. Ranges that
// add up to more than the file are ignored too: they overlap, so their sender is confused or
// wants the server to work.
func parseRanges(value []byte, size int64) ([]span, rangeVerdict) {
	unit, set, ok := bytes.Cut(value, []byte{'='})
	if !ok || size == 0 || !bytes.EqualFold(unit, []byte("bytes")) {
		return nil, rangeIgnored
	}
	var spans []span
	var total int64
	any := false
	for element := range bytes.SplitSeq(set, []byte{','}) {
		element = bytes.Trim(element, " \t")
		if len(element) == 0 {
			continue // RFC 9110 section 5.6.1.2: recipients accept empty elements
		}
		s, ok := parseSpan(element, size)
		if !ok {
			return nil, rangeIgnored
		}
		any = true
		if s.length == 0 {
			continue // beyond the file's end; others may be inside
		}
		if len(spans) == maxSpans {
			return nil, rangeIgnored
		}
		spans = append(spans, s)
		total += s.length
	}
	switch {
	case !any:
		return nil, rangeIgnored
	case len(spans) == 0:
		return nil, rangeUnsatisfiable
	case total > size:
		return nil, rangeIgnored
	}
	return spans, rangeGiven
}

// parseSpan reads one of "first-", "first-last" and "-suffix". A span of no length is one
// that the file doesn't reach.
func parseSpan(element []byte, size int64) (s span, ok bool) {
	first, last, ok := bytes.Cut(element, []byte{'-'})
	if !ok {
		return s, false
	}
	if len(first) == 0 {
		n, ok := parsePosition(last)
		n = min(n, size)
		return span{size - n, n}, ok
	}
	from, ok := parsePosition(first)
	if !ok {
		return s, false
	}
	to := int64(math.MaxInt64 - 1)
	if len(last) > 0 {
		if to, ok = parsePosition(last); !ok || to < from {
			return s, false
		}
	}
	if from >= size {
		return s, true
	}
	return span{from, min(to, size-1) - from + 1}, true
}

// parsePosition reads digits and nothing else. A number too large to count is larger than
// any file, so its exact value doesn't matter.
func parsePosition(digits []byte) (n int64, ok bool) {
	if len(digits) == 0 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		if n > (math.MaxInt64-9)/10 {
			n = math.MaxInt64 - 1
			continue
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}
