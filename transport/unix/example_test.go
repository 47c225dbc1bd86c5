//go:build linux

package unix_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
	"millrace.dev/transport/unix"
)

type echo struct{}

func (echo) OnRead(ctx *channel.Context, msg any) { ctx.WriteAndFlush(msg) }

// A server on a socket that only its owner may use.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	server := &bootstrap.Server{
		Transport: unix.New(unix.Options{Mode: 0o600, RemoveStale: true}),
		Init:      func(ch *channel.Channel) error { return ch.Pipeline().AddLast("echo", echo{}) },
	}
	ln, err := server.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		fmt.Println(err)
		return
	}
	conn, err := net.Dial("unix", ln.LocalAddr().String())
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
