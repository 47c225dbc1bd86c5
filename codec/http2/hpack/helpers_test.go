package hpack

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"
)

// fieldList collects fields as text, "name: value".
type fieldList []string

func (l *fieldList) Field(f *Field) {
	*l = append(*l, string(f.Name)+": "+string(f.Value))
}

// decodeAll decodes a whole block.
func decodeAll(t *testing.T, d *Decoder, block []byte) fieldList {
	t.Helper()
	var got fieldList
	if err := d.Decode(block, true, &got); err != nil {
		t.Fatalf("Decode(%x): %v", block, err)
	}
	return got
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	p, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func sameList(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
}

// contents lists a dynamic table, newest first.
func (t *table) contents() (list []string) {
	for i := range t.count {
		e := t.at(i)
		list = append(list, string(t.name(e))+": "+string(t.value(e)))
	}
	return list
}

// appendFields encodes fields given as "name: value".
func appendFields(e *Encoder, dst []byte, fields []string) []byte {
	for _, f := range fields {
		name, value := split(f)
		dst = e.Append(dst, []byte(name), []byte(value))
	}
	return dst
}

// split splits "name: value"; a name may begin with a colon.
func split(field string) (name, value string) {
	i := strings.Index(field[1:], ": ") + 1
	return field[:i], field[i+2:]
}
