package streams

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// serve runs net/http's server over h2c.
func serve(t *testing.T, most int, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: most}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// waitForNone waits until no stream is alive.
func waitForNone(t *testing.T, h *Herd) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); h.Alive() > 0; {
		if time.Now().After(deadline) {
			t.Fatal("still alive")
		}
	}
}

func TestHerd(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 6)
	s := serve(t, 3, func(_ http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		<-r.Context().Done()
	})
	h, err := Open(t.Context(), s.Listener.Addr().String(), "/quiet", 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for range cap(asked) {
		if path := <-asked; path != "/quiet" {
			t.Errorf("asked for %s", path)
		}
	}
	if got := h.Alive(); got != 6 {
		t.Errorf("%d alive, want 6", got)
	}
	h.conns[0].Close()
	if got := h.Alive(); got != 3 {
		t.Errorf("%d alive without the first connection, want 3", got)
	}
}

func TestStreamsThatAreResetAreNotAlive(t *testing.T) {
	t.Parallel()
	reset := make(chan struct{})
	s := serve(t, 2, func(_ http.ResponseWriter, r *http.Request) {
		if <-reset; r.ProtoMajor == 2 {
			panic(http.ErrAbortHandler)
		}
	})
	h, err := Open(t.Context(), s.Listener.Addr().String(), "/", 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	close(reset)
	waitForNone(t, h)
}

func TestOpenReportsWhatIsWrong(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	few := serve(t, 2, func(http.ResponseWriter, *http.Request) {})
	old := httptest.NewServer(http.NotFoundHandler())
	defer old.Close()
	for want, addr := range map[string]string{
		"after 0 connections": ln.Addr().String(),
		"takes 2 streams":     few.Listener.Addr().String(),
		"frame":               old.Listener.Addr().String(),
	} {
		if _, err := Open(t.Context(), addr, "/", 1, 3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestAnAnsweredStreamIsAnError(t *testing.T) {
	t.Parallel()
	s := serve(t, 10, func(http.ResponseWriter, *http.Request) {})
	h, err := Open(t.Context(), s.Listener.Addr().String(), "/", 1, 1)
	if err == nil { // the answer came behind the ping's
		defer h.Close()
		waitForNone(t, h)
		return
	}
	if !strings.Contains(err.Error(), "stream 1 is answered") {
		t.Error(err)
	}
}
