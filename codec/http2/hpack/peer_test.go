package hpack

import (
	"bytes"
	"math/rand/v2"
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

// Several long codes in a row don't fit a word together.
func TestHuffmanLongSymbols(t *testing.T) {
	t.Parallel()
	for n := range 40 {
		s := append(bytes.Repeat([]byte("\n\x00\xff\\"), n)[:n], bytes.Repeat([]byte("a"), 8*n+8)...)
		encoded := encodeShorter(s)
		if want := peer.AppendHuffmanString(nil, string(s)); string(encoded) != string(want) {
			t.Fatalf("%q: got %x, want %x", s, encoded, want)
		}
		if got, err := appendDecoded(nil, encoded); err != nil || string(got) != string(s) {
			t.Fatalf("%x: got %q, %v, want %q", encoded, got, err, s)
		}
	}
}

// Symbols are written by eight, but for the last ones and for long codes; any of these may
// come together.
func TestHuffmanMixtures(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 20000 {
		s := make([]byte, r.IntN(40))
		for j := range s {
			s[j] = "aeiost012/&*;X%"[r.IntN(15)]
			if r.IntN(50) < i%10 {
				s[j] = byte(r.IntN(256))
			}
		}
		encoded := encodeShorter(s)
		want := peer.AppendHuffmanString(nil, string(s))
		if shorter := len(want) < len(s); shorter != (encoded != nil) || shorter && string(encoded) != string(want) {
			t.Fatalf("%q: got %x, want %x", s, encoded, want)
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

// Whatever the bytes are, the decoder says what the peer says: the same fields, also when
// the block comes in pieces, and an error where the peer has one. The peer takes longer
// integers, and size updates behind the first field as long as its table is empty.
func FuzzDecode(f *testing.F) {
	for _, x := range examples {
		var all []byte
		for _, b := range x.blocks {
			all = append(all, unhex(f, b.hex)...)
		}
		f.Add(all, uint8(3))
	}
	f.Add([]byte("\x3f\xe1\x1f\x82\x40\x81\x1f\x81\x1f\xbe\x7e\x81\x1f\x0f\x2f\x01x"), uint8(1))
	f.Fuzz(func(t *testing.T, block []byte, piece uint8) {
		var want fieldList
		d := peer.NewDecoder(4096, func(f peer.HeaderField) { want = append(want, f.Name+": "+f.Value) })
		_, wantErr := d.Write(block)
		if wantErr == nil {
			wantErr = d.Close()
		}
		var whole, pieces Decoder
		for _, d := range []*Decoder{&whole, &pieces} {
			d.SetLimits(Limits{MaxList: -1, MaxFields: -1})
		}
		var got, gotPieces fieldList
		err := whole.Decode(block, true, &got)
		var errPieces error
		n := max(int(piece), 1)
		for rest := block; errPieces == nil; rest = rest[n:] {
			if len(rest) <= n {
				errPieces = pieces.Decode(rest, true, &gotPieces)
				break
			}
			errPieces = pieces.Decode(rest[:n], false, &gotPieces)
		}
		if err != errPieces {
			t.Fatalf("%v, in pieces %v", err, errPieces)
		}
		sameList(t, gotPieces, got)
		stricter := err == ErrInteger || err == ErrTableSize || err == ErrTooMuchWork
		if (err != nil) != (wantErr != nil) && !stricter {
			t.Fatalf("%v, peer %v", err, wantErr)
		}
		if err == nil {
			sameList(t, got, want)
			sameList(t, pieces.table.contents(), whole.table.contents())
		}
	})
}

// Fields made of the fuzzer's bytes: what one side encodes, the other decodes, block after
// block, with changes of the table's size.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("\x02:method\x00GET\x00\x02a\x00b\x00\x02a\x00c\x00\x80\x02a\x00b\x00"))
	f.Add([]byte("\xc1\x02x-first\x00some value\x00\x83\x03x-first\x00some value\x00\xff\x01cookie\x00id\x00"))
	f.Fuzz(func(t *testing.T, script []byte) {
		var out bytes.Buffer
		var e Encoder
		var d, fromPeer Decoder
		peerEncoder := peer.NewEncoder(&out)
		var want, peerGot, ourGot, fromPeerGot fieldList
		peerDecoder := peer.NewDecoder(4096, func(f peer.HeaderField) { peerGot = append(peerGot, f.Name+": "+f.Value) })
		for _, d := range []*Decoder{&d, &fromPeer} {
			d.SetLimits(Limits{MaxList: -1, MaxFields: -1})
		}
		var block []byte
		for len(script) > 0 {
			how := script[0]
			if script = script[1:]; how >= 0x80 { // the end of a block, and another size
				if len(block) == 0 {
					continue // the peer refuses a second update unless the first empties its table
				}
				if err := d.Decode(block, true, &ourGot); err != nil {
					t.Fatal(err)
				}
				if _, err := peerDecoder.Write(block); err != nil || peerDecoder.Close() != nil {
					t.Fatal(err)
				}
				block = block[:0]
				e.SetPeerTableSize(uint32(how&0x7f) * 32)
				peerEncoder.SetMaxDynamicTableSize(uint32(how&0x7f) * 32)
				continue
			}
			name, rest, _ := bytes.Cut(script, []byte{0})
			value, rest, _ := bytes.Cut(rest, []byte{0})
			script = rest
			name = bytes.ToLower(name)
			want = append(want, string(name)+": "+string(value))
			block = e.AppendAs(block, Indexing(how%3), name, value)
			if err := peerEncoder.WriteField(peer.HeaderField{Name: string(name), Value: string(value), Sensitive: how%3 == 2}); err != nil {
				t.Fatal(err)
			}
			if err := fromPeer.Decode(out.Bytes(), true, &fromPeerGot); err != nil {
				t.Fatal(err)
			}
			out.Reset()
		}
		if err := d.Decode(block, true, &ourGot); err != nil {
			t.Fatal(err)
		}
		if _, err := peerDecoder.Write(block); err != nil || peerDecoder.Close() != nil {
			t.Fatal(err)
		}
		sameList(t, ourGot, want)
		sameList(t, peerGot, want)
		sameList(t, fromPeerGot, want)
		sameList(t, d.table.contents(), e.table.contents())
	})
}
