package micro

import (
	"testing"

	"golang.org/x/net/http2/hpack"

	millrace "millrace.dev/codec/http2/hpack"
)

var hpackSink int

type hpackCounter struct{ bytes int }

func (c *hpackCounter) Field(f *millrace.Field) { c.bytes += len(f.Name) + len(f.Value) }

func BenchmarkHpackDecode(b *testing.B) {
	for _, s := range hpackSets {
		first, blocks := hpackBlocks(s)
		name := func(state, alt string) string { return "set=" + s.name + "/state=" + state + "/alt=" + alt }
		bytes := 0
		emit := func(f hpack.HeaderField) { bytes += len(f.Name) + len(f.Value) }
		b.Run(name("first", "x-net"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d := hpack.NewDecoder(4096, emit)
				if _, err := d.Write(first); err != nil || d.Close() != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name("first", "millrace"), func(b *testing.B) {
			b.ReportAllocs()
			c := new(hpackCounter)
			for b.Loop() {
				var d millrace.Decoder
				if err := d.Decode(first, true, c); err != nil {
					b.Fatal(err)
				}
			}
			hpackSink = c.bytes
		})
		b.Run(name("steady", "x-net"), func(b *testing.B) {
			b.ReportAllocs()
			d := hpack.NewDecoder(4096, emit)
			d.Write(first)
			for i := 0; b.Loop(); i++ {
				if _, err := d.Write(blocks[i%hpackVariants]); err != nil || d.Close() != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name("steady", "millrace"), func(b *testing.B) {
			b.ReportAllocs()
			c := new(hpackCounter)
			var d millrace.Decoder
			_ = d.Decode(first, true, c)
			for i := 0; b.Loop(); i++ {
				if err := d.Decode(blocks[i%hpackVariants], true, c); err != nil {
					b.Fatal(err)
				}
			}
			hpackSink = c.bytes
		})
		hpackSink = bytes
	}
}

// hpackBuffer takes what x/net writes, as the buffer of a connection would.
type hpackBuffer struct{ p []byte }

func (w *hpackBuffer) Write(p []byte) (int, error) {
	w.p = append(w.p, p...)
	return len(p), nil
}

func BenchmarkHpackEncode(b *testing.B) {
	for _, s := range hpackSets {
		lists := s.fields()
		name := func(state, alt string) string { return "set=" + s.name + "/state=" + state + "/alt=" + alt }
		peer := func(e *hpack.Encoder, fields []hpackField) {
			for i := range fields {
				_ = e.WriteField(fields[i].peer)
			}
		}
		b.Run(name("first", "x-net"), func(b *testing.B) {
			b.ReportAllocs()
			w := &hpackBuffer{p: make([]byte, 0, 4096)}
			for i := 0; b.Loop(); i++ {
				w.p = w.p[:0]
				peer(hpack.NewEncoder(w), lists[i%hpackVariants])
			}
			hpackSink = len(w.p)
		})
		b.Run(name("first", "millrace"), func(b *testing.B) {
			b.ReportAllocs()
			block := make([]byte, 0, 4096)
			for i := 0; b.Loop(); i++ {
				var e millrace.Encoder
				block = hpackAppend(&e, block[:0], lists[i%hpackVariants])
			}
			hpackSink = len(block)
		})
		b.Run(name("steady", "x-net"), func(b *testing.B) {
			b.ReportAllocs()
			w := &hpackBuffer{p: make([]byte, 0, 4096)}
			e := hpack.NewEncoder(w)
			for i := 0; b.Loop(); i++ {
				w.p = w.p[:0]
				peer(e, lists[i%hpackVariants])
			}
			hpackSink = len(w.p)
		})
		b.Run(name("steady", "millrace"), func(b *testing.B) {
			b.ReportAllocs()
			block := make([]byte, 0, 4096)
			var e millrace.Encoder
			for i := 0; b.Loop(); i++ {
				block = hpackAppend(&e, block[:0], lists[i%hpackVariants])
			}
			hpackSink = len(block)
		})
	}
}
