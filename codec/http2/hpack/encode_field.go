package hpack

import (
	"bytes"
	"encoding/binary"

	"millrace.dev/buffer/text"
	"millrace.dev/codec/http"
)

// Append appends a field, a pseudo-field too. Upper-case letters of the name become
// lower-case ones; otherwise name and value are not checked, nor kept.
//
// A field that no table has enters the dynamic table, unless
//
//   - it is secret: Authorization, Proxy-Authorization, Set-Cookie, and a Cookie of less than
//     20 bytes, which could be guessed as a whole. These are sent as never indexed;
//   - its value is hardly ever sent twice: :path, Content-Length, Content-Range, Range, ETag,
//     Location, Age, and all dates but Date, which is the same in all answers of a second;
//   - it would take more than three quarters of the table.
//
// AppendAs is for those who know better.
func (e *Encoder) Append(dst, name, value []byte) []byte {
	var lower [64]byte
	if hasUpper(name) {
		name = text.AppendLower(lower[:0], name)
	}
	static := staticName(name)
	return e.append(dst, policyOf(static, value), static, name, value)
}

// AppendKnown is Append for a well-known name, not FieldOther, which then needs no look-up.
func (e *Encoder) AppendKnown(dst []byte, f http.Field, value []byte) []byte {
	known := &knownNames[f]
	return e.append(dst, policyOf(known.static, value), known.static, known.name, value)
}

// AppendPseudo is Append for one of the pseudo-fields that have a name here.
func (e *Encoder) AppendPseudo(dst []byte, p Pseudo, value []byte) []byte {
	known := &knownPseudos[p]
	return e.append(dst, policyOf(known.static, value), known.static, known.name, value)
}

// AppendStatus appends :status. The code has three digits.
func (e *Encoder) AppendStatus(dst []byte, code int) []byte {
	digits := [3]byte{byte('0' + code/100%10), byte('0' + code/10%10), byte('0' + code%10)}
	return e.AppendPseudo(dst, Status, digits[:])
}

// AppendAs is Append with the caller's policy: a client that asks for few paths again and
// again does well to index them, and a proxy passes on as Never what it has got as
// sensitive.
func (e *Encoder) AppendAs(dst []byte, how Indexing, name, value []byte) []byte {
	var lower [64]byte
	if hasUpper(name) {
		name = text.AppendLower(lower[:0], name)
	}
	return e.append(dst, how, staticName(name), name, value)
}

// append writes a field; static is the first index of its name in the static table, or 0.
func (e *Encoder) append(dst []byte, how Indexing, static uint8, name, value []byte) []byte {
	if !e.settled {
		dst = e.settle(dst)
	}
	nameIndex := uint32(static)
	if static != 0 {
		if i := staticPair(static, value); i != 0 && how != Never {
			return append(dst, 0x80|i)
		}
		if how != Incremental {
			return appendLiteral(dst, how, nameIndex, name, value)
		}
	}
	k := keyOf(static, name)
	newest, named := e.index.name(&e.table, &k, name)
	if named && how == Incremental {
		if i, ok := e.find(newest, &k, name, value); ok {
			return appendInteger(dst, 0x80, 0x7f, staticCount+1+i)
		}
	}
	switch {
	case static == 0 && named:
		nameIndex = staticCount + 1 + newest
	case how == Without:
		how = Incremental // for the sake of its name
	}
	if how == Incremental && len(name)+len(value)+entryOverhead > int(e.table.max-e.table.max/4) {
		how = Without
	}
	dst = appendLiteral(dst, how, nameIndex, name, value)
	if how == Incremental {
		k.addValue(value)
		e.table.add(name, value, traits{})
		e.index.add(&e.table, &k)
	}
	return dst
}

// find returns the index of a field in the dynamic table, where newest is the index of the
// newest one of that name. Mostly it is that one, and no hash of the value is needed.
func (e *Encoder) find(newest uint32, k *key, name, value []byte) (uint32, bool) {
	if bytes.Equal(e.table.value(e.table.at(newest)), value) {
		return newest, true
	}
	k.addValue(value)
	return e.index.pair(&e.table, k, name, value)
}

// appendLiteral appends a field with its value and, unless its index is given, its name, RFC
// 7541 section 6.2.
func appendLiteral(dst []byte, how Indexing, nameIndex uint32, name, value []byte) []byte {
	switch how {
	case Incremental:
		dst = appendInteger(dst, 0x40, 0x3f, nameIndex)
	case Without:
		dst = appendInteger(dst, 0x00, 0x0f, nameIndex)
	default:
		dst = appendInteger(dst, 0x10, 0x0f, nameIndex)
	}
	if nameIndex == 0 {
		dst = appendText(dst, name)
	}
	return appendText(dst, value)
}

// hasUpper reports whether there may be an upper-case letter: a byte of 0x40 to 0x5f, or
// one beyond ASCII, as no usual name has it.
func hasUpper(name []byte) bool {
	upper := uint64(0)
	for ; len(name) >= 8; name = name[8:] {
		word := binary.LittleEndian.Uint64(name)
		upper |= word &^ (word << 1)
	}
	for _, c := range name {
		upper |= uint64(c &^ (c << 1))
	}
	return upper&0x4040404040404040 != 0
}

// knownPseudos is to pseudo-fields what knownNames is to others.
var knownPseudos = buildKnownPseudos()

func buildKnownPseudos() (names [len(pseudoNames)]knownName) {
	for p := Authority; p < UnknownPseudo; p++ {
		name := []byte(p.String())
		names[p] = knownName{name, staticName(name)}
	}
	return names
}
