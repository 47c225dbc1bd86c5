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
		static      uint8 // index of the entry with that value, or 0
	}{
		{":method", "GET", Field{Pseudo: Method, Valid: true}, staticMethod},
		{":method", "PUT", Field{Pseudo: Method, Valid: true}, 0},
		{":authority", "", Field{Pseudo: Authority, Valid: true}, 1},
		{":status", "404", Field{Pseudo: Status, Valid: true}, 13},
		{":status", "999", Field{Pseudo: Status, Valid: true}, 0},
		{":path", "/ ", Field{Pseudo: Path}, 0},
		{":scheme", "ftp", Field{Pseudo: Scheme, Valid: true}, 0},
		{":protocol", "websocket", Field{Pseudo: Protocol, Valid: true}, 0},
		{":other", "x", Field{Pseudo: UnknownPseudo}, 0},
		{":", "x", Field{Pseudo: UnknownPseudo}, 0},
		{"content-type", "text/plain", Field{Known: http.FieldContentType, Valid: true}, 0},
		{"accept-encoding", "gzip, deflate", Field{Known: http.FieldAcceptEncoding, Valid: true}, 16},
		{"max-forwards", "1", Field{Valid: true}, 0},
		{"te", "trailers", Field{Known: http.FieldTE, Valid: true}, 0},
		{"x-other", "a\tb \x80\xff", Field{Valid: true}, 0},
		{"x-other", "", Field{Valid: true}, 0},
		{"X-Other", "1", Field{}, 0},
		{"Content-Type", "text/plain", Field{Known: http.FieldContentType}, 0},
		{"", "1", Field{}, 0},
		{"a b", "1", Field{}, 0},
		{"a:", "1", Field{}, 0},
		{"a\x00", "1", Field{}, 0},
		{"a\xff", "1", Field{}, 0},
		{"x", " 1", Field{}, 0},
		{"x", "1\t", Field{}, 0},
		{"x", " ", Field{}, 0},
		{"x", "a\x00b", Field{}, 0},
		{"x", "a\rb", Field{}, 0},
		{"x", "a\nb", Field{}, 0},
		{"x", "a\x7fb", Field{}, 0},
		{"content-type", "a\nb", Field{Known: http.FieldContentType}, 0},
	} {
		literal := append(append([]byte{0x00, byte(len(c.name))}, c.name...), append([]byte{byte(len(c.value))}, c.value...)...)
		indexed := append([]byte{0x40}, literal[1:]...)
		sensitive := append([]byte{0x10}, literal[1:]...)
		block := append(append(append(literal, sensitive...), indexed...), 0xbe, 0xbe)
		if c.static != 0 {
			block = append(block, 0x80|c.static)
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
			want.Sensitive = i == 1 || i == last
			if i == last-1 {
				want.Valid = nameTraits([]byte(c.name)).validName
			}
			if f.Known != want.Known || f.Pseudo != want.Pseudo || f.Sensitive != want.Sensitive || f.Valid != want.Valid {
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
