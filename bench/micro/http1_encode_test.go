package micro

import (
	"bufio"
	"bytes"
	"io"
	nethttp "net/http"
	"net/url"
	"testing"

	"github.com/valyala/fasthttp"

	"millrace.dev/buffer"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http1"
)

// http1Body is content of some size, whole and in the four pieces in which it is streamed.
type http1Body struct {
	whole  []byte
	buffer *buffer.Buffer
	pieces [4]http.Content
}

func http1Bodies(b *testing.B) (bodies []*http1Body) {
	r := seeded()
	for range http1Variants {
		whole := randomBytes(r, 8+r.IntN(500))
		body := &http1Body{whole: whole, buffer: buffer.Copy(whole)}
		quarter := len(whole) / 4
		for i := range body.pieces {
			end := (i + 1) * quarter
			if i == 3 {
				end = len(whole)
			}
			body.pieces[i] = http.Content{Data: buffer.Copy(whole[i*quarter : end]), End: i == 3}
		}
		b.Cleanup(func() {
			body.buffer.Close()
			for i := range body.pieces {
				body.pieces[i].Data.Close()
			}
		})
		bodies = append(bodies, body)
	}
	return bodies
}

// http1Quarters is a body as others read it: four times something, and of unknown length.
type http1Quarters struct {
	body *http1Body
	next int
}

func (q *http1Quarters) Read(p []byte) (int, error) {
	if q.next == len(q.body.pieces) {
		return 0, io.EOF
	}
	q.next++
	return copy(p, q.body.pieces[q.next-1].Data.Readable()), nil
}

func (q *http1Quarters) Close() error { return nil }

// http1Encode runs an alternative, which writes a message with that content and returns the
// number of bytes.
func http1Encode(b *testing.B, bodies []*http1Body, alt string, encode func(body *http1Body) int) {
	b.Run("alt="+alt, func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		for i := 0; b.Loop(); i++ {
			n += encode(bodies[i%len(bodies)])
		}
		http1Sink += n
		b.SetBytes(int64(n / b.N))
	})
}

// http1Counter counts what is written to it.
type http1Counter struct{ n int }

func (c *http1Counter) Write(p []byte) (int, error) { c.n += len(p); return len(p), nil }

// http1Standard returns an encoder that uses what write does with a bufio.Writer.
func http1Standard(write func(body *http1Body, w *bufio.Writer) error) func(body *http1Body) int {
	var count http1Counter
	w := bufio.NewWriter(&count)
	return func(body *http1Body) int {
		count.n = 0
		if write(body, w) != nil || w.Flush() != nil {
			return 0
		}
		return count.n
	}
}

// What a message's content is: in the message, or in four pieces that follow it.
const (
	http1Full    = "full"          // in the message
	http1Length  = "contentlength" // in pieces, of declared length
	http1Chunked = "chunked"       // in pieces, of unknown length
)

// BenchmarkHTTP1EncodeResponse writes an answer with two fields and content. net/http has no
// encoder for servers that could be called alone; this is the one of its Response.
func BenchmarkHTTP1EncodeResponse(b *testing.B) {
	bodies := http1Bodies(b)
	for _, kind := range []string{http1Full, http1Length, http1Chunked} {
		b.Run("content="+kind, func(b *testing.B) {
			std := &nethttp.Response{StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Header: nethttp.Header{
				"Content-Type": {"text/plain"}, "Server": {"bench"}, "Date": {"Mon, 30 Nov 2026 08:00:00 GMT"}}}
			http1Encode(b, bodies, "net-http", http1Standard(func(body *http1Body, w *bufio.Writer) error {
				std.Body, std.ContentLength = &http1Quarters{body: body}, int64(len(body.whole))
				if kind == http1Chunked {
					std.ContentLength, std.TransferEncoding = -1, []string{"chunked"}
				}
				return std.Write(w)
			}))
			var fast fasthttp.Response
			fast.Header.SetContentType("text/plain")
			fast.Header.SetServer("bench")
			http1Encode(b, bodies, "fasthttp", http1Standard(func(body *http1Body, w *bufio.Writer) error {
				switch kind {
				case http1Full:
					fast.SetBodyRaw(body.whole)
				case http1Length:
					fast.SetBodyStream(&http1Quarters{body: body}, len(body.whole))
				default:
					fast.SetBodyStream(&http1Quarters{body: body}, -1)
				}
				return fast.Write(w)
			}))
			http1Encode(b, bodies, "millrace", http1Response(b, kind))
		})
	}
}

func http1Response(b *testing.B, kind string) func(body *http1Body) int {
	out := buffer.New(4096)
	r := http.NewResponse(200)
	r.Header.AddField(http.FieldContentType, "text/plain")
	r.Header.AddField(http.FieldServer, "bench")
	b.Cleanup(func() {
		r.Body = nil
		r.Close()
		out.Close()
	})
	date := []byte("Date: Mon, 30 Nov 2026 08:00:00 GMT\r\n")
	var e http1.ResponseEncoder
	return func(body *http1Body) int {
		out.Reset()
		r.Body, r.End, r.ContentLength = body.buffer, true, -1
		if kind != http1Full {
			r.Body, r.End = nil, false
		}
		if kind == http1Length {
			r.ContentLength = int64(len(body.whole))
		}
		if err := e.AppendResponse(out, r, http1.Exchange{KeepAlive: true}, date); err != nil {
			b.Fatal(err)
		}
		for i := range body.pieces {
			if !e.Open() {
				break
			}
			if err := e.AppendContent(out, &body.pieces[i]); err != nil {
				b.Fatal(err)
			}
		}
		return out.Len()
	}
}

// BenchmarkHTTP1EncodeRequest writes a request with four fields and content.
func BenchmarkHTTP1EncodeRequest(b *testing.B) {
	bodies := http1Bodies(b)
	const target, host, agent = "/articles/upload?id=7", "www.example.com", "bench/1.0"
	for _, kind := range []string{http1Full, http1Length, http1Chunked} {
		b.Run("content="+kind, func(b *testing.B) {
			std := &nethttp.Request{Method: "POST", URL: &url.URL{Path: "/articles/upload", RawQuery: "id=7"}, Host: host,
				Header: nethttp.Header{"User-Agent": {agent}, "Content-Type": {"text/plain"}, "Accept": {"*/*"}}}
			http1Encode(b, bodies, "net-http", http1Standard(func(body *http1Body, w *bufio.Writer) error {
				std.Body, std.ContentLength = &http1Quarters{body: body}, int64(len(body.whole))
				if kind == http1Full {
					std.Body = io.NopCloser(bytes.NewReader(body.whole))
				} else if kind == http1Chunked {
					std.ContentLength, std.TransferEncoding = -1, []string{"chunked"}
				}
				return std.Write(w)
			}))
			var fast fasthttp.Request
			fast.Header.SetMethod("POST")
			fast.SetRequestURI("http://" + host + target)
			fast.Header.SetUserAgent(agent)
			fast.Header.SetContentType("text/plain")
			fast.Header.Set("Accept", "*/*")
			http1Encode(b, bodies, "fasthttp", http1Standard(func(body *http1Body, w *bufio.Writer) error {
				switch kind {
				case http1Full:
					fast.SetBodyRaw(body.whole)
				case http1Length:
					fast.SetBodyStream(&http1Quarters{body: body}, len(body.whole))
				default:
					fast.SetBodyStream(&http1Quarters{body: body}, -1)
				}
				return fast.Write(w)
			}))
			r := http.NewRequest(http.MethodPost, target)
			r.Header.AddField(http.FieldHost, host)
			r.Header.AddField(http.FieldUserAgent, agent)
			r.Header.AddField(http.FieldContentType, "text/plain")
			r.Header.AddField(http.FieldAccept, "*/*")
			http1Encode(b, bodies, "millrace", http1Request(b, kind, r))
		})
	}
}

func http1Request(b *testing.B, kind string, r *http.Request) func(body *http1Body) int {
	out := buffer.New(4096)
	b.Cleanup(func() {
		r.Body = nil
		r.Close()
		out.Close()
	})
	var e http1.RequestEncoder
	return func(body *http1Body) int {
		out.Reset()
		r.Body, r.End, r.ContentLength = body.buffer, true, -1
		if kind != http1Full {
			r.Body, r.End = nil, false
		}
		if kind == http1Length {
			r.ContentLength = int64(len(body.whole))
		}
		if err := e.AppendRequest(out, r); err != nil {
			b.Fatal(err)
		}
		for i := range body.pieces {
			if !e.Open() {
				break
			}
			if err := e.AppendContent(out, &body.pieces[i]); err != nil {
				b.Fatal(err)
			}
		}
		return out.Len()
	}
}
