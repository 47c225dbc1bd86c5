package blackhole_test

import (
	"testing"

	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/internal/blackhole"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

// echo sends back what comes.
type echo struct{}

func (echo) OnRead(ctx *channel.Context, msg any) { ctx.WriteAndFlush(msg) }

func TestConnTakesEverything(t *testing.T) {
	c := blackhole.Connect(t, echo{})
	for range 3 {
		blackhole.Receive(c, "hello")
	}
	if c.Bytes != 15 {
		t.Errorf("%d bytes, want 15", c.Bytes)
	}
}
