package httpserver_test

import (
	"bytes"
	"io"
	"log/slog"
	nethttp "net/http"
	"strings"
	"sync"
	"testing"

	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/httpserver"
)

// lines keeps what is logged.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// An answer that can't be sent, here for a field that would inject another, is a 500, and the
// log says why: the handler hardly listens to the future.
func TestAnswerThatCantBeSentIsLogged(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"HTTP/1.1", "HTTP/2.0"} {
		log := &lines{}
		config := channel.NewConfig()
		config.Logger = slog.New(slog.NewTextHandler(log, nil))
		s := &httpserver.Server{Config: config, Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
			r := http.NewResponse(200)
			r.Header.Add("X", "a\r\nSet-Cookie: b")
			x.RespondWith(r)
			return true
		})}
		if _, err := s.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		tr := &nethttp.Transport{Protocols: &nethttp.Protocols{}}
		tr.Protocols.SetHTTP1(version == "HTTP/1.1")
		tr.Protocols.SetUnencryptedHTTP2(version == "HTTP/2.0")
		r, err := (&nethttp.Client{Transport: tr}).Get("http://" + s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		r.Body.Close()
		if r.StatusCode != 500 || r.Proto != version || r.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d, %s, %v", version, r.StatusCode, r.Proto, r.Header)
		}
		if got := log.String(); strings.Count(got, "answer can't be sent") != 1 || !strings.Contains(got, http.ErrInvalidField.Error()) {
			t.Errorf("%s: logged %q", version, got)
		}
		tr.CloseIdleConnections()
		s.Close()
	}
}
