package micro

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	nethttp "net/http"
	"testing"

	"github.com/valyala/fasthttp"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http1"
)

var http1Sink int

// http1Variants is how many requests take turns: no two have the same bytes.
const http1Variants = 64

// http1Heads are heads as browsers send them, which differ in the target, in values, and in
// which fields there are.
func http1Heads() (heads [][]byte) {
	r := seeded()
	for range http1Variants {
		var h bytes.Buffer
		fmt.Fprintf(&h, "GET /articles/%s?page=%d&from=%s HTTP/1.1\r\n", queryText(r, 5+r.IntN(30), 0), r.IntN(1000), queryText(r, 5, 0))
		fmt.Fprintf(&h, "Host: www%d.example.com\r\n", r.IntN(100))
		fmt.Fprintf(&h, "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:%d.0) Gecko/20100101 Firefox/%d.0\r\n", r.IntN(200), r.IntN(200))
		for _, field := range []string{
			"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n",
			"Accept-Language: en-GB,en;q=0.5\r\n",
			"Accept-Encoding: gzip, deflate, br, zstd\r\n",
			"Referer: https://www.example.com/articles/" + queryText(r, 5+r.IntN(20), 0) + "\r\n",
			"Connection: keep-alive\r\n",
			"Cookie: session=" + queryText(r, 20+r.IntN(40), 0) + "; theme=dark; consent=yes\r\n",
			"Upgrade-Insecure-Requests: 1\r\n",
			"Sec-Fetch-Dest: document\r\n",
			"If-Modified-Since: Sun, 29 Nov 2026 08:00:00 GMT\r\n",
			"Cache-Control: max-age=0\r\n",
		} {
			if r.IntN(5) > 0 {
				h.WriteString(field)
			}
		}
		h.WriteString("\r\n")
		heads = append(heads, h.Bytes())
	}
	return heads
}

// http1Pieces cuts an input into pieces of so many bytes, or into two to four of any size.
func http1Pieces(inputs [][]byte, step int) (all [][][]byte) {
	r := seeded()
	for _, in := range inputs {
		var pieces [][]byte
		for len(in) > 0 {
			n := step
			if step == 0 {
				n = len(in)/4 + r.IntN(len(in)+1)
			}
			n = min(max(n, 1), len(in))
			pieces = append(pieces, in[:n:n])
			in = in[n:]
		}
		all = append(all, pieces)
	}
	return all
}

// http1Reader gives its pieces one at a time, as a connection does.
type http1Reader struct{ pieces [][]byte }

func (r *http1Reader) Read(p []byte) (int, error) {
	if len(r.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.pieces[0])
	if n < len(r.pieces[0]) {
		r.pieces = append([][]byte{r.pieces[0][n:]}, r.pieces[1:]...)
	} else {
		r.pieces = r.pieces[1:]
	}
	return n, nil
}

// http1Drain decodes and closes all that in has, and returns the number of requests.
func http1Drain(b *testing.B, d *http1.RequestDecoder, in *buffer.Buffer) (requests int) {
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
			http1Sink += len(m.Target) + m.Header.Len()
			m.Close()
		case *http.Content:
			m.Close()
		}
	}
}

// http1Decoders are the alternatives: each gets inputs in pieces, and how many requests an
// input has.
func http1Decoders(b *testing.B, inputs [][][]byte, requests int) {
	size := 0
	for _, pieces := range inputs {
		for _, p := range pieces {
			size += len(p)
		}
	}
	run := func(alt string, decode func(b *testing.B, pieces [][]byte)) {
		b.Run("alt="+alt, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size / len(inputs)))
			for i := 0; b.Loop(); i++ {
				decode(b, inputs[i%len(inputs)])
			}
		})
	}
	reader := &http1Reader{}
	buffered := bufio.NewReader(reader)
	run("net-http", func(b *testing.B, pieces [][]byte) {
		reader.pieces = pieces
		buffered.Reset(reader)
		for range requests {
			r, err := nethttp.ReadRequest(buffered)
			if err != nil {
				b.Fatal(err)
			}
			n, _ := io.Copy(io.Discard, r.Body)
			http1Sink += len(r.RequestURI) + len(r.Header) + int(n)
		}
	})
	var fast fasthttp.Request
	run("fasthttp", func(b *testing.B, pieces [][]byte) {
		reader.pieces = pieces
		buffered.Reset(reader)
		for range requests {
			if err := fast.Read(buffered); err != nil {
				b.Fatal(err)
			}
			http1Sink += len(fast.Header.RequestURI()) + fast.Header.Len()
		}
	})
	b.Run("alt=millrace", func(b *testing.B) {
		memory := buffer.NewPooled(buffer.PooledOptions{}).NewCache()
		memory.Bind()
		defer memory.Unbind()
		defer buffer.SetLeakLevel(buffer.CurrentLeakLevel())
		buffer.SetLeakLevel(buffer.Disabled) // a topic of its own
		d := http1.NewRequestDecoder(http.Limits{})
		b.ReportAllocs()
		b.SetBytes(int64(size / len(inputs)))
		for i := 0; b.Loop(); i++ {
			n := 0
			for _, p := range inputs[i%len(inputs)] {
				in := memory.Allocate(len(p))
				in.Write(p)
				n += http1Drain(b, d, in)
				in.Close()
			}
			if n != requests {
				b.Fatalf("%d requests", n)
			}
		}
	})
}

// BenchmarkHTTP1Decode reads one request, which arrives whole or in pieces. The decoder alone
// remembers nothing from one request to the next.
func BenchmarkHTTP1Decode(b *testing.B) {
	heads := http1Heads()
	for _, c := range []struct {
		name string
		step int
	}{{"whole", 1 << 20}, {"fragments", 0}, {"step1024", 1024}, {"step64", 64}, {"step7", 7}, {"step1", 1}} {
		b.Run("arrives="+c.name, func(b *testing.B) { http1Decoders(b, http1Pieces(heads, c.step), 1) })
	}
}

// BenchmarkHTTP1DecodePipelined reads 16 requests that arrive at once.
func BenchmarkHTTP1DecodePipelined(b *testing.B) {
	heads := http1Heads()
	var inputs [][]byte
	for i := 0; i < len(heads); i += 16 {
		inputs = append(inputs, bytes.Join(heads[i:i+16], nil))
	}
	http1Decoders(b, http1Pieces(inputs, 1<<20), 16)
}

// BenchmarkHTTP1DecodeChunked reads requests with content in four chunks, which arrive whole
// or cut anywhere.
func BenchmarkHTTP1DecodeChunked(b *testing.B) {
	r := seeded()
	var inputs [][]byte
	for range http1Variants {
		var in bytes.Buffer
		fmt.Fprintf(&in, "POST /%s HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", queryText(r, 10, 0))
		for range 4 {
			n := 1 + r.IntN(500)
			fmt.Fprintf(&in, "%x\r\n%s\r\n", n, queryText(r, n, 0))
		}
		in.WriteString("0\r\n\r\n")
		inputs = append(inputs, in.Bytes())
	}
	b.Run("arrives=whole", func(b *testing.B) { http1Decoders(b, http1Pieces(inputs, 1<<20), 1) })
	b.Run("arrives=fragments", func(b *testing.B) { http1Decoders(b, http1Pieces(inputs, 0), 1) })
}

// http1Answerer answers every request with the same.
type http1Answerer struct{ answer *http.Fixed }

func (a *http1Answerer) OnRead(ctx *channel.Context, msg any) {
	r := msg.(*http.Request)
	http1Sink += len(r.Target)
	ctx.Write(r.RespondFixed(a.answer))
	r.Close()
}

func (a *http1Answerer) OnReadComplete(ctx *channel.Context) { ctx.Flush() }

// BenchmarkHTTP1Memo has a server's codec, in a pipeline without a network, read and answer
// requests that all differ, or that are all the same, as one client's often are: it remembers
// the last head.
func BenchmarkHTTP1Memo(b *testing.B) {
	heads := http1Heads()
	for _, c := range []struct {
		alt   string
		heads [][]byte
	}{{"varying", heads}, {"millrace-same", heads[:1]}} {
		b.Run("alt="+c.alt, func(b *testing.B) {
			answer, err := http.NewFixed(204, nil)
			if err != nil {
				b.Fatal(err)
			}
			ch := embedded.New(http1.NewServerCodec(http1.ServerOptions{NoDate: true}), &http1Answerer{answer})
			defer ch.Finish()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				in := ch.Allocator().Allocate(1024)
				in.Write(c.heads[i%len(c.heads)])
				if err := ch.WriteInbound(in); err != nil {
					b.Fatal(err)
				}
				out, ok := ch.ReadOutbound().(*buffer.Buffer)
				if !ok {
					b.Fatal("no answer")
				}
				out.Close()
			}
		})
	}
}
