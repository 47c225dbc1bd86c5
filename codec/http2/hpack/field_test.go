package hpack

import (
	"testing"

	"millrace.dev/codec/http"
)

// keeper keeps fields without their texts.
type keeper []Field

func (k *keeper) Field(f *Field) {
	kept := *f
	kept.Name, kept.Value = nil, nil
	*k = append(*k, kept)
}

// What is known of a field is the same however it was sent: as an entry of the static table,
// with an indexed name, literally, or as an entry of the dynamic table.
func TestWhatIsKnownOfAField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, value string
		want        Field
	}{
		{":method", "GET", Field{Pseudo: Method, Static: StaticGet, Valid: true}},
		{":method", "PUT", Field{Pseudo: Method, Valid: true}},
		{":authority", "", Field{Pseudo: Authority, Static: 1, Valid: true}},
		{":status", "404", Field{Pseudo: Status, Static: 13, Valid: true}},
		{":status", "999", Field{Pseudo: Status, Valid: true}},
		{":path", "/ ", Field{Pseudo: Path}},
		{":scheme", "ftp", Field{Pseudo: Scheme, Valid: true}},
		{":protocol", "websocket", Field{Pseudo: Protocol, Valid: true}},
		{":other", "x", Field{Pseudo: UnknownPseudo}},
		{":", "x", Field{Pseudo: UnknownPseudo}},
		{"content-type", "text/plain", Field{Known: http.FieldContentType, Valid: true}},
		{"accept-encoding", "gzip, deflate", Field{Known: http.FieldAcceptEncoding, Static: 16, Valid: true}},
		{"max-forwards", "1", Field{Valid: true}},
		{"te", "trailers", Field{Known: http.FieldTE, Valid: true}},
		{"x-other", "a\tb \x80\xff", Field{Valid: true}},
		{"x-other", "", Field{Valid: true}},
		{"X-Other", "1", Field{}},
		{"Content-Type", "text/plain", Field{Known: http.FieldContentType}},
		{"", "1", Field{}},
		{"a b", "1", Field{}},
		{"a:", "1", Field{}},
		{"a\x00", "1", Field{}},
		{"a\xff", "1", Field{}},
		{"x", " 1", Field{}},
		{"x", "1\t", Field{}},
		{"x", " ", Field{}},
		{"x", "a\x00b", Field{}},
		{"x", "a\rb", Field{}},
		{"x", "a\nb", Field{}},
		{"x", "a\x7fb", Field{}},
		{"content-type", "a\nb", Field{Known: http.FieldContentType}},
	} {
		literal := append(append([]byte{0x00, byte(len(c.name))}, c.name...), append([]byte{byte(len(c.value))}, c.value...)...)
		indexed := append([]byte{0x40}, literal[1:]...)
		sensitive := append([]byte{0x10}, literal[1:]...)
		block := append(append(append(literal, sensitive...), indexed...), 0xbe, 0xbe)
		if c.want.Static != 0 {
			block = append(block, 0x80|c.want.Static)
		}
		// Names of the dynamic table, with a good value and with this one.
		block = append(block, 0x0f, 62-15, 1, 'v', 0x1f, 62-15, byte(len(c.value)))
		block = append(block, c.value...)
		var d Decoder
		var got keeper
		if err := d.Decode(block, true, &got); err != nil {
			t.Fatal(err)
		}
		for i, f := range got {
			want := c.want
			last := len(got) - 1
			if c.want.Static == 0 || i != last-2 {
				want.Static = 0
			}
			want.Sensitive = i == 1 || i == last
			if i == last-1 {
				want.Valid = nameTraits([]byte(c.name)).validName
			}
			if f.Known != want.Known || f.Pseudo != want.Pseudo || f.Static != want.Static || f.Sensitive != want.Sensitive || f.Valid != want.Valid {
				t.Errorf("%q: %q: field %d is %+v, want %+v", c.name, c.value, i, f, want)
			}
		}
	}
}

func TestPseudoNames(t *testing.T) {
	t.Parallel()
	for p := Authority; p < UnknownPseudo; p++ {
		if pseudoOf([]byte(p.String())) != p {
			t.Errorf("%q is not found", p)
		}
	}
	if s := NotPseudo.String() + UnknownPseudo.String(); s != "" {
		t.Errorf("got %q", s)
	}
}

func TestFieldSize(t *testing.T) {
	t.Parallel()
	if f := (Field{Name: []byte("name"), Value: []byte("value")}); f.Size() != 41 {
		t.Errorf("got %d", f.Size())
	}
}
