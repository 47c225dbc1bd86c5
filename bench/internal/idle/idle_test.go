package idle

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

var request = []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n")

func addrOf(t *testing.T, a net.Addr) netip.AddrPort {
	t.Helper()
	addr, err := netip.ParseAddrPort(a.String())
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

func TestHerd(t *testing.T) {
	t.Parallel()
	if err := RaiseLimit(2*burst + 50); err != nil {
		t.Skip(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "hello")
	}))
	defer s.Close()
	h, err := Open(t.Context(), addrOf(t, s.Listener.Addr()), burst+50, request)
	if err != nil {
		t.Fatal(err)
	}
	if got := h.Alive(); got != burst+50 {
		t.Errorf("%d alive, want %d", got, burst+50)
	}
	s.CloseClientConnections()
	deadline := time.Now().Add(time.Minute)
	for h.Alive() > 0 { // the kernel may still be delivering the last FIN
		if time.Now().After(deadline) {
			t.Fatalf("%d alive after the server closed them", h.Alive())
		}
	}
	h.Close()
}

func TestOpenReportsARefusal(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := addrOf(t, ln.Addr())
	ln.Close()
	if _, err := Open(t.Context(), addr, 1, request); err == nil || !strings.HasPrefix(err.Error(), "after 0 ") {
		t.Errorf("got %v", err)
	}
}

func TestOpenReportsABadAnswer(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	_, err := Open(t.Context(), addrOf(t, s.Listener.Addr()), 1, request)
	if err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("got %v", err)
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	const whole = "HTTP/1.1 200 OK\r\nDate: x\r\ncontent-length: 5\r\n\r\nhello"
	for i := range whole {
		if ok, err := complete([]byte(whole[:i])); ok || err != nil {
			t.Errorf("%d bytes: %v, %v", i, ok, err)
		}
	}
	if ok, err := complete([]byte(whole)); !ok || err != nil {
		t.Errorf("whole: %v, %v", ok, err)
	}
	for _, s := range []string{
		whole + "x",
		"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
	} {
		if ok, err := complete([]byte(s)); ok || err == nil {
			t.Errorf("%q: %v, %v", s, ok, err)
		}
	}
}

func TestSourcesDiffer(t *testing.T) {
	t.Parallel()
	if source(0) != [4]byte{127, 0, 0, 1} || source(perSource) != [4]byte{127, 0, 0, 2} ||
		source(perSource*250) != source(0) {
		t.Error("sources do not go round 127.0.0.1 to 127.0.0.250")
	}
}
