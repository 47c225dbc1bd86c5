// Command proxy passes TCP connections on to another server:
//
//	proxy -listen 127.0.0.1:7009 -to 127.0.0.1:8080
//
// Each side is read from only as fast as the other one takes it, and either may end its
// direction before the other.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"os"
	"os/signal"
	"time"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
	"millrace.dev/future"
	"millrace.dev/handler/timeout"
)

// config is for the connections of both sides: they are read from once they have a peer.
func config() *channel.Config {
	c := channel.NewConfig()
	c.AutoRead = false
	c.AllowHalfClosure = true
	return c
}

// giveUp ends a connection that takes nothing for a minute.
func giveUp(ch *channel.Channel) error {
	return ch.Pipeline().AddLast("timeout", timeout.NewWrite(time.Minute))
}

// newServer returns a proxy for a backend.
func newServer(backend net.Addr) *bootstrap.Server {
	client := &bootstrap.Client{Init: giveUp, Config: config()}
	return &bootstrap.Server{Config: config(), Init: func(near *channel.Channel) error {
		if err := giveUp(near); err != nil {
			return err
		}
		return near.Pipeline().AddLast("connect", &connector{client, backend})
	}}
}

// connector connects to the backend for a client, on the loop of the client's channel: so
// the two need neither locks nor a hand-over between goroutines.
type connector struct {
	client  *bootstrap.Client
	backend net.Addr
}

func (c *connector) OnActive(ctx *channel.Context) {
	near := ctx.Channel()
	c.client.ConnectOn(ctx.Loop(), c.backend).OnComplete(func(f future.Future[*channel.Channel]) {
		far, err := f.Result()
		if err != nil {
			log.Print(err)
			near.Close()
			return
		}
		if err := join(near, far); err != nil { // one of them has closed already
			near.Close()
			far.Close()
		}
	})
}

func main() {
	listen := flag.String("listen", "127.0.0.1:7009", "address to listen on")
	to := flag.String("to", "127.0.0.1:8080", "address of the server behind")
	flag.Parse()
	backend, err := bootstrap.ResolveAddr("tcp", *to)
	if err != nil {
		log.Fatal(err)
	}
	server := newServer(backend)
	if _, err := server.Listen("tcp", *listen); err != nil {
		log.Fatal(err)
	}

	interrupted, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	<-interrupted.Done()
	stop() // a second signal ends the program at once
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		log.Print(err)
	}
}
