package http1

import (
	"testing"
	"unsafe"

	"millrace.dev/codec/http"
)

// What an idle connection keeps: there are many of them.
func TestIdleConnectionsAreSmall(t *testing.T) {
	t.Parallel()
	d := NewRequestDecoder(http.Limits{})
	if n := unsafe.Sizeof(*d); n > 128 {
		t.Errorf("a RequestDecoder has %d bytes", n)
	}
	if n := unsafe.Sizeof(ServerCodec{}); n > 80 {
		t.Errorf("a ServerCodec has %d bytes", n)
	}
	if _, err := decode(d, goodRequests()[0].input+post("5\r\nhello\r\n0\r\nA: b\r\n\r\n"), 3); err != nil {
		t.Fatal(err)
	}
	if d.req != nil || d.body.trailer != nil {
		t.Error("an idle decoder holds memory")
	}
	s := serve(t, ServerOptions{}, hello)
	s.in(follower + follower)
	if c := s.codec; c.in != nil || c.work != nil {
		t.Error("an idle codec holds memory")
	}
}
