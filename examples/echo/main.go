// Command echo sends back what it is sent, as fast as the client takes it.
package main

import (
	"context"
	"log"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
)

// echo writes what it reads: the buffers that come in are the ones that go out.
type echo struct{}

func (echo) OnRead(ctx *channel.Context, msg any) { ctx.Write(msg) }

func (echo) OnReadComplete(ctx *channel.Context) { ctx.Flush() }

// OnWritability is the back pressure: while more waits to be sent than the watermark
// allows, nothing is read, and so the client is slowed down.
func (echo) OnWritability(ctx *channel.Context, writable bool) {
	ctx.Channel().SetAutoRead(writable)
}

func main() {
	server := &bootstrap.Server{Init: func(ch *channel.Channel) error {
		return ch.Pipeline().AddLast("echo", echo{})
	}}
	ln, err := server.Listen("tcp", "127.0.0.1:7007")
	if err != nil {
		log.Fatal(err)
	}
	log.Println("try: nc 127.0.0.1 7007")
	if _, err := ln.CloseFuture().Wait(context.Background()); err != nil {
		log.Fatal(err)
	}
}
