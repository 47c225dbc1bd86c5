// Command upper sends back what it is sent, in capitals: a handler, and its test without a
// network.
package main

import (
	"context"
	"log"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
)

func main() {
	server := &bootstrap.Server{Init: func(ch *channel.Channel) error {
		return ch.Pipeline().AddLast("upper", upper{})
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
