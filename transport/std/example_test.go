package std_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
	"millrace.dev/loop"
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

// A channel over a net.Conn that came from elsewhere, such as tls.Dial.
func ExampleNewConnFrom() {
	group, err := loop.NewGroup(loop.Options{Loops: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	given, other := net.Pipe()
	ch := channel.New(group.Next(), std.NewConnFrom(given), nil, nil)
	if err := ch.Pipeline().AddLast("echo", echo{}); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := ch.Register().Wait(ctx); err != nil { // it is connected already
		fmt.Println(err)
		return
	}
	_, _ = io.WriteString(other, "hello")
	answer := make([]byte, 5)
	_, err = io.ReadFull(other, answer)
	fmt.Println(string(answer), err)
	_ = other.Close()
	_, err = ch.CloseFuture().Wait(ctx)
	fmt.Println(err)
	_, _ = group.Shutdown(0, time.Second).Wait(ctx)
	// Output:
	// hello <nil>
	// <nil>
}
