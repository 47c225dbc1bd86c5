package bootstrap_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
)

// The defaults of the platform: TCP, on Linux one listener for each loop on one port.
func TestDefaultTransport(t *testing.T) {
	t.Parallel()
	ctx := within(t)
	group := newGroup(t, 2)
	s := &bootstrap.Server{Group: group, Init: add(echo{})}
	l, err := s.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range s.Listeners() {
		if other.LocalAddr().String() != l.LocalAddr().String() {
			t.Errorf("one listens on %v, another one on %v", l.LocalAddr(), other.LocalAddr())
		}
	}
	for range 4 {
		nc, err := net.Dial("tcp", l.LocalAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		want := bytes.Repeat([]byte("echo"), 1000)
		if _, err := nc.Write(want); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(nc, got); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%v, or the bytes came back changed", err)
		}
		_ = nc.Close()
	}
	if err := s.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestDial(t *testing.T) {
	t.Parallel()
	ctx := within(t)
	group := newGroup(t, 1)
	s := &bootstrap.Server{Group: group, Init: add(echo{})}
	l, err := s.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &bootstrap.Client{Group: group, Init: add(newObserver())}
	ch, err := c.Dial(ctx, "tcp", l.LocalAddr().String())
	if err != nil || !ch.IsActive() {
		t.Fatalf("%v, %v", ch, err)
	}
	if _, err := c.Dial(ctx, "tcp", "no port"); err == nil {
		t.Error("dialled an address without a port")
	}
	if _, err := c.Dial(expired(), "tcp", l.LocalAddr().String()); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("dialled with a context that is done: %v", err)
	}
	if err := s.Shutdown(expired()); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := ch.CloseFuture().Wait(ctx); err != nil {
		t.Error(err)
	}
}

type echo struct{}

func (echo) OnRead(ctx *channel.Context, msg any)  { ctx.Write(msg) }
func (echo) OnReadComplete(ctx *channel.Context)   { ctx.Flush() }
func (echo) OnError(ctx *channel.Context, _ error) { ctx.Close() }
