package httpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	nethttp "net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/httpserver"
	"millrace.dev/loop"
)

// patience is how long a test waits for what has to come.
const patience = 3 * time.Minute

// serve starts s on a free port of the loopback interface and returns its address. The test
// ends it. Its timeouts are off unless the test has set some: on a machine that is busy with other
// things any client may seem slow. What times out, and when, is tested with embed.
func serve(t testing.TB, s *httpserver.Server) string {
	t.Helper()
	if s.Timeouts == (httpserver.Timeouts{}) {
		s.Timeouts = httpserver.Timeouts{Header: -1, Body: -1, Write: -1, Idle: -1}
		s.HTTP2.SettingsTimeout = -1
	}
	if s.Logger == nil {
		s.Logger = slog.New(slog.DiscardHandler)
	}
	if s.Group == nil {
		s.Group = newGroup(t, 2) // whatever the machine has: the loops of all tests need descriptors
	}
	ch, err := s.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return ch.LocalAddr().String()
}

// newGroup returns a group that ends with the test.
func newGroup(t testing.TB, loops int) *loop.Group {
	t.Helper()
	g, err := loop.NewGroup(loop.Options{Loops: loops, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := g.Shutdown(0, patience).Wait(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return g
}

func newStd(h nethttp.Handler) *httpserver.Server { return &httpserver.Server{Handler: h} }

// serveFunc is serve for a net/http handler.
func serveFunc(t testing.TB, f nethttp.HandlerFunc) string {
	t.Helper()
	return serve(t, newStd(f))
}

// client is a raw connection.
type client struct {
	net.Conn
	t testing.TB
	r *bufio.Reader
}

func dial(t testing.TB, addr string) *client {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return &client{c, t, bufio.NewReader(c)}
}

func (c *client) send(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		c.t.Fatal(err)
	}
}

// answer is a response with its content.
type answer struct {
	*nethttp.Response
	body string
	err  error // of reading the content
}

// receive reads the next answer, to a request with the method.
func (c *client) receive(method string) answer {
	c.t.Helper()
	resp, err := nethttp.ReadResponse(c.r, &nethttp.Request{Method: method})
	if err != nil {
		c.t.Fatalf("no answer: %v", err)
	}
	body, err := io.ReadAll(resp.Body)
	return answer{resp, string(body), err}
}

// expectClosed reads to the end of the connection, where nothing more may come.
func (c *client) expectClosed() {
	c.t.Helper()
	rest, err := io.ReadAll(c.r)
	if err != nil || len(rest) > 0 {
		c.t.Fatalf("connection goes on with %q, %v", rest, err)
	}
}

// get requests a path from a server and returns the answer.
func get(t testing.TB, addr, path string) answer {
	t.Helper()
	c := dial(t, addr)
	c.send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n")
	return c.receive("GET")
}

// await waits for a condition.
func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// receiveFrom waits for a value from a channel.
func receiveFrom[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("never: %s", what)
		panic("not reached")
	}
}

// installer makes a server's pipeline on an embedded channel.
type installer struct{ server *httpserver.Server }

func (i installer) Added(ctx *channel.Context) {
	if err := i.server.Init(ctx.Channel()); err != nil {
		panic(err)
	}
}

// embed runs a server's pipeline on an embedded channel, without sockets and with a clock
// that the test moves.
func embed(t testing.TB, s *httpserver.Server) *embedded.Channel {
	t.Helper()
	if s.Logger == nil {
		s.Logger = slog.New(slog.DiscardHandler)
	}
	config := channel.NewConfig()
	config.AllowHalfClosure = true
	ch := embedded.NewConfig(config, installer{s})
	t.Cleanup(func() {
		ch.Finish()
		_ = s.Close()
	})
	return ch
}

func embedNative(t testing.TB, f httpserver.NativeFunc) *embedded.Channel {
	t.Helper()
	return embed(t, &httpserver.Server{Native: f})
}

// feed passes bytes in.
func feed(t testing.TB, ch *embedded.Channel, s string) {
	t.Helper()
	if err := ch.WriteInbound(buffer.CopyString(s)); err != nil {
		t.Fatal(err)
	}
}

// sent returns everything that was sent since the last call, without the Date fields.
func sent(t testing.TB, ch *embedded.Channel) string {
	t.Helper()
	lines := strings.SplitAfter(rawSent(t, ch), "\r\n")
	kept := lines[:0]
	for _, line := range lines {
		if !strings.HasPrefix(line, "Date: ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// rawSent returns everything that was sent since the last call.
func rawSent(t testing.TB, ch *embedded.Channel) string {
	t.Helper()
	var out bytes.Buffer
	for msg := ch.ReadOutbound(); msg != nil; msg = ch.ReadOutbound() {
		switch m := msg.(type) {
		case *buffer.Buffer:
			out.Write(m.Bytes())
			m.Close()
		case *channel.FileRegion:
			b := make([]byte, m.Count)
			if _, err := m.File.ReadAt(b, m.Offset); err != nil {
				t.Fatal(err)
			}
			out.Write(b)
			m.Close()
		default:
			t.Fatalf("sent a %T", msg)
		}
	}
	return out.String()
}

// want compares what was sent.
func want(t testing.TB, ch *embedded.Channel, expected string) {
	t.Helper()
	if got := sent(t, ch); got != expected {
		t.Fatalf("sent\n%q\nwant\n%q", got, expected)
	}
}

// logs collects what a server logs.
type logs struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}

func (l *logs) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.String()
}

func shutdown(t testing.TB, s *httpserver.Server) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return s.Shutdown(ctx)
}

// textAnswer is how a plain answer is sent.
func textAnswer(status, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
}
