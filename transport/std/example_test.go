package std_test

import (
	"context"
	"fmt"
	"io"
	"net"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
	"millrace.dev/transport/std"
)

type echo struct{}

func (echo) OnRead(ctx *channel.Context, msg any) { ctx.WriteAndFlush(msg) }

// A server on a net.Listener that came from elsewhere, such as socket activation.
func ExampleNewListenerFrom() {
	given, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	server := &bootstrap.Server{
		Transport: std.New(std.Options{}),
		Init:      func(ch *channel.Channel) error { return ch.Pipeline().AddLast("echo", echo{}) },
	}
	if _, err := server.Adopt(std.NewListenerFrom(given)).Wait(ctx); err != nil {
		fmt.Println(err)
		return
	}
	conn, err := net.Dial("tcp", given.Addr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = io.WriteString(conn, "hello")
	answer := make([]byte, 5)
	_, err = io.ReadFull(conn, answer)
	fmt.Println(string(answer), err)
	_ = conn.Close()
	fmt.Println(server.Shutdown(ctx))
	// Output:
	// hello <nil>
	// <nil>
}
