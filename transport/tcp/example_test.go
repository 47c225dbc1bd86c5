//go:build linux

package tcp_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
	"millrace.dev/transport/tcp"
)

type echo struct{}

func (echo) OnRead(ctx *channel.Context, msg any) { ctx.WriteAndFlush(msg) }

// A server with options of its own: one listener for each loop, and probes that find out
// about peers that have gone without a word.
func Example() {
	server := &bootstrap.Server{
		Transport: tcp.New(tcp.Options{
			ReusePort:   true,
			KeepAlive:   tcp.KeepAlive{Idle: time.Minute, Interval: 10 * time.Second, Count: 3},
			UserTimeout: 30 * time.Second,
		}),
		Init: func(ch *channel.Channel) error { return ch.Pipeline().AddLast("echo", echo{}) },
	}
	ln, err := server.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	conn, err := net.Dial("tcp", ln.LocalAddr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = io.WriteString(conn, "hello")
	answer := make([]byte, 5)
	_, err = io.ReadFull(conn, answer)
	fmt.Println(string(answer), err)
	_ = conn.Close()
	fmt.Println(server.Shutdown(context.Background()))
	// Output:
	// hello <nil>
	// <nil>
}
