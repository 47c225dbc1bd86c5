package http1

import (
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/codec/http"
)

func BenchmarkResponseEncoder(b *testing.B) {
	buffertest.Level(b, buffer.Disabled)
	const body = "Hello, World!"
	date := http.NewDate(time.Now)
	data := buffer.CopyString(body)
	defer data.Close()
	out := buffer.New(512)
	defer out.Close()
	x := Exchange{KeepAlive: true}

	b.Run("encode", func(b *testing.B) { // what the encoder itself costs
		b.ReportAllocs()
		var e ResponseEncoder
		r := http.NewResponse(200)
		r.Header.AddField(http.FieldContentType, "text/plain")
		r.Body = buffer.CopyString(body)
		defer r.Close()
		for b.Loop() {
			out.Reset()
			if err := e.AppendResponse(out, r, x, date.Line(0)); err != nil {
				b.Fatal(err)
			}
		}
		b.SetBytes(int64(out.Len()))
	})
	b.Run("make+encode+close", func(b *testing.B) { // what a handler's answer costs
		b.ReportAllocs()
		var e ResponseEncoder
		for b.Loop() {
			out.Reset()
			r := http.NewResponse(200)
			r.Header.AddField(http.FieldContentType, "text/plain")
			r.Body = data
			if err := e.AppendResponse(out, r, x, date.Line(0)); err != nil {
				b.Fatal(err)
			}
			r.Body = nil
			r.Close()
		}
	})
}
