package tls_test

import (
	"bytes"
	"context"
	stdtls "crypto/tls"
	"io"
	"net"
	"testing"
	"time"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/handler/tls"
	"millrace.dev/internal/testcert"
	"millrace.dev/loop"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

// configs are those of a server and of a client that trusts it.
type configs struct{ server, client *stdtls.Config }

// newConfigs returns them with a highest version, 0 for the newest.
func newConfigs(version uint16) configs {
	c := configs{testcert.Server(), testcert.Client()}
	c.server.MaxVersion, c.client.MaxVersion = version, version
	return c
}

// eachVersion runs f over both versions.
func eachVersion(t *testing.T, f func(t *testing.T, c configs)) {
	for _, version := range []uint16{stdtls.VersionTLS12, stdtls.VersionTLS13} {
		t.Run(stdtls.VersionName(version), func(t *testing.T) {
			t.Parallel()
			f(t, newConfigs(version))
		})
	}
}

// within bounds a wait that a failure would make endless.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func receive[T any](t testing.TB, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-within(t).Done():
		t.Fatal("it never came: " + what)
	}
	return v
}

func newGroup(t testing.TB) *loop.Group {
	g, err := loop.NewGroup(loop.Options{Loops: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := g.Shutdown(0, time.Minute).Wait(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return g
}

var halfClosure = func() *channel.Config {
	c := channel.NewConfig()
	c.AllowHalfClosure = true
	return c
}()

// serve starts a server whose connections have the TLS handler and those of init.
func serve(t testing.TB, config *channel.Config, c *stdtls.Config, init func(p *channel.Pipeline) error) string {
	t.Helper()
	s := &bootstrap.Server{Group: newGroup(t), Config: config, Init: func(ch *channel.Channel) error {
		p := ch.Pipeline()
		if err := p.AddLast("tls", tls.NewServer(c, tls.Options{})); err != nil {
			return err
		}
		return init(p)
	}}
	ln, err := s.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.Shutdown(ctx)
	})
	return ln.LocalAddr().String()
}

// dial connects a channel with the TLS handler and those of init.
func dial(t testing.TB, config *channel.Config, addr string, c *stdtls.Config, init func(p *channel.Pipeline) error) *channel.Channel {
	t.Helper()
	client := &bootstrap.Client{Group: newGroup(t), Config: config, Init: func(ch *channel.Channel) error {
		p := ch.Pipeline()
		if err := p.AddLast("tls", tls.NewClient(c, tls.Options{})); err != nil {
			return err
		}
		return init(p)
	}}
	ch, err := client.Dial(within(t), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := ch.Close().Wait(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return ch
}

// dialStd connects crypto/tls.
func dialStd(t testing.TB, addr string, c *stdtls.Config) *stdtls.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	return stdtls.Client(conn, c)
}

// echo sends back what comes, with back pressure, and ends its direction when the peer has.
type echo struct{}

func (echo) OnRead(ctx *channel.Context, msg any)  { ctx.Write(msg) }
func (echo) OnReadComplete(ctx *channel.Context)   { ctx.Flush() }
func (echo) OnError(ctx *channel.Context, _ error) { ctx.Close() }
func (echo) OnWritability(ctx *channel.Context, writable bool) {
	ctx.Channel().SetAutoRead(writable)
}
func (echo) OnShutdown(ctx *channel.Context, d channel.Direction) {
	if d == channel.Inbound {
		ctx.Flush()
		ctx.Shutdown(channel.Outbound)
	}
}

func addEcho(p *channel.Pipeline) error { return p.AddLast("echo", echo{}) }

// collector keeps what comes, and tells of events and errors.
type collector struct {
	got    chan []byte
	events chan any
}

func newCollector() *collector {
	return &collector{make(chan []byte, 10_000), make(chan any, 100)}
}

func (c *collector) add(p *channel.Pipeline) error { return p.AddLast("collector", c) }

func (c *collector) OnRead(_ *channel.Context, msg any) {
	b := msg.(*buffer.Buffer)
	c.got <- bytes.Clone(b.Bytes())
	b.Close()
}
func (c *collector) OnEvent(_ *channel.Context, event any)              { c.events <- event }
func (c *collector) OnError(_ *channel.Context, err error)              { c.events <- err }
func (c *collector) OnInactive(*channel.Context)                        { c.events <- "inactive" }
func (c *collector) OnShutdown(_ *channel.Context, d channel.Direction) { c.events <- d }

// take returns the next n bytes.
func (c *collector) take(t testing.TB, n int) (got []byte) {
	t.Helper()
	for len(got) < n {
		got = append(got, receive(t, "input", c.got)...)
	}
	return got
}

func readFull(t testing.TB, r io.Reader, n int) []byte {
	t.Helper()
	p := make([]byte, n)
	if _, err := io.ReadFull(r, p); err != nil {
		t.Fatal(err)
	}
	return p
}
