package hpack

import (
	"bytes"
	peer "golang.org/x/net/http2/hpack"
	"testing"
)

var raws [][]byte

func init() {
	for _, s := range texts {
		raws = append(raws, []byte(s))
	}
}

var texts = []string{"/assets/3a/app.01fe3c.js?v=42", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36", "Bearer eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiI0MiJ9.c2lnbmF0dXJl", "12345", "gzip, deflate, br, zstd", "no-cache", "Mon, 30 Nov 2026 10:20:30 GMT", "session=5c1f0a8be2d94d6f9a3d1a77c2b4e6f0; theme=dark; basket=29"}

func BenchmarkDec(b *testing.B) {
	var enc [][]byte
	for _, s := range texts {
		enc = append(enc, peer.AppendHuffmanString(nil, s))
	}
	b.Run("ours", func(b *testing.B) {
		buf := make([]byte, 0, 256)
		for i := 0; b.Loop(); i++ {
			buf, _ = appendDecoded(buf[:0], enc[i&7])
		}
	})
	b.Run("peer", func(b *testing.B) {
		var w bytes.Buffer
		for i := 0; b.Loop(); i++ {
			w.Reset()
			peer.HuffmanDecode(&w, enc[i&7])
		}
	})
	b.Run("enc-ours", func(b *testing.B) {
		buf := make([]byte, 0, 256)
		for i := 0; b.Loop(); i++ {
			buf = appendText(buf[:0], raws[i&7])
		}
	})
	b.Run("enc-peer", func(b *testing.B) {
		buf := make([]byte, 0, 256)
		for i := 0; b.Loop(); i++ {
			n := peer.HuffmanEncodeLength(texts[i&7])
			buf = append(buf[:0], byte(n))
			buf = peer.AppendHuffmanString(buf, texts[i&7])
		}
	})
}
