package site

import (
	"encoding/json"
	"net/http/httputil"
	"strings"
	"testing"

	"millrace.dev/cmd/millrace/internal/figures"
)

func TestEndpoints(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, c := range []struct {
		method, path string
		status       int
		contentType  string
		body         string // that the answer has to contain
	}{
		{"GET", "/", 200, "text/html; charset=utf-8", `href="/plaintext"`},
		{"GET", "/?query", 200, "text/html; charset=utf-8", r.url + "/plaintext"},
		{"GET", "/live", 200, "text/html; charset=utf-8", "/stats/stream"},
		{"GET", "/plaintext", 200, "text/plain", "Hello, World!"},
		{"GET", "/json", 200, "application/json", `{"message":"Hello, World!"}`},
		{"GET", "/stats", 200, "application/json", `"loops"`},
		{"GET", "/healthz", 200, textPlain, "ok"},
		{"GET", "/files/", 200, "text/html; charset=utf-8", "0 entries"},
		{"GET", "/files", 301, "", ""},
		{"GET", "/nothing", 404, textPlain, "404"},
		{"GET", "/plaintext/", 404, textPlain, "404"},
		{"GET", "//", 404, textPlain, "404"},
		{"POST", "/plaintext", 405, "", ""},
		{"DELETE", "/json", 405, "", ""},
		{"PUT", "/", 405, "", ""},
		{"POST", "/stats", 405, "", ""},
		{"POST", "/stats/stream", 405, "", ""},
		{"POST", "/files/", 405, textPlain, "405"},
		{"OPTIONS", "/plaintext", 204, "", ""},
		{"OPTIONS", "/files/", 204, "", ""},
	} {
		a, body := r.do(c.method, c.path, nil)
		if a.StatusCode != c.status || a.Header.Get("Content-Type") != c.contentType || !strings.Contains(body, c.body) {
			t.Errorf("%s %s: %s, %q, %q", c.method, c.path, a.Status, a.Header.Get("Content-Type"), body)
		}
		if (c.status == 405 || c.status == 204) && a.Header.Get("Allow") != "GET, HEAD, OPTIONS" {
			t.Errorf("%s %s: Allow %q", c.method, c.path, a.Header.Get("Allow"))
		}
		if c.method != "GET" {
			continue
		}
		head, none := r.do("HEAD", c.path, nil)
		if head.StatusCode != a.StatusCode || none != "" || head.Header.Get("Content-Type") != c.contentType {
			t.Errorf("HEAD %s: %s, %q", c.path, head.Status, none)
		}
		if c.path != "/stats" && head.ContentLength != a.ContentLength { // the figures differ
			t.Errorf("HEAD %s: length %d, GET has %d", c.path, head.ContentLength, a.ContentLength)
		}
	}
}

func TestServerWideOptions(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c, in := r.dial()
	_, err := c.Write([]byte("OPTIONS * HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"))
	r.must(err)
	var all strings.Builder
	_, err = in.WriteTo(&all)
	r.must(err)
	if !strings.HasPrefix(all.String(), "HTTP/1.1 204 ") || !strings.Contains(all.String(), "\r\nAllow: GET,") {
		t.Errorf("%q", all.String())
	}
}

func TestPagesCarryTheirPolicy(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, _ := r.do("GET", "/live", nil)
	if p := a.Header.Get("Content-Security-Policy"); !strings.Contains(p, "script-src 'sha256-") || !strings.Contains(p, "connect-src 'self'") {
		t.Errorf("policy %q", p)
	}
}

func TestStatsCount(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for range 3 {
		r.do("GET", "/plaintext", nil)
	}
	_, body := r.do("GET", "/stats", nil)
	var s figures.Snapshot
	r.must(json.Unmarshal([]byte(body), &s))
	if s.Requests.Begun != 4 || s.Connections.Open < 1 || s.Bytes.Out == 0 || s.Address != r.url || len(s.Loops) != 2 {
		t.Errorf("%s", body)
	}
}

func TestDrainShowsInHealth(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.site.Drain()
	a, body := r.do("GET", "/healthz", nil)
	if a.StatusCode != 503 || body != "draining\n" {
		t.Errorf("%s %q", a.Status, body)
	}
}

// Without a directory /files/ says what to do about it.
func TestNoDirectory(t *testing.T) {
	t.Parallel()
	r, ch := onChannel(t)
	r.site.o.Tree = nil
	r.must(request(ch, "GET /files/x HTTP/1.1\r\nHost: h\r\n\r\n"))
	if got := sent(ch); !strings.HasPrefix(got, "HTTP/1.1 404 ") || !strings.Contains(got, "--dir") {
		t.Errorf("%q", got)
	}
	ch.Finish()
}

// The date and the framing come from the codec, the rest is here: nothing else is sent.
func TestPlaintextOnTheWire(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, _ := r.do("GET", "/plaintext", nil)
	a.Header.Del("Date")
	dump, err := httputil.DumpResponse(a, false)
	r.must(err)
	const want = "HTTP/1.1 200 OK\r\nContent-Length: 13\r\nContent-Type: text/plain\r\n\r\n"
	if string(dump) != want {
		t.Errorf("%q", dump)
	}
}
