package http1_test

import (
	"fmt"
	"strings"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http1"
)

// greeter is a handler that answers every request.
type greeter struct{}

func (greeter) OnRead(ctx *channel.Context, msg any) {
	switch m := msg.(type) {
	case *http.Request:
		resp := m.Respond(200)
		resp.Header.Add("Content-Type", "text/plain")
		resp.Body = buffer.CopyString("Hello from " + string(m.Path()) + "\n")
		ctx.Write(resp)
		m.Close()
	case *http.Content: // of a request that has any
		m.Close()
	}
}

func (greeter) OnReadComplete(ctx *channel.Context) { ctx.Flush() }

func ExampleServerCodec() {
	codecs := http1.NewServerCodecs(http1.ServerOptions{NoDate: true})
	ch := embedded.New(codecs.New(), greeter{})
	defer ch.Finish()

	if err := ch.WriteInbound(buffer.CopyString("GET /mill HTTP/1.1\r\nHost: a\r\n\r\n")); err != nil {
		fmt.Println(err)
	}
	answer := ch.ReadOutbound().(*buffer.Buffer)
	defer answer.Close()
	fmt.Print(strings.ReplaceAll(string(answer.Bytes()), "\r\n", "\n"))
	// Output:
	// HTTP/1.1 200 OK
	// Content-Type: text/plain
	// Content-Length: 17
	//
	// Hello from /mill
}

// An Aggregator behind a ClientCodec hands out whole responses.
func ExampleAggregator() {
	ch := embedded.New(http1.NewClientCodec(http1.ClientOptions{}), http1.NewAggregator(1<<20))
	defer ch.Finish()

	req := http.NewRequest(http.MethodGet, "/")
	req.Header.Add("Host", "example.com")
	if err := ch.WriteOutbound(req); err != nil {
		fmt.Println(err)
	}
	const answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwater\r\n6\r\n wheel\r\n0\r\n\r\n"
	for i := range answer { // however it arrives
		if err := ch.WriteInbound(buffer.CopyString(answer[i : i+1])); err != nil {
			fmt.Println(err)
		}
	}
	resp := ch.ReadInbound().(*http.Response)
	defer resp.Close()
	fmt.Printf("%d %s\n", resp.Status, resp.Body.Bytes())
	// Output: 200 water wheel
}

func ExampleRequestDecoder() {
	in := buffer.CopyString("POST /wheel HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nwaterGET / HTTP/1.1\r\n")
	defer in.Close()
	d := http1.NewRequestDecoder(http.Limits{})
	for {
		msg, err := d.Next(in)
		if err != nil {
			fmt.Println(err)
			return
		}
		switch m := msg.(type) {
		case *http.Request:
			fmt.Printf("%s %s, content follows: %v\n", m.Method, m.Target, !m.End)
			m.Close()
		case *http.Content:
			fmt.Printf("%s, end: %v\n", m.Data.Bytes(), m.End)
			m.Close()
		case nil: // needs more bytes
			fmt.Println(d.Finish())
			return
		}
	}
	// Output:
	// POST /wheel, content follows: true
	// water, end: true
	// http1: connection ended inside a message
}

func ExampleResponseEncoder() {
	out := buffer.New(256)
	defer out.Close()
	var e http1.ResponseEncoder

	resp := http.NewResponse(200)
	resp.End = false // contents follow
	if err := e.AppendResponse(out, resp, http1.Exchange{KeepAlive: true}, nil); err != nil {
		fmt.Println(err)
	}
	resp.Close()
	content := http.NewContent(buffer.CopyString("water"), true)
	content.AddTrailer("Level", "low")
	if err := e.AppendContent(out, content); err != nil {
		fmt.Println(err)
	}
	content.Close()
	fmt.Print(strings.ReplaceAll(string(out.Bytes()), "\r\n", "\n"))
	// Output:
	// HTTP/1.1 200 OK
	// Transfer-Encoding: chunked
	//
	// 5
	// water
	// 0
	// Level: low
}
