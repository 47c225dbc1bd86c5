package local_test

import (
	"context"
	"fmt"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/loop"
	"millrace.dev/transport/local"
)

type echo struct{}

func (echo) OnRead(ctx *channel.Context, msg any) { ctx.WriteAndFlush(msg) }

type printer struct{}

func (printer) OnRead(ctx *channel.Context, msg any) {
	b := msg.(*buffer.Buffer)
	fmt.Println(string(b.Bytes()))
	b.Close()
	ctx.Close()
}

// A server and its client in one process, without a socket.
func Example() {
	ctx := context.Background()
	group, err := loop.NewGroup(loop.Options{Loops: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	network := local.New(local.Options{})
	server := &bootstrap.Server{Group: group, Transport: network, Init: func(ch *channel.Channel) error {
		return ch.Pipeline().AddLast("echo", echo{})
	}}
	client := &bootstrap.Client{Group: group, Transport: network, Init: func(ch *channel.Channel) error {
		return ch.Pipeline().AddLast("printer", printer{})
	}}
	if _, err := server.Bind(local.Addr("echo")).Wait(ctx); err != nil {
		fmt.Println(err)
		return
	}
	ch, err := client.Connect(local.Addr("echo")).Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	ch.WriteAndFlush(buffer.CopyString("through memory"))
	_, _ = ch.CloseFuture().Wait(ctx)
	_, _ = group.Shutdown(0, 0).Wait(ctx)
	// Output: through memory
}
