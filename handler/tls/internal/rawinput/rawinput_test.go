package rawinput

import (
	"crypto/tls"
	"io"
	"net"
	"testing"

	"millrace.dev/internal/testcert"
)

// pair returns the two ends of a connection.
func pair(t *testing.T) (server, client *tls.Conn) {
	t.Helper()
	a, b := net.Pipe()
	t.Cleanup(func() { a.Close(); b.Close() })
	server, client = tls.Server(a, testcert.Server()), tls.Client(b, testcert.Client())
	done := make(chan error)
	go func() { done <- server.Handshake() }()
	if err := client.Handshake(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return server, client
}

// This version of crypto/tls has the field. If a new one has not, connections keep their
// buffers, and this test says why they have become larger.
func TestSupported(t *testing.T) {
	if !Supported() {
		t.Error("tls.Conn has no rawInput: bytes.Buffer any more")
	}
}

// A field that isn't there, or is something else, is left alone.
func TestUnknownField(t *testing.T) {
	for _, name := range []string{"noSuchField", "conn"} {
		if at := find(name); at != unknown {
			t.Errorf("%s: found at %d", name, at)
		}
	}
}

// Records are received in the memory that was lent, which is grown if need be and given back.
func TestLend(t *testing.T) {
	server, client := pair(t)
	Return(server) // what the handshake needed
	memory := make([]byte, 0, 1<<10)
	for _, n := range []int{1, 100, 16 << 10} {
		go func() { _, _ = client.Write(make([]byte, n)) }()
		Lend(server, memory)
		if _, err := io.ReadFull(server, make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		if Held(server) != 0 {
			t.Errorf("%d bytes are held", Held(server))
		}
		back := Return(server)
		if grown := n > 1<<10; len(back) != 0 || cap(back) < cap(memory) || (&back[:1][0] == &memory[:1][0]) == grown {
			t.Errorf("%d bytes: %d of capacity came back", n, cap(back))
		}
		memory = back
		if again := Return(server); cap(again) != 0 {
			t.Error("something is left")
		}
	}
}

// What has been received stays where it is.
func TestReturnOfUnread(t *testing.T) {
	server, client := pair(t)
	Return(server)
	go func() { _, _ = client.Write([]byte("one")) }()
	Lend(server, make([]byte, 0, 1<<10))
	of(server).WriteString("\x17\x03") // of a record whose rest has not come
	if m := Return(server); m != nil || Held(server) != 2 {
		t.Errorf("%d bytes held, %v came back", Held(server), m)
	}
	Lend(server, nil)
	if Held(server) != 2 {
		t.Error("they were lost to new memory")
	}
}
