package hpack

import (
	"bytes"
	"testing"

	peer "golang.org/x/net/http2/hpack"
)

// encodeShorter returns s encoded, nil if that isn't shorter.
func encodeShorter(s []byte) []byte {
	dst := make([]byte, len(s)+wordBytes)
	n, shorter := encodeHuffman(dst, s)
	if !shorter {
		return nil
	}
	return dst[:n]
}

// Every symbol, in every place of a byte, with enough of short ones around.
func TestHuffmanSymbols(t *testing.T) {
	t.Parallel()
	for symbol := range 256 {
		for before := range 8 {
			s := bytes.Repeat([]byte("a"), before+16) // 5 bits each
			s[before] = byte(symbol)
			encoded := encodeShorter(s)
			if want := peer.AppendHuffmanString(nil, string(s)); string(encoded) != string(want) {
				t.Fatalf("%q: got %x, want %x", s, encoded, want)
			}
			if got, err := appendDecoded(nil, encoded); err != nil || string(got) != string(s) {
				t.Fatalf("%x: got %q, %v, want %q", encoded, got, err, s)
			}
		}
	}
}

// Whatever the bytes are, decoding agrees with the peer.
func FuzzHuffmanDecode(f *testing.F) {
	f.Add([]byte("\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff"))
	f.Add([]byte("\xff\xff\xff\xff"))
	f.Add([]byte("\x07"))
	f.Fuzz(func(t *testing.T, p []byte) {
		got, err := appendDecoded([]byte("before"), p)
		want, wantErr := peer.HuffmanDecodeToString(p)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("%x: %v, peer %v", p, err, wantErr)
		}
		if err == nil && string(got) != "before"+want {
			t.Fatalf("%x: got %q, want %q", p, got, want)
		}
	})
}

func FuzzHuffmanEncode(f *testing.F) {
	f.Add([]byte("www.example.com"))
	f.Add([]byte("\x00aaaaaaaaaa\xff"))
	f.Add(bytes.Repeat([]byte("abc "), 60))
	f.Fuzz(func(t *testing.T, s []byte) {
		want := peer.AppendHuffmanString(nil, string(s))
		encoded := encodeShorter(s)
		if shorter := len(want) < len(s); shorter != (encoded != nil) || shorter && string(encoded) != string(want) {
			t.Fatalf("%q: got %x, want %x", s, encoded, want)
		}
		if got, err := appendDecoded(nil, want); err != nil || string(got) != string(s) {
			t.Fatalf("%x: got %q, %v, want %q", want, got, err, s)
		}
		block := appendText([]byte{0x10, 1, 'n'}, s)
		var got fieldList
		var d Decoder
		d.SetLimits(Limits{MaxList: -1})
		if err := d.Decode(block, true, &got); err != nil || len(got) != 1 || got[0] != "n: "+string(s) {
			t.Fatalf("%x: got %q, %v, want %q", block, got, err, s)
		}
	})
}
