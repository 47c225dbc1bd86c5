package hpack

import (
	"testing"

	peer "golang.org/x/net/http2/hpack"
)

// Every symbol, in every place of a byte.
func TestHuffmanSymbols(t *testing.T) {
	t.Parallel()
	for symbol := range 256 {
		for before := range 8 {
			s := make([]byte, before, before+2)
			for i := range s {
				s[i] = 'a' // 5 bits
			}
			s = append(s, byte(symbol), '0')
			encoded := appendHuffman(nil, s)
			if want := peer.AppendHuffmanString(nil, string(s)); string(encoded) != string(want) {
				t.Fatalf("%q: got %x, want %x", s, encoded, want)
			}
			if len(encoded) != huffmanLen(s) {
				t.Fatalf("%q: length %d, want %d", s, huffmanLen(s), len(encoded))
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
	f.Fuzz(func(t *testing.T, s []byte) {
		encoded := appendHuffman(nil, s)
		if want := peer.AppendHuffmanString(nil, string(s)); string(encoded) != string(want) {
			t.Fatalf("%q: got %x, want %x", s, encoded, want)
		}
		if got, err := appendDecoded(nil, encoded); err != nil || string(got) != string(s) {
			t.Fatalf("%x: got %q, %v, want %q", encoded, got, err, s)
		}
	})
}
