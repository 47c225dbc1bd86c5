package http

import (
	"iter"

	"millrace.dev/buffer/text"
	"millrace.dev/codec/internal/octet"
)

// matches reports whether a field has that name; f is the name's number.
func (h *Header) matches(s *span, f Field, name string) bool {
	if s.field != f {
		return false
	}
	return f != FieldOther || int(s.nameLen) == len(name) && text.EqualFold(h.nameOf(s), name)
}

// index returns the place of the first field of that name from the i-th on, or -1.
func (h *Header) index(f Field, name string, i int) int {
	if h.present>>f&1 == 0 {
		return -1
	}
	for ; i < len(h.fields); i++ {
		if h.matches(&h.fields[i], f, name) {
			return i
		}
	}
	return -1
}

// Value returns the value of the first field of that name as a view, nil if there is
// none. Names match in any case.
func (h *Header) Value(name string) []byte {
	if i := h.index(fieldOf(name), name, 0); i >= 0 {
		return h.valueOf(&h.fields[i])
	}
	return nil
}

// ValueOf is Value for a well-known name.
func (h *Header) ValueOf(f Field) []byte {
	if h.present>>f&1 != 0 && f != FieldOther {
		for i := range h.fields {
			if h.fields[i].field == f {
				return h.valueOf(&h.fields[i])
			}
		}
	}
	return nil
}

// Get returns a copy of the value of the first field of that name, "" if there is none.
func (h *Header) Get(name string) string { return string(h.Value(name)) }

// Has reports whether there is a field of that name.
func (h *Header) Has(name string) bool { return h.index(fieldOf(name), name, 0) >= 0 }

// HasField is Has for a well-known name; it looks at one bit.
func (h *Header) HasField(f Field) bool { return f != FieldOther && h.present>>f&1 != 0 }

// HasAny reports whether there is a field with one of the names; it looks at one word.
func (h *Header) HasAny(names FieldSet) bool { return h.present&uint64(names) != 0 }

// Repeated reports whether there is more than one field of that well-known name.
func (h *Header) Repeated(f Field) bool { return f != FieldOther && h.repeated>>f&1 != 0 }

// Values yields the values of all fields of that name, in order, as views.
func (h *Header) Values(name string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		f := fieldOf(name)
		for i := h.index(f, name, 0); i >= 0; i = h.index(f, name, i+1) {
			if !yield(h.valueOf(&h.fields[i])) {
				return
			}
		}
	}
}

// All yields every field in order, as views.
func (h *Header) All() iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for i := range h.fields {
			if !yield(h.At(i)) {
				return
			}
		}
	}
}

// HasToken reports whether the comma-separated lists of all fields of that name have
// the token, in any case (RFC 9110 section 5.6.1: several lines are one list).
func (h *Header) HasToken(name, token string) bool {
	f := fieldOf(name)
	for i := h.index(f, name, 0); i >= 0; i = h.index(f, name, i+1) {
		list := h.valueOf(&h.fields[i])
		if len(list) == len(token) && text.EqualFold(list, token) {
			return true
		}
		for e, rest, ok := octet.NextElement(list); ok; e, rest, ok = octet.NextElement(rest) {
			if text.EqualFold(e, token) {
				return true
			}
		}
	}
	return false
}
