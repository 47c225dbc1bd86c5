package tls_test

import (
	"bytes"
	stdtls "crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/handler/tls"
	"millrace.dev/internal/testcert"
)

// failure returns the error of the next event, which has to be one of type E.
func failure[E error](t *testing.T, c *collector) error {
	t.Helper()
	event := receive(t, "an error", c.events)
	want, ok := event.(E)
	if !ok {
		t.Fatalf("%T %v, want %T", event, event, want)
	}
	return want
}

// dialRaw connects without TLS.
func dialRaw(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	return conn
}

// A certificate that the client doesn't trust: both are told, and what was written fails.
func TestUntrustedCertificate(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, c configs) {
		c.client.RootCAs = x509.NewCertPool()
		server, client := newCollector(), newCollector()
		ch := dial(t, nil, serve(t, nil, c.server, server.add), c.client, client.add)
		f := ch.WriteAndFlush(buffer.CopyString("never sent"))
		err := failure[*tls.HandshakeError](t, client)
		if !errors.As(err, new(x509.UnknownAuthorityError)) {
			t.Errorf("the client got %v", err)
		}
		if _, err := f.Wait(within(t)); err == nil {
			t.Error("the write has succeeded")
		}
		if _, err := ch.CloseFuture().Wait(within(t)); err != nil {
			t.Error(err)
		}
		if err := failure[*tls.HandshakeError](t, server); !strings.Contains(err.Error(), "bad certificate") {
			t.Errorf("the server got %v", err)
		}
	})
}

// What isn't TLS is refused with an alert, or its end, however it is cut.
func TestNotTLS(t *testing.T) {
	t.Parallel()
	for _, input := range []string{"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\xff\xff", "\x16\x03\x01\x00\x05hello", "\x17\x03\x03\x00\x01x"} {
		for _, piece := range []int{len(input), 1} {
			server := newCollector()
			conn := dialRaw(t, serve(t, nil, newConfigs(stdtls.VersionTLS13).server, server.add))
			for rest := input; rest != ""; rest = rest[min(piece, len(rest)):] {
				if _, err := io.WriteString(conn, rest[:min(piece, len(rest))]); err != nil {
					break // it has seen enough
				}
			}
			if len(input) == 5 {
				_, _ = conn.Write(make([]byte, 100))
			}
			_ = failure[*tls.HandshakeError](t, server)
			if event := receive(t, "the end", server.events); event != "inactive" {
				t.Errorf("%q: %v", input, event)
			}
			if _, err := io.ReadAll(conn); err != nil && !isReset(err) {
				t.Error(err)
			}
		}
	}
}

func isReset(err error) bool { return strings.Contains(err.Error(), "reset") }

// A client that goes away in the middle of its handshake leaves nothing behind.
func TestClientGoesDuringTheHandshake(t *testing.T) {
	t.Parallel()
	hello := clientHello(t)
	for n := range len(hello) {
		if n > 10 && n%37 != 0 && n < len(hello)-1 {
			continue
		}
		server := newCollector()
		conn := dialRaw(t, serve(t, nil, newConfigs(stdtls.VersionTLS13).server, server.add))
		if _, err := conn.Write(hello[:n]); err != nil {
			t.Fatal(err)
		}
		conn.Close()
		for event := any(nil); event != "inactive"; {
			event = receive(t, "the end", server.events)
			if _, ok := event.(*tls.HandshakeDone); ok {
				t.Fatal("a handshake")
			}
		}
	}
}

// clientHello returns the first flight of a client.
func clientHello(t *testing.T) []byte {
	t.Helper()
	a, b := net.Pipe()
	t.Cleanup(func() { a.Close(); b.Close() })
	go func() { _ = stdtls.Client(a, newConfigs(stdtls.VersionTLS13).client).Handshake() }()
	p := make([]byte, 16<<10)
	n, err := b.Read(p)
	if err != nil {
		t.Fatal(err)
	}
	return p[:n]
}

// A handshake that takes too long is given up: the server's while nothing or a part of the
// first record has come, the client's while it waits.
func TestHandshakeTimeout(t *testing.T) {
	t.Parallel()
	c := newConfigs(stdtls.VersionTLS13)
	hello := clientHello(t)
	for _, test := range []struct {
		name string
		h    *tls.Handler
		in   []byte
	}{
		{"nothing", tls.NewServer(c.server, tls.Options{}), nil},
		{"a part of a record", tls.NewServer(c.server, tls.Options{}), hello[:100]},
		{"a record", tls.NewServer(c.server, tls.Options{}), hello},
		{"a silent server", tls.NewClient(c.client, tls.Options{}), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ch := embedded.New(test.h)
			defer ch.Finish()
			f := ch.WriteAndFlush(buffer.CopyString("waits"))
			if test.in != nil {
				_ = ch.WriteInbound(buffer.Copy(test.in))
			}
			ch.Advance(tls.DefaultHandshakeTimeout - time.Millisecond)
			if err := ch.Err(); err != nil || !ch.IsOpen() || f.IsDone() {
				t.Fatalf("too early: %v", err)
			}
			ch.Advance(time.Second)
			if err := ch.Err(); !errors.Is(err, os.ErrDeadlineExceeded) || !errors.Is(err, tls.ErrHandshakeTimeout) || ch.IsOpen() {
				t.Errorf("open %v, %v", ch.IsOpen(), err)
			}
			if !errors.Is(f.Err(), tls.ErrHandshakeTimeout) {
				t.Errorf("the write: %v", f.Err())
			}
		})
	}
}

// A callback that panics fails its handshake and nothing else.
func TestPanicOfACallback(t *testing.T) {
	t.Parallel()
	c := newConfigs(stdtls.VersionTLS13)
	c.server.GetConfigForClient = func(hello *stdtls.ClientHelloInfo) (*stdtls.Config, error) {
		panic("for " + hello.Conn.LocalAddr().Network() + " " + hello.Conn.RemoteAddr().Network())
	}
	server := newCollector()
	conn := dialStd(t, serve(t, nil, c.server, server.add), c.client)
	if err := conn.Handshake(); err == nil {
		t.Error("a handshake")
	}
	if err := failure[*tls.HandshakeError](t, server); !strings.Contains(err.Error(), "panic: for tcp tcp") {
		t.Error(err)
	}
}

// An end without close_notify is told from one with it.
func TestTruncation(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, c configs) {
		server := newCollector()
		conn := dialStd(t, serve(t, halfClosure, c.server, server.add), c.client)
		if _, err := conn.Write([]byte("some")); err != nil {
			t.Fatal(err)
		}
		if got := string(server.take(t, 4)); got != "some" {
			t.Errorf("%q", got)
		}
		_ = conn.NetConn().(*net.TCPConn).CloseWrite()
		receive(t, "the handshake", server.events)
		if e := receive(t, "the end", server.events).(*tls.Closed); e.Err != tls.ErrTruncated {
			t.Errorf("%v", e.Err)
		}
		if d := receive(t, "the end", server.events); d != channel.Inbound {
			t.Errorf("%v", d)
		}
	})
}

// tamper changes the n-th byte that is written through it.
type tamper struct {
	net.Conn
	n int
}

func (c *tamper) Write(p []byte) (int, error) {
	q := bytes.Clone(p)
	if c.n >= 0 && c.n < len(q) {
		q[c.n] ^= 1
	}
	c.n -= len(q)
	return c.Conn.Write(q)
}

// A record that was changed on the way ends the connection, with an alert, and nothing of it
// is passed on.
func TestTampering(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, c configs) {
		for _, n := range []int{0, 3, 4, 5, 20, 100} { // type, length, sealed bytes
			server := newCollector()
			raw := &tamper{dialRaw(t, serve(t, nil, c.server, server.add)), -1}
			conn := stdtls.Client(raw, c.client)
			if err := conn.Handshake(); err != nil {
				t.Fatal(err)
			}
			receive(t, "the handshake", server.events)
			raw.n = n
			if _, err := conn.Write(make([]byte, 200)); err != nil {
				t.Fatal(err)
			}
			_ = conn.NetConn().(*tamper).Conn.(*net.TCPConn).CloseWrite()
			event := receive(t, "the end", server.events)
			if _, ok := event.(*tls.RecordError); !ok && n > 4 {
				t.Errorf("byte %d: %v", n, event)
			}
			if len(server.got) > 0 {
				t.Errorf("byte %d: something was passed on", n)
			}
			if _, err := conn.Read(make([]byte, 1)); err == nil {
				t.Errorf("byte %d: the connection goes on", n)
			}
		}
	})
}

// Only bytes and files can be encrypted.
func TestUnsupportedMessage(t *testing.T) {
	t.Parallel()
	ch := embedded.New(tls.NewClient(newConfigs(0).client, tls.Options{}))
	defer ch.Finish()
	if err := ch.Write("text").Err(); !errors.Is(err, channel.ErrUnsupportedMessage) {
		t.Error(err)
	}
}

// A handler that was added a second time would mix the records of two connections.
func TestAddedTwice(t *testing.T) {
	t.Parallel()
	h := tls.NewClient(testcert.Client(), tls.Options{})
	first, second := embedded.New(h), embedded.New(h)
	defer first.Finish()
	defer second.Finish()
	if err := second.Err(); err == nil || !strings.Contains(err.Error(), "was added before") {
		t.Errorf("added twice: %v", err)
	}
}
