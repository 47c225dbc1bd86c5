package http2_test

import (
	"fmt"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http2"
)

// greeter answers every request.
type greeter struct{}

func (greeter) OnRead(ctx *channel.Context, msg any) {
	switch m := msg.(type) {
	case *http.Request:
		resp := m.Respond(200)
		resp.Body = buffer.CopyString("hello " + string(m.Path()))
		ctx.Write(resp)
		m.Close()
	case *http.Content:
		m.Close()
	}
}

func (greeter) OnReadComplete(ctx *channel.Context) { ctx.Flush() }

// A client and a server, with nothing but memory between them.
func Example() {
	server := embedded.New(http2.NewServerCodec(http2.ServerOptions{}), greeter{})
	client := embedded.New(http2.NewClientCodec(http2.ClientOptions{}))
	defer server.Finish()
	defer client.Finish()

	for _, path := range []string{"/wheel", "/stone"} {
		r := http.NewRequest(http.MethodGet, "http://mill.example"+path)
		if err := client.WriteOutbound(r); err != nil {
			panic(err)
		}
	}
	for range 2 { // there and back
		for m := client.ReadOutbound(); m != nil; m = client.ReadOutbound() {
			_ = server.WriteInbound(m)
		}
		for m := server.ReadOutbound(); m != nil; m = server.ReadOutbound() {
			_ = client.WriteInbound(m)
		}
	}

	for msg := client.ReadInbound(); msg != nil; msg = client.ReadInbound() {
		switch m := msg.(type) {
		case *http.Response:
			fmt.Printf("stream %d: %d, %d bytes\n", m.ID, m.Status, m.ContentLength)
			m.Close()
		case *http.Content:
			fmt.Printf("stream %d: %s\n", m.ID, m.Data.Bytes())
			m.Close()
		}
	}
	// Output:
	// stream 1: 200, 12 bytes
	// stream 1: hello /wheel
	// stream 3: 200, 12 bytes
	// stream 3: hello /stone
}

// A Conn alone: bytes in, messages out, and the other way round.
func ExampleConn() {
	client := http2.NewClientConn(http2.Options{}, buffer.Unpooled(), false)
	server := http2.NewServerConn(http2.Options{}, buffer.Unpooled())
	defer client.Close()
	defer server.Close()

	r := http.NewRequest(http.MethodGet, "http://mill.example/wheel")
	if _, _, err := client.WriteRequest(r); err != nil {
		panic(err)
	}
	for b := client.Pull(true); b != nil; b = client.Pull(true) {
		msg, err := server.Next(b, 0)
		if err != nil {
			panic(err)
		}
		if r, ok := msg.(*http.Request); ok {
			fmt.Println(r.ID, r.Method, string(r.Path()), string(r.Authority()))
			r.Close()
		}
		b.Close()
	}
	// Output:
	// 1 GET /wheel mill.example
}
