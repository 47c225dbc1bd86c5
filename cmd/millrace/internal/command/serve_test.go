package command

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

func TestServe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a file"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		nil,
		{"--loops", "1"},
		{"--loops", "3", "--one-acceptor"},
		{"--transport", "std"},
		{"--header-timeout", "none", "--body-timeout", "none", "--write-timeout", "none", "--idle-timeout", "none"},
	} {
		s := start(t, append(args, "--dir", dir, "--log-level", "warn")...)
		if !regexp.MustCompile(`^http://127\.0\.0\.1:[1-9][0-9]*$`).MatchString(s.base) {
			t.Errorf("listening on %q", s.base)
		}
		for path, want := range map[string]string{
			"/plaintext": "Hello, World!", "/healthz": "ok\n", "/files/a.txt": "a file", "/": s.base + "/plaintext",
		} {
			if status, body := s.get(path); status != 200 || !strings.Contains(body, want) {
				t.Errorf("%q, %s: %d %q", args, path, status, body)
			}
		}
		if code, said := s.end(), s.said(); code != ExitOK || said != "" {
			t.Errorf("%q: exit code %d, %s", args, code, said)
		}
	}
}

func TestServeUnix(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the transport is for Linux")
	}
	parent := os.TempDir()
	if len(parent) > 80 {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "mr") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if code, _, err := run("serve", "--transport", "unix"); code != ExitUsage || !strings.Contains(err, "--addr") {
		t.Errorf("without a path: %d, %q", code, err)
	}
	path := filepath.Join(dir, "s")
	s := start(t, "--transport", "unix", "--addr", path)
	if s.base != "unix:"+path {
		t.Errorf("listening on %q", s.base)
	}
	if code, _, err := run("serve", "--transport", "unix", "--addr", path); code != ExitFailed || !strings.Contains(err, "another path") {
		t.Errorf("a second server: %d, %q", code, err)
	}
	c, in := s.dial()
	fmt.Fprint(c, "GET /plaintext HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
	if all, err := io.ReadAll(in); err != nil || !strings.HasSuffix(string(all), "\r\n\r\nHello, World!") {
		t.Errorf("%q, %v", all, err)
	}
	if code := s.end(); code != ExitOK {
		t.Errorf("exit code %d", code)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the socket's file is left: %v", err)
	}
}

func TestMaxConns(t *testing.T) {
	t.Parallel()
	s := start(t, "--max-conns", "2")
	var ins []*bufio.Reader
	for range 2 {
		c, in := s.dial()
		fmt.Fprint(c, "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
		if _, err := in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		ins = append(ins, in)
	}
	_, in := s.dial()
	if _, err := in.ReadByte(); err == nil {
		t.Error("a third connection was served")
	}
	s.eventually("the refusal is logged", func() bool { return strings.Contains(s.stderr.String(), "refused a connection") })
	if len(ins) != 2 {
		t.Fatal("the first two are gone")
	}
}

// A request that is under way when the end comes is answered whole, and its client told that
// the connection ends; then the exit code is 0.
func TestDrainFinishesRequests(t *testing.T) {
	t.Parallel()
	s := start(t)
	c, in := s.dial()
	fmt.Fprint(c, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\n\r\nhalf")
	if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 200 ") {
		t.Fatalf("%q, %v", line, err)
	}
	idle, idleIn := s.dial()
	fmt.Fprint(idle, "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
	if _, err := idleIn.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	s.stop()
	if _, err := io.ReadAll(idleIn); err != nil { // ends, because it was idle
		t.Fatal(err)
	}
	s.eventually("nobody is accepted any more", func() bool {
		r, err := nethttp.Get(s.base + "/healthz")
		if err == nil {
			r.Body.Close()
		}
		return err != nil
	})
	fmt.Fprint(c, "done")
	rest, err := io.ReadAll(in)
	if err != nil || !strings.HasSuffix(string(rest), "halfdone") {
		t.Errorf("%q, %v", rest, err)
	}
	if code := s.end(); code != ExitOK {
		t.Errorf("exit code %d, %s", code, s.stderr)
	}
}

// A client that doesn't finish in time is cut off, which shows in the exit code.
func TestDrainTimeout(t *testing.T) {
	t.Parallel()
	s := start(t, "--shutdown-timeout", "20ms")
	c, in := s.dial()
	fmt.Fprint(c, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\n\r\nhalf")
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if code := s.end(); code != ExitFailed || !strings.Contains(s.stderr.String(), "--shutdown-timeout 20ms") {
		t.Errorf("exit code %d, %s", code, s.stderr)
	}
}

// An endless answer doesn't keep the server from ending.
func TestDrainEndsLivePage(t *testing.T) {
	t.Parallel()
	s := start(t)
	r, err := nethttp.Get(s.base + "/stats/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if _, err := bufio.NewReader(r.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if code := s.end(); code != ExitOK {
		t.Errorf("exit code %d, %s", code, s.stderr)
	}
}

func TestLimitsReachTheServer(t *testing.T) {
	t.Parallel()
	s := start(t, "--max-request-line", "100", "--max-header-bytes", "200", "--max-header-fields", "3", "--max-body", "10")
	for request, status := range map[string]string{
		"GET /" + strings.Repeat("x", 200) + " HTTP/1.1\r\nHost: h\r\n\r\n":                    "414",
		"GET / HTTP/1.1\r\nHost: h\r\nX: " + strings.Repeat("x", 300) + "\r\n\r\n":             "431",
		"GET / HTTP/1.1\r\nHost: h\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n":                            "431",
		"POST /length HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n":                       "413",
		"POST /length HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi": "200",
	} {
		c, in := s.dial()
		fmt.Fprint(c, request)
		line, err := in.ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "HTTP/1.1 "+status+" ") {
			t.Errorf("%.40q: %q, %v; want %s", request, line, err, status)
		}
	}
}

// speaksFirst is a client's connection that reads nothing before it has sent a request: one
// that has seen the server's limits doesn't even send what is above them.
type speaksFirst struct {
	net.Conn
	writes int // the first has the settings; one goroutine at a time writes
	asked  chan struct{}
}

func dialSpeaksFirst(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	return &speaksFirst{Conn: c, asked: make(chan struct{})}, err
}

func (c *speaksFirst) Write(p []byte) (int, error) {
	if c.writes++; c.writes == 2 {
		defer close(c.asked)
	}
	return c.Conn.Write(p)
}

func (c *speaksFirst) Read(p []byte) (int, error) {
	<-c.asked
	return c.Conn.Read(p)
}

// The port speaks both protocols, unless it is told not to.
func TestHTTP2Flags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":                          "HTTP/2.0 200 OK",
		"--http2-max-streams 1":     "HTTP/2.0 200 OK",
		"--no-http2":                "",
		"--max-header-bytes 20":     "HTTP/2.0 431 Request Header Fields Too Large",
		"--transport std":           "HTTP/2.0 200 OK",
		"--header-timeout none":     "HTTP/2.0 200 OK",
		"--max-header-fields 10000": "HTTP/2.0 200 OK",
	} {
		s := start(t, strings.Fields(args)...)
		tr := &nethttp.Transport{Protocols: new(nethttp.Protocols), DialContext: dialSpeaksFirst}
		tr.Protocols.SetUnencryptedHTTP2(true)
		client := nethttp.Client{Timeout: patience, Transport: tr}
		got := ""
		if r, err := client.Get(s.base + "/plaintext"); err == nil {
			got = r.Proto + " " + r.Status
			_ = r.Body.Close()
		}
		if got != want {
			t.Errorf("%s: answered %q, want %q", args, got, want)
		}
		tr.CloseIdleConnections()
	}
}

func TestHeaderTimeout(t *testing.T) {
	t.Parallel()
	s := start(t, "--header-timeout", "30ms")
	c, in := s.dial()
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHos")
	if b, err := in.ReadByte(); err == nil && b != 'H' {
		t.Errorf("%q", b) // a 408 or just the end: both are right
	}
	if _, err := io.ReadAll(in); err != nil && strings.Contains(err.Error(), "timeout") {
		t.Error("the connection stays")
	}
}

func TestPprof(t *testing.T) {
	t.Parallel()
	s := start(t, "--pprof", "127.0.0.1:0", "--log-format", "json")
	var entry struct{ URL string }
	line, _, _ := strings.Cut(s.said(), "\n")
	if err := json.Unmarshal([]byte(line), &entry); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	r, err := nethttp.Get(entry.URL + "goroutine?debug=1")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != 200 || !strings.Contains(string(b), `"loop":"millrace-serve-0"`) {
		t.Errorf("%s %v: the loops are not in the profile", r.Status, err)
	}
	if status, _ := s.get("/debug/pprof/"); status != 404 {
		t.Errorf("profiles at the server's own address: %d", status)
	}
}
