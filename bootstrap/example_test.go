package bootstrap_test

import (
	"context"
	"fmt"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/loop"
)

// An echo server: the buffers that come in are the ones that go out.
type echoHandler struct{}

func (echoHandler) OnRead(ctx *channel.Context, msg any) { ctx.Write(msg) }
func (echoHandler) OnReadComplete(ctx *channel.Context)  { ctx.Flush() }

func ExampleServer() {
	server := &bootstrap.Server{Init: func(ch *channel.Channel) error {
		return ch.Pipeline().AddLast("echo", echoHandler{})
	}}
	ln, err := server.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(ln.IsActive())
	err = server.Shutdown(context.Background()) // lets connections finish first
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}

// printer prints what comes, and closes the connection.
type printer struct{}

func (printer) OnRead(ctx *channel.Context, msg any) {
	b := msg.(*buffer.Buffer)
	fmt.Println(string(b.Bytes()))
	b.Close()
	ctx.Close()
}

func ExampleClient() {
	group, err := loop.NewGroup(loop.Options{Loops: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := &bootstrap.Server{Group: group, Init: func(ch *channel.Channel) error {
		return ch.Pipeline().AddLast("echo", echoHandler{})
	}}
	ln, err := server.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}

	client := &bootstrap.Client{Group: group, Init: func(ch *channel.Channel) error {
		return ch.Pipeline().AddLast("printer", printer{})
	}}
	ctx := context.Background()
	ch, err := client.Dial(ctx, "tcp", ln.LocalAddr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	ch.WriteAndFlush(buffer.CopyString("hello"))
	_, _ = ch.CloseFuture().Wait(ctx)
	_ = server.Shutdown(ctx)
	_, _ = group.Shutdown(0, 0).Wait(ctx)
	// Output: hello
}
