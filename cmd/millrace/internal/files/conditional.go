package files

import (
	"bytes"
	"time"

	"millrace.dev/codec/http"
)

// precondition is what the conditional fields of a request come to.
type precondition uint8

const (
	proceed precondition = iota
	notModified
	failed
)

// evaluate looks at the conditional fields of a GET or HEAD in the order that RFC 9110
// section 13.2.2 prescribes.
func evaluate(h *http.Header, v validators) precondition {
	if h.HasField(http.FieldIfMatch) {
		if !matches(h, "If-Match", v, strongMatch) {
			return failed
		}
	} else if t, ok := dateOf(h, http.FieldIfUnmodifiedSince); ok && v.modified.After(t) {
		return failed
	}
	if h.HasField(http.FieldIfNoneMatch) {
		if matches(h, "If-None-Match", v, weakMatch) {
			return notModified
		}
	} else if t, ok := dateOf(h, http.FieldIfModifiedSince); ok && !v.modified.After(t) {
		return notModified
	}
	return proceed
}

// rangeWanted evaluates If-Range, RFC 9110 section 13.1.5: the ranges are for the state that
// it names, so it has to match without doubt. Without the field they are wanted.
func rangeWanted(h *http.Header, v validators) bool {
	value := h.ValueOf(http.FieldIfRange)
	if value == nil {
		return true
	}
	if h.Repeated(http.FieldIfRange) {
		return false
	}
	if tag, rest, ok := cutTag(value); ok && len(rest) == 0 {
		return strongMatch(tag, v)
	}
	t, ok := http.ParseDate(value, time.Now())
	return ok && v.strong && t.Equal(v.modified)
}

// dateOf returns a field's date. A field that is repeated or no date has to be ignored, RFC
// 9110 sections 13.1.3 and 13.1.4.
func dateOf(h *http.Header, f http.Field) (t time.Time, ok bool) {
	value := h.ValueOf(f)
	if value == nil || h.Repeated(f) {
		return t, false
	}
	return http.ParseDate(value, time.Now())
}

// matches reports whether a field lists the file's entity tag, or is "*".
func matches(h *http.Header, name string, v validators, match func([]byte, validators) bool) bool {
	for value := range h.Values(name) {
		if string(value) == "*" {
			return true // there is a file, or nobody would have come this far
		}
		for len(value) > 0 {
			tag, rest, ok := cutTag(value)
			if !ok {
				break // nothing can be made of what follows
			}
			if match(tag, v) {
				return true
			}
			value = rest
		}
	}
	return false
}

// strongMatch and weakMatch compare entity tags, RFC 9110 section 8.8.3.2.
func strongMatch(tag []byte, v validators) bool { return v.strong && string(tag) == v.etag }

func weakMatch(tag []byte, v validators) bool {
	return bytes.Equal(opaque(tag), opaque([]byte(v.etag)))
}

func opaque(tag []byte) []byte { return bytes.TrimPrefix(tag, []byte("W/")) }

// cutTag cuts the first entity tag, RFC 9110 section 8.8.3, off a list, with what separates
// it from its neighbours.
func cutTag(list []byte) (tag, rest []byte, ok bool) {
	list = bytes.TrimLeft(list, " \t,")
	i := 0
	if bytes.HasPrefix(list, []byte("W/")) {
		i = 2
	}
	if i >= len(list) || list[i] != '"' {
		return nil, list, false
	}
	for j := i + 1; j < len(list); j++ {
		switch c := list[j]; {
		case c == '"':
			return list[:j+1], bytes.TrimLeft(list[j+1:], " \t,"), true
		case c <= ' ' || c == 0x7f:
			return nil, list, false
		}
	}
	return nil, list, false
}
