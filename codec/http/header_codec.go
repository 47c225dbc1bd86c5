package http

import "slices"

// What follows is for codecs: a decoder copies a whole head into the arena once and
// then says where in it the fields are; an encoder asks for the lines back in one piece.

// Arena returns everything that the Header's arena holds, as a view.
func (h *Header) Arena() []byte { return h.arena }

// AppendArena copies p to the end of the arena, where spans then find it.
func (h *Header) AppendArena(p []byte) {
	if len(p) > maxArena-len(h.arena) {
		panic("http: a header of more than 2 GiB")
	}
	h.arena = append(h.arena, p...)
}

// TruncateArena drops what the arena holds from n on. No span may lie there.
func (h *Header) TruncateArena(n int) { h.arena = h.arena[:n] }

// SetLines says, before the first span is added, that from base on the arena will hold the
// lines of all fields, in order, each ended by CRLF, and nothing else. A decoder that
// validates them says so, and Lines can then give them back.
func (h *Header) SetLines(base int) { h.base, h.scattered = uint32(base), false }

// AddSpan appends a field whose valid name and value are in the arena, or will be by
// the time that the field is looked at: the offsets count from the arena's start. The
// name has at most 65,535 bytes, and f is its number.
func (h *Header) AddSpan(f Field, name, nameLen, value, valueLen int) {
	bit := uint64(1) << f
	h.repeated |= h.present & bit
	h.present |= bit
	// Stored piece by piece where it belongs: a copy of a struct that has just been put
	// together costs three times as much.
	n := len(h.fields)
	if n == cap(h.fields) {
		h.fields = slices.Grow(h.fields, max(1, firstFields-n))
	}
	h.fields = h.fields[:n+1]
	s := &h.fields[n]
	s.name, s.nameLen = uint32(name)-h.base, uint16(nameLen)
	s.value, s.valueLen = uint32(value)-h.base, uint32(valueLen)
	s.field, s.bad = f, false
}

// AddSpansOf adds the spans of another Header to an empty one: its lines are, or will be,
// the same as the other's, byte for byte.
func (h *Header) AddSpansOf(other *Header) {
	h.fields = append(h.fields, other.fields...)
	h.present, h.repeated = other.present, other.repeated
}

// Lines returns all fields as HTTP/1 writes them, one line each, when the arena holds
// them like that; ok is false when a field has been replaced, deleted or is invalid,
// and the fields have to be written one by one.
func (h *Header) Lines() (lines []byte, ok bool) {
	if h.scattered || h.invalid {
		return nil, false
	}
	return h.arena[h.base:], true
}
