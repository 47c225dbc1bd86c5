package local_test

import (
	"context"
	"testing"
	"time"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/loop"
	"millrace.dev/transport/local"
)

type echo struct{}

func (echo) OnRead(ctx *channel.Context, msg any) { ctx.Write(msg) }
func (echo) OnReadComplete(ctx *channel.Context)  { ctx.Flush() }

type sink struct{ got chan string }

func (s sink) OnRead(ctx *channel.Context, msg any) {
	b := msg.(*buffer.Buffer)
	s.got <- string(b.Bytes())
	b.Close()
}

func TestSmoke(t *testing.T) {
	g, _ := loop.NewGroup(loop.Options{Loops: 2})
	tr := local.New(local.Options{})
	s := &bootstrap.Server{Group: g, Transport: tr, Init: func(ch *channel.Channel) error { return ch.Pipeline().AddLast("", echo{}) }}
	ctx, c := context.WithTimeout(context.Background(), 5*time.Second)
	defer c()
	l, err := s.Bind(local.Addr("x")).Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 10)
	cl := &bootstrap.Client{Group: g, Transport: tr, Init: func(ch *channel.Channel) error { return ch.Pipeline().AddLast("", sink{got}) }}
	ch, err := cl.Connect(l.LocalAddr()).Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ch.WriteAndFlush(buffer.CopyString("hello")).Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if s := <-got; s != "hello" {
		t.Fatal(s)
	}
	ch.Close()
	if err := s.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Shutdown(0, time.Second).Wait(ctx); err != nil {
		t.Fatal(err)
	}
}
