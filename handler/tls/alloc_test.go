package tls_test

import (
	stdtls "crypto/tls"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/handler/tls"
	"millrace.dev/internal/allocs"
)

// shuttle carries what two embedded channels have to say to each other.
func shuttle(t testing.TB, a, b *embedded.Channel) (moved bool) {
	t.Helper()
	for _, way := range [][2]*embedded.Channel{{a, b}, {b, a}} {
		way[0].RunPending()
		for msg := way[0].ReadOutbound(); msg != nil; msg = way[0].ReadOutbound() {
			if err := way[1].WriteInbound(msg); err != nil {
				t.Fatal(err)
			}
			moved = true
		}
	}
	return moved
}

// sink counts and closes what comes.
type sink struct{ n int }

func (s *sink) OnRead(_ *channel.Context, msg any) {
	b := msg.(*buffer.Buffer)
	s.n += b.Len()
	b.Close()
}

// established returns the two ends of a connection whose handshake is done.
func established(t testing.TB, c configs) (server, client *embedded.Channel, received *sink) {
	t.Helper()
	done := 0
	count := eventFunc(func(event any) {
		if _, ok := event.(*tls.HandshakeDone); ok {
			done++
		}
	})
	received = &sink{}
	server = embedded.New(tls.NewServer(c.server, tls.Options{}), count, received)
	client = embedded.New(tls.NewClient(c.client, tls.Options{}), count, &sink{})
	deadline := within(t)
	for done < 2 || shuttle(t, server, client) {
		shuttle(t, server, client)
		if deadline.Err() != nil {
			t.Fatal("no handshake")
		}
	}
	return server, client, received
}

type eventFunc func(event any)

func (f eventFunc) OnEvent(_ *channel.Context, event any) { f(event) }

// A message costs what crypto/tls allocates for it, and nothing of ours: no promise and no
// closure, and buffers only because an embedded channel's allocator does not pool them.
func TestAllocations(t *testing.T) {
	allocs.Need(t)
	buffertest.Level(t, buffer.Disabled)
	server, client, received := established(t, newConfigs(stdtls.VersionTLS13))
	defer server.Finish()
	defer client.Finish()
	message := make([]byte, 1000)
	step := func() {
		b := client.Allocator().Allocate(len(message))
		b.Write(message)
		client.WriteAndFlush(b)
		client.RunPending()
		_ = server.WriteInbound(client.ReadOutbound())
	}
	step()
	before := received.n
	const (
		buffers  = 4 * 2 // the message, what is gathered, the record, what it is decrypted into
		embedded = 2     // lists of the two channels
		std      = 2     // readers of a record's head and content
	)
	got := testing.AllocsPerRun(100, step)
	if received.n != before+101*len(message) {
		t.Fatalf("%d bytes have come", received.n-before)
	}
	if got > buffers+embedded+std {
		t.Errorf("%v allocations a message", got)
	}
}
