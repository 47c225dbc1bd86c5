package tls_test

import (
	"bytes"
	stdtls "crypto/tls"
	"io"
	"math/rand/v2"
	"reflect"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/handler/tls"
)

// random returns n bytes that are the same in every run.
func random(n int) []byte {
	p := make([]byte, n)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return p
}

// Content of every size goes both ways between this server and crypto/tls.
func TestServerWithStandardClient(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, c configs) {
		conn := dialStd(t, serve(t, nil, c.server, addEcho), c.client)
		for _, n := range []int{1, 100, 16<<10 - 1, 16 << 10, 16<<10 + 1, 1 << 20} {
			sent := random(n)
			go func() { _, _ = conn.Write(sent) }()
			if !bytes.Equal(readFull(t, conn, n), sent) {
				t.Errorf("%d bytes come back changed", n)
			}
		}
	})
}

// The same with this client: between itself and this server.
func TestClientAndServer(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, c configs) {
		got := newCollector()
		ch := dial(t, nil, serve(t, nil, c.server, addEcho), c.client, got.add)
		for _, n := range []int{1, 100, 5000, 16<<10 + 1, 1 << 20} {
			sent := random(n)
			for part := range splits(sent) {
				ch.Write(buffer.Copy(part))
			}
			f := ch.WriteAndFlush(buffer.New(0))
			if !bytes.Equal(got.take(t, n), sent) {
				t.Errorf("%d bytes come back changed", n)
			}
			if _, err := f.Wait(within(t)); err != nil {
				t.Error(err)
			}
		}
		done := receive(t, "the handshake", got.events).(*tls.HandshakeDone)
		if s := done.State(); !s.HandshakeComplete || s.Version != c.client.MaxVersion {
			t.Errorf("%+v", s)
		}
	})
}

// splits yields p in pieces of many sizes.
func splits(p []byte) func(yield func([]byte) bool) {
	r := rand.New(rand.NewPCG(2, uint64(len(p))))
	return func(yield func([]byte) bool) {
		for len(p) > 0 {
			n := min(len(p), 1+r.IntN(1<<r.IntN(17)))
			if !yield(p[:n]) {
				return
			}
			p = p[n:]
		}
	}
}

// ALPN: what is chosen is in the event.
func TestNegotiatedProtocol(t *testing.T) {
	t.Parallel()
	c := newConfigs(stdtls.VersionTLS13)
	c.server.NextProtos = []string{"h2", "http/1.1"}
	c.client.NextProtos = []string{"http/1.1", "h2"}
	server, client := newCollector(), newCollector()
	dial(t, nil, serve(t, nil, c.server, server.add), c.client, client.add)
	for _, side := range []*collector{server, client} {
		if p := receive(t, "the handshake", side.events).(*tls.HandshakeDone).NegotiatedProtocol(); p != "h2" {
			t.Errorf("%q was chosen", p)
		}
	}
}

// A half-closed connection, ended by close_notify both ways.
func TestHalfClosure(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, c configs) {
		conn := dialStd(t, serve(t, halfClosure, c.server, addEcho), c.client)
		sent := random(300_000)
		go func() {
			_, _ = conn.Write(sent)
			_ = conn.CloseWrite()
		}()
		got, err := io.ReadAll(conn)
		if err != nil || !bytes.Equal(got, sent) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		client := newCollector()
		ch := dial(t, halfClosure, serve(t, halfClosure, c.server, addEcho), c.client, client.add)
		ch.Write(buffer.Copy(sent))
		f := ch.Shutdown(channel.Outbound)
		if !bytes.Equal(client.take(t, len(sent)), sent) {
			t.Error("not what was sent")
		}
		if _, err := f.Wait(within(t)); err != nil {
			t.Error(err)
		}
		for _, want := range []any{"handshake", &tls.Closed{}, channel.Inbound} {
			event := receive(t, "an event", client.events)
			if event == channel.Outbound { // at any time
				event = receive(t, "an event", client.events)
			}
			if _, ok := event.(*tls.HandshakeDone); ok {
				event = "handshake"
			}
			if !reflect.DeepEqual(event, want) {
				t.Errorf("%v, want %v", event, want)
			}
		}
	})
}
