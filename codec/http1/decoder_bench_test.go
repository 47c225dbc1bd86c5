package http1

import (
	"fmt"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/codec/http"
)

const (
	wrkHead     = "GET /plaintext HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"
	browserHead = "GET /articles/2026/11/how-to-turn-a-mill?utm_source=feed HTTP/1.1\r\n" +
		"Host: www.example.com\r\n" +
		"User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0\r\n" +
		"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n" +
		"Accept-Language: en-GB,en;q=0.5\r\n" +
		"Accept-Encoding: gzip, deflate, br, zstd\r\n" +
		"Referer: https://www.example.com/articles/2026/11/\r\n" +
		"Connection: keep-alive\r\n" +
		"Cookie: session=5f2b6c0e9d1a4b7f8e3c; theme=dark; consent=yes\r\n" +
		"Upgrade-Insecure-Requests: 1\r\n" +
		"Sec-Fetch-Dest: document\r\n" +
		"If-Modified-Since: Sun, 29 Nov 2026 08:00:00 GMT\r\n" +
		"Cache-Control: max-age=0\r\n\r\n"
	chunkedPost = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" +
		"10\r\n0123456789abcdef\r\n5\r\nhello\r\n0\r\n\r\n"
)

// drain decodes everything that in holds and closes the messages.
func drain(b *testing.B, d *RequestDecoder, in *buffer.Buffer) (requests int) {
	for {
		msg, err := d.Next(in)
		if err != nil {
			b.Fatal(err)
		}
		switch m := msg.(type) {
		case nil:
			return requests
		case *http.Request:
			requests++
			m.Close()
		case *http.Content:
			m.Close()
		}
	}
}

func BenchmarkRequestDecoder(b *testing.B) {
	buffertest.Level(b, buffer.Disabled)
	for _, c := range []struct {
		name, input string
	}{{"wrk", wrkHead}, {"browser", browserHead}, {"chunked", chunkedPost}} {
		b.Run(c.name, func(b *testing.B) {
			d := NewRequestDecoder(http.Limits{})
			measure(b, c.input, len(c.input), func(in *buffer.Buffer) int { return drain(b, d, in) })
		})
	}
}

// BenchmarkRequestDecoderSteps has the same heads arrive in pieces.
func BenchmarkRequestDecoderSteps(b *testing.B) {
	buffertest.Level(b, buffer.Disabled)
	for _, step := range []int{1, 7, 64, 1024} {
		b.Run(fmt.Sprintf("%d", step), func(b *testing.B) {
			d := NewRequestDecoder(http.Limits{})
			measure(b, browserHead, step, func(in *buffer.Buffer) int { return drain(b, d, in) })
		})
	}
}

// BenchmarkRequestDecoderPipelined has 16 requests arrive at once.
func BenchmarkRequestDecoderPipelined(b *testing.B) {
	buffertest.Level(b, buffer.Disabled)
	d := NewRequestDecoder(http.Limits{})
	input := strings.Repeat(wrkHead, 16)
	measure(b, input, len(input), func(in *buffer.Buffer) int { return drain(b, d, in) })
}

// measure passes input in again and again, in pieces of step bytes.
func measure(b *testing.B, input string, step int, take func(in *buffer.Buffer) (requests int)) {
	alloc := buffer.NewPooled(buffer.PooledOptions{}).NewCache()
	alloc.Bind()
	defer alloc.Unbind()
	b.ReportAllocs()
	b.SetBytes(int64(len(input)))
	requests := 0
	for b.Loop() {
		for rest := input; len(rest) > 0; {
			n := min(step, len(rest))
			in := alloc.Allocate(n)
			in.WriteString(rest[:n])
			rest = rest[n:]
			requests += take(in)
			in.Close()
		}
	}
	if requests%b.N != 0 || requests == 0 {
		b.Fatalf("%d requests in %d rounds", requests, b.N)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(requests), "ns/request")
}
