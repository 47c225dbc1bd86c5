// Command chat passes on to everybody what anybody says, line by line.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"
	"time"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
	"millrace.dev/channel/group"
	"millrace.dev/codec"
	"millrace.dev/handler/idle"
)

// enter fills the pipeline of somebody who comes into the room.
func enter(room *group.Group) func(ch *channel.Channel) error {
	return func(ch *channel.Channel) error {
		lines, err := codec.NewLineDecoder(codec.LineOptions{MaxLine: 1000})
		if err != nil {
			return err
		}
		decoder := codec.NewDecoderHandler(lines)
		decoder.KeepOpen = true // who talks too long is told so
		p := ch.Pipeline()
		return errors.Join(
			p.AddLast("idle", idle.New(idle.Options{Reader: 10 * time.Minute})),
			p.AddLast("lines", decoder),
			p.AddLast("person", &person{room: room}),
		)
	}
}

func main() {
	server := &bootstrap.Server{Init: enter(&group.Group{})}
	if _, err := server.Listen("tcp", "127.0.0.1:7008"); err != nil {
		log.Fatal(err)
	}
	log.Println("try in several windows: nc 127.0.0.1 7008")

	interrupted, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	<-interrupted.Done()
	stop() // a second signal ends the program at once
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		log.Println(err)
	}
}
