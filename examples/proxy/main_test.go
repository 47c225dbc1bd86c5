package main

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel/embedded"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

const patience = time.Minute

// through returns a connection to a backend by way of a proxy.
func through(t *testing.T, backend func(c *net.TCPConn)) *net.TCPConn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		c, err := l.Accept()
		if err != nil {
			return // the test has ended
		}
		defer c.Close()
		backend(c.(*net.TCPConn))
	}()
	server := newServer(l.Addr())
	ln, err := server.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", ln.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() {
		c.Close()
		l.Close()
		<-over
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return c.(*net.TCPConn)
}

func random(n int) []byte {
	p := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return p
}

// Each side says all that it has, and that this is all, before it listens.
func TestBothWays(t *testing.T) {
	t.Parallel()
	question, answer := random(3_000_000), random(2_000_000)
	got := make(chan []byte, 1)
	c := through(t, func(c *net.TCPConn) {
		b, _ := io.ReadAll(c)
		got <- b
		_, _ = c.Write(answer)
	})
	if _, err := c.Write(question); err != nil {
		t.Fatal(err)
	}
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(<-got, question) {
		t.Error("the backend got something else")
	}
	if b, err := io.ReadAll(c); err != nil || !bytes.Equal(b, answer) {
		t.Errorf("the client got something else: %d bytes, %v", len(b), err)
	}
}

// What was sent before the end arrives, although the sender has gone by then.
func TestTheLastBytes(t *testing.T) {
	t.Parallel()
	sent := random(1_000_000)
	gone := make(chan struct{})
	got := make(chan []byte, 1)
	c := through(t, func(c *net.TCPConn) {
		_ = c.CloseWrite()
		<-gone
		b, _ := io.ReadAll(c)
		got <- b
	})
	if _, err := io.ReadAll(c); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = c.Write(sent)
		c.Close()
		close(gone)
	}()
	if b := <-got; !bytes.Equal(b, sent) {
		t.Errorf("%d bytes of %d arrived", len(b), len(sent))
	}
}

func TestNoBackend(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // nobody listens there now
	server := newServer(l.Addr())
	ln, err := server.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", ln.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if n, err := io.Copy(io.Discard, c); n != 0 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		t.Error(err)
	}
}

// A side that takes nothing stops the other, and only it.
func TestBackPressure(t *testing.T) {
	t.Parallel()
	near, far := embedded.NewConfig(config()), embedded.NewConfig(config())
	defer far.Finish()
	defer near.Finish()
	if err := join(near.Channel, far.Channel); err != nil {
		t.Fatal(err)
	}
	far.SetTransportWritable(false)
	piece := strings.Repeat("x", far.Config().WriteBufferHigh/2+1)
	for range 2 {
		if err := near.WriteInbound(buffer.CopyString(piece)); err != nil {
			t.Fatal(err)
		}
	}
	far.RunPending() // each has a loop of its own here
	if near.Reading() || !far.Reading() {
		t.Fatalf("the fast side is read from: %t, the slow one: %t", near.Reading(), far.Reading())
	}
	far.SetTransportWritable(true)
	near.RunPending()
	if !near.Reading() {
		t.Error("doesn't read on")
	}
}
