package micro

import (
	"testing"

	"golang.org/x/net/http2/hpack"

	millrace "millrace.dev/codec/http2/hpack"
)

// BenchmarkHpackHuffman writes and reads one field whose value is Huffman-encoded and which
// no table has but for its name.
func BenchmarkHpackHuffman(b *testing.B) {
	const alphabet = "eeeaattoosnirlhdcupfmgbyvw0123456789/-._=%EATON"
	for _, input := range []struct {
		name string
		len  int
	}{{"short", 8}, {"medium", 40}, {"long", 400}} {
		r := seeded()
		fields := make([]hpackField, 256)
		blocks := make([][]byte, len(fields))
		var e millrace.Encoder
		for i := range fields {
			value := make([]byte, input.len/2+r.IntN(input.len))
			for j := range value {
				value[j] = alphabet[r.IntN(len(alphabet))]
			}
			fields[i] = hpackFieldOf("authorization", string(value))
			blocks[i] = e.AppendAs(nil, millrace.Never, fields[i].name, value)
		}
		in := "/input=" + input.name
		b.Run("op=encode"+in+"/alt=x-net", func(b *testing.B) {
			b.ReportAllocs()
			w := new(hpackBuffer)
			e := hpack.NewEncoder(w)
			for i := 0; b.Loop(); i++ {
				w.p = w.p[:0]
				_ = e.WriteField(fields[i%len(fields)].peer)
			}
			hpackSink = len(w.p)
		})
		b.Run("op=encode"+in+"/alt=millrace", func(b *testing.B) {
			b.ReportAllocs()
			dst := make([]byte, 0, 1024)
			for i := 0; b.Loop(); i++ {
				f := &fields[i%len(fields)]
				dst = e.AppendKnown(dst[:0], f.known, f.value)
			}
			hpackSink = len(dst)
		})
		b.Run("op=decode"+in+"/alt=x-net", func(b *testing.B) {
			b.ReportAllocs()
			bytes := 0
			d := hpack.NewDecoder(4096, func(f hpack.HeaderField) { bytes += len(f.Value) })
			for i := 0; b.Loop(); i++ {
				if _, err := d.Write(blocks[i%len(blocks)]); err != nil || d.Close() != nil {
					b.Fatal(err)
				}
			}
			hpackSink = bytes
		})
		b.Run("op=decode"+in+"/alt=millrace", func(b *testing.B) {
			b.ReportAllocs()
			c := new(hpackCounter)
			var d millrace.Decoder
			for i := 0; b.Loop(); i++ {
				if err := d.Decode(blocks[i%len(blocks)], true, c); err != nil {
					b.Fatal(err)
				}
			}
			hpackSink = c.bytes
		})
	}
}
