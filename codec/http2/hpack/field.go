package hpack

import (
	"millrace.dev/codec/http"
	"millrace.dev/codec/internal/octet"
)

// Field is a decoded field. Name and Value are views that must not be changed and are valid
// until Sink.Field returns, and so is the Field itself.
type Field struct {
	Name, Value []byte
	// Known is the number of a well-known name; FieldOther for others and pseudo-fields.
	Known http.Field
	// Pseudo tells pseudo-fields apart.
	Pseudo Pseudo
	// Sensitive says that the field was sent as never indexed: whoever forwards it has to
	// send it like that, too (RFC 7541 section 6.2.3).
	Sensitive bool
	// Valid says that the name is a token without upper-case letters, or a pseudo-field
	// that is known here, and that the value has no control but HTAB and no white space at
	// its ends (RFC 9113 section 8.2.1, RFC 9110 section 5.5). A message with any other
	// field is malformed. What a name or value means is not looked at.
	Valid bool
}

// Size is what the field counts in a dynamic table and in a header list: RFC 7541 section
// 4.1 and RFC 9113 section 6.5.2.
func (f *Field) Size() int { return len(f.Name) + len(f.Value) + entryOverhead }

// Sink takes decoded fields, in the order of the block.
type Sink interface {
	// Field takes one field, which is valid until Field returns.
	Field(f *Field)
}

// Pseudo is the number of a pseudo-field, RFC 9113 section 8.3.
type Pseudo uint8

// The pseudo-fields. A name that begins with a colon and is not among them is an
// UnknownPseudo.
const (
	NotPseudo Pseudo = iota
	Authority
	Method
	Path
	Scheme
	Status
	Protocol // RFC 8441 section 4
	UnknownPseudo
)

var pseudoNames = [...]string{
	Authority: ":authority",
	Method:    ":method",
	Path:      ":path",
	Scheme:    ":scheme",
	Status:    ":status",
	Protocol:  ":protocol",

	UnknownPseudo: "",
}

// String returns the name with its colon, "" for NotPseudo and UnknownPseudo.
func (p Pseudo) String() string { return pseudoNames[p] }

func pseudoOf(name []byte) Pseudo {
	switch string(name) {
	case ":authority":
		return Authority
	case ":method":
		return Method
	case ":path":
		return Path
	case ":scheme":
		return Scheme
	case ":status":
		return Status
	case ":protocol":
		return Protocol
	}
	return UnknownPseudo
}

// traits is what is worth knowing of a field and doesn't change, so that an entry of a
// table keeps it.
type traits struct {
	known     http.Field
	pseudo    Pseudo
	validName bool
	valid     bool // name and value
}

// nameTraits looks at a name that was sent literally.
func nameTraits(name []byte) (t traits) {
	if len(name) > 0 && name[0] == ':' {
		t.pseudo = pseudoOf(name)
		t.validName = t.pseudo != UnknownPseudo
		return t
	}
	t.known = http.FieldOfBytes(name)
	t.validName = isLowerToken(name)
	return t
}

func isLowerToken(name []byte) bool {
	for _, c := range name {
		if octet.Classes[c]&(octet.TokenByte|octet.UpperByte) != octet.TokenByte {
			return false
		}
	}
	return len(name) > 0
}

// isValue: RFC 9113 section 8.2.1 wants no white space at the ends, RFC 9110 section 5.5 no
// controls.
func isValue(value []byte) bool {
	n := len(value)
	if n == 0 {
		return true
	}
	if octet.IsBlank(value[0]) || octet.IsBlank(value[n-1]) {
		return false
	}
	return octet.ValueEnd(value, 0) == n
}
