package http

import (
	"errors"
	"math"
	"slices"

	"millrace.dev/codec/internal/octet"
)

// ErrInvalidField says that a field was added whose name is not a token or whose value
// holds a byte that RFC 9110 section 5.5 forbids (a control other than HTAB). An encoder
// refuses a message with such a field: nothing is ever injected.
var ErrInvalidField = errors.New("http: invalid field name or value")

// Header is an ordered list of fields, RFC 9110 section 5. The zero Header is empty and
// ready.
//
// Names and values live one after another in one arena of bytes, which is recycled with
// the message that owns the Header; what is found there is handed out as views. A view
// stays valid, whatever is added later, until the message is closed or the Header is
// Reset; it must not be written to.
//
// A Header is not safe for use by several goroutines at once.
type Header struct {
	arena    []byte
	fields   []span
	present  uint64 // a bit for each known name that some field has
	repeated uint64 // a bit for each known name that has had more than one
	// As long as it holds nothing but whole field lines, in order and each ended by
	// CRLF, arena[base:] is what HTTP/1 has to write, and one copy writes it all.
	base      uint32
	scattered bool
	invalid   bool
}

// span says where in the arena a field is, counted from the base. Offsets rather than
// slices, because the arena moves when it grows, and because 16 bytes an entry keep the
// list small; and from the base, so that equal lines have equal spans.
type span struct {
	name, value, valueLen uint32
	nameLen               uint16
	field                 Field
	bad                   bool
}

// maxArena is the most bytes that a Header holds: offsets must fit a span.
const maxArena = math.MaxInt32

// Len returns the number of fields.
func (h *Header) Len() int { return len(h.fields) }

// At returns the i-th field, counted from 0, as views.
func (h *Header) At(i int) (name, value []byte) {
	s := &h.fields[i]
	return h.nameOf(s), h.valueOf(s)
}

// FieldAt returns the number of the i-th field's name, FieldOther if it is not a
// well-known one.
func (h *Header) FieldAt(i int) Field { return h.fields[i].field }

func (h *Header) nameOf(s *span) []byte {
	at := h.base + s.name
	end := at + uint32(s.nameLen)
	return h.arena[at:end:end]
}

func (h *Header) valueOf(s *span) []byte {
	at := h.base + s.value
	end := at + s.valueLen
	return h.arena[at:end:end]
}

// Add appends a field. Optional white space around the value is dropped. The bytes are
// copied. An invalid name or value is kept apart and makes Err answer ErrInvalidField.
func (h *Header) Add(name, value string) { add(h, fieldOf(name), name, value) }

// AddBytes is Add for names and values in slices.
func (h *Header) AddBytes(name, value []byte) { add(h, fieldOf(name), name, value) }

// AddField is Add for a well-known name, which then needs no recognition.
func (h *Header) AddField(f Field, value string) { add(h, f, fieldNames[f], value) }

func add[N, V []byte | string](h *Header, f Field, name N, value V) {
	if n := len(value); n > 0 && (value[0] <= ' ' || value[n-1] <= ' ') {
		value = octet.Trim(value)
	}
	at := len(h.arena)
	line := h.room(len(name) + len(value) + len(": \r\n"))
	n := copy(line, name)
	line[n], line[n+1] = ':', ' '
	end := n + 2 + copy(line[n+2:], value)
	line[end], line[end+1] = '\r', '\n'
	h.AddSpan(f, at, min(n, math.MaxUint16), at+n+2, end-n-2)
	if !(f != FieldOther || octet.IsToken(name)) || n > math.MaxUint16 || octet.ValueEnd(line[n+2:end], 0) != end-n-2 {
		h.fields[len(h.fields)-1].bad = true
		h.invalid = true
	}
}

// room makes the arena n bytes longer and returns them.
func (h *Header) room(n int) []byte {
	at := len(h.arena)
	if n > maxArena-at {
		panic("http: a header of more than 2 GiB")
	}
	if cap(h.arena)-at < n {
		h.arena = slices.Grow(h.arena, max(n, firstArena-at))
	}
	h.arena = h.arena[:at+n]
	return h.arena[at:]
}

// A Header that gets its first field has room for those of an ordinary message.
const (
	firstArena  = 512
	firstFields = 16
)

// Set replaces the value of the first field of that name and drops the others of that
// name; without one it adds the field.
func (h *Header) Set(name, value string) {
	f := fieldOf(name)
	first := h.index(f, name, 0)
	if first < 0 {
		add(h, f, name, value)
		return
	}
	stale := h.fields[first].bad
	if f == FieldOther || h.repeated>>f&1 != 0 {
		n := len(h.fields)
		h.remove(f, name, first+1)
		stale = stale || n != len(h.fields)
	}
	// Add at the end, then move the entry to the place of the old one.
	repeated := h.repeated
	add(h, f, name, value)
	h.repeated = repeated
	last := len(h.fields) - 1
	h.fields[first] = h.fields[last]
	h.fields = h.fields[:last]
	h.scattered = true
	if stale {
		h.recount()
	}
}

// Del drops all fields of that name.
func (h *Header) Del(name string) {
	f := fieldOf(name)
	if i := h.index(f, name, 0); i >= 0 {
		h.remove(f, name, i)
		h.recount()
	}
}

// remove drops the fields of that name from the i-th on.
func (h *Header) remove(f Field, name string, i int) {
	kept := h.fields[:i]
	for ; i < len(h.fields); i++ {
		if !h.matches(&h.fields[i], f, name) {
			kept = append(kept, h.fields[i])
		}
	}
	if len(kept) != len(h.fields) {
		h.scattered = true
	}
	h.fields = kept
}

// recount brings the sets of known names and the invalid mark up to date.
func (h *Header) recount() {
	h.present, h.repeated, h.invalid = 0, 0, false
	for i := range h.fields {
		bit := uint64(1) << h.fields[i].field
		h.repeated |= h.present & bit
		h.present |= bit
		h.invalid = h.invalid || h.fields[i].bad
	}
}

// Reset drops everything but keeps the memory. Views handed out become invalid.
func (h *Header) Reset() {
	h.arena = h.arena[:0]
	h.fields = h.fields[:0]
	h.present, h.repeated = 0, 0
	h.base, h.scattered, h.invalid = 0, false, false
}

// Err returns ErrInvalidField when a field that may not be sent has been added.
func (h *Header) Err() error {
	if h.invalid {
		return ErrInvalidField
	}
	return nil
}

// CopyFrom appends the fields of another Header, in order.
func (h *Header) CopyFrom(other *Header) {
	lines, ok := other.Lines()
	if !ok {
		for i := range other.fields {
			s := &other.fields[i]
			add(h, s.field, other.nameOf(s), other.valueOf(s))
		}
		return
	}
	shift := uint32(len(h.arena)) - h.base
	copy(h.room(len(lines)), lines)
	n := len(h.fields)
	h.fields = append(h.fields, other.fields...)
	for i := n; i < len(h.fields); i++ {
		h.fields[i].name += shift
		h.fields[i].value += shift
	}
	h.repeated |= other.repeated | h.present&other.present
	h.present |= other.present
}
