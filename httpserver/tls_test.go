package httpserver_test

import (
	"crypto/tls"
	"fmt"
	"io"
	nethttp "net/http"
	"strings"
	"testing"

	"millrace.dev/codec/http"
	"millrace.dev/httpserver"
	"millrace.dev/internal/testcert"
)

// httpsClient returns net/http's client, which offers HTTP/2 or not.
func httpsClient(t *testing.T, config *tls.Config, http2 bool) *nethttp.Client {
	t.Helper()
	tr := &nethttp.Transport{TLSClientConfig: config.Clone(), Protocols: new(nethttp.Protocols)}
	tr.Protocols.SetHTTP1(!http2)
	tr.Protocols.SetHTTP2(http2)
	t.Cleanup(tr.CloseIdleConnections)
	return &nethttp.Client{Transport: tr, Timeout: patience}
}

// The same handlers over TLS, with the version of HTTP that ALPN has chosen.
func TestTLS(t *testing.T) {
	t.Parallel()
	clientConfig := testcert.Client()
	s := newStd(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		fmt.Fprintf(w, "%s %t %s %s ", r.Proto, r.TLS.HandshakeComplete, r.TLS.NegotiatedProtocol, r.TLS.ServerName)
		_, _ = io.Copy(w, r.Body)
	}))
	s.TLS = testcert.Server()
	s.Native = httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		if string(x.Request().Path()) != "/native" {
			return false
		}
		x.Respond(200, "text/plain", []byte(x.Request().Version.String()))
		return true
	})
	addr := serve(t, s)
	content := strings.Repeat("content ", 50_000)
	for _, version := range []http.Version{http.HTTP11, http.HTTP20} {
		client := httpsClient(t, clientConfig, version == http.HTTP20)
		alpn := map[http.Version]string{http.HTTP20: "h2"}[version] // it offers nothing for HTTP/1.1 alone
		for path, want := range map[string]string{
			"/native": version.String(),
			"/std":    fmt.Sprintf("%s true %s test %s", version, alpn, content),
		} {
			resp, err := client.Post("https://"+addr+path, "text/plain", strings.NewReader(content))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil || string(got) != want {
				t.Errorf("%s of %s: %.100q, %v", path, version, got, err)
			}
		}
	}
}

// A server without HTTP/2 doesn't offer it; one with protocols of its own offers those.
func TestTLSProtocols(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		noHTTP2 bool
		own     []string
		want    string
	}{
		{false, nil, "h2"}, {true, nil, "http/1.1"}, {false, []string{"http/1.1"}, "http/1.1"},
	} {
		s := &httpserver.Server{NoHTTP2: test.noHTTP2}
		client := testcert.Client()
		s.TLS = testcert.Server()
		s.TLS.NextProtos = test.own
		client.NextProtos = []string{"h2", "http/1.1"}
		conn := tls.Client(dial(t, serve(t, s)).Conn, client)
		if err := conn.Handshake(); err != nil {
			t.Fatal(err)
		}
		if got := conn.ConnectionState().NegotiatedProtocol; got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

// A client that forgot the s is told.
func TestPlainRequestOverTLS(t *testing.T) {
	t.Parallel()
	s := &httpserver.Server{TLS: testcert.Server()}
	addr := serve(t, s)
	for request, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n": "HTTP/1.0 400 Bad Request\r\n",
		"POST / HTTP/1.0\r\n\r\n":           "HTTP/1.0 400 Bad Request\r\n",
		"anything else":                     "",
	} {
		c := dial(t, addr)
		c.send(request)
		got, err := io.ReadAll(c.r)
		if err != nil || !strings.HasPrefix(string(got), want) || want == "" && strings.Contains(string(got), "HTTP") {
			t.Errorf("%q: %q, %v", request, got, err)
		}
	}
}

// A connection that was hijacked stays encrypted.
func TestHijackOverTLS(t *testing.T) {
	t.Parallel()
	s := newStd(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		conn, rw, err := nethttp.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "ready ")
		line, _ := rw.ReadString('\n')
		fmt.Fprint(conn, "got ", line)
	}))
	s.TLS = testcert.Server()
	conn := tls.Client(dial(t, serve(t, s)).Conn, testcert.Client())
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if _, err := io.ReadFull(conn, make([]byte, len("ready "))); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "raw line\n")
	got, err := io.ReadAll(conn)
	if err != nil || string(got) != "got raw line\n" {
		t.Errorf("%q, %v", got, err)
	}
}
