package http1_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"strings"
	"testing"
	"time"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http1"
	"millrace.dev/loop"
)

// echo streams the content of a request back, or says hello.
type echo struct{}

func (echo) OnRead(ctx *channel.Context, msg any) {
	switch m := msg.(type) {
	case *http.Request:
		resp := m.Respond(200)
		if resp.End = m.End; m.End {
			resp.Body = ctx.Allocator().Allocate(32)
			fmt.Fprintf(resp.Body, "hello %s", m.Path())
		}
		ctx.Write(resp)
		m.Close()
	case *http.Content:
		if m.Err != nil {
			m.Close()
			return
		}
		ctx.Write(m)
	}
}

func (echo) OnReadComplete(ctx *channel.Context) { ctx.Flush() }

// listen serves echo over sockets and returns the address.
func listen(t *testing.T) string {
	t.Helper()
	group, err := loop.NewGroup(loop.Options{Loops: 1})
	if err != nil {
		t.Fatal(err)
	}
	codecs := http1.NewServerCodecs(http1.ServerOptions{})
	config := channel.NewConfig()
	config.AllowHalfClosure = true
	s := &bootstrap.Server{Group: group, Config: config, Init: func(ch *channel.Channel) error {
		if err := ch.Pipeline().AddLast("http", codecs.New()); err != nil {
			return err
		}
		return ch.Pipeline().AddLast("echo", echo{})
	}}
	ln, err := s.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // nothing is worth waiting for
		_ = s.Shutdown(ctx)
		if _, err := group.Shutdown(0, time.Minute).Wait(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return ln.LocalAddr().String()
}

// net/http's client and the codec understand each other over real sockets.
func TestEndToEnd(t *testing.T) {
	t.Parallel()
	url := "http://" + listen(t)
	client := &nethttp.Client{Transport: &nethttp.Transport{ExpectContinueTimeout: time.Minute}}
	defer client.CloseIdleConnections()
	large := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	for _, row := range []struct {
		name   string
		body   io.Reader
		expect bool
		want   string
	}{
		{"no content", nil, false, "hello /x"},
		{"small", strings.NewReader("water"), false, "water"},
		{"1 MiB", bytes.NewReader(large), false, string(large)},
		{"1 MiB, chunked", io.MultiReader(bytes.NewReader(large)), false, string(large)},
		{"Expect", strings.NewReader("water"), true, "water"},
	} {
		req, err := nethttp.NewRequest("POST", url+"/x", row.body)
		if err != nil {
			t.Fatal(err)
		}
		if row.expect {
			req.Header.Set("Expect", "100-continue")
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		got, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 || string(got) != row.want {
			t.Errorf("%s: %d, %d bytes, %v", row.name, resp.StatusCode, len(got), err)
		}
		if resp.Body.Close(); resp.Header.Get("Date") == "" {
			t.Errorf("%s: no Date", row.name)
		}
	}
}

// A peer that still sends when it is refused gets to see why: its connection is not reset.
func TestEndToEndLingering(t *testing.T) {
	t.Parallel()
	conn, err := net.Dial("tcp", listen(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	for range 10 { // after the answer may have been sent, but before it is read
		if _, err := conn.Write(bytes.Repeat([]byte("x"), 10_000)); err != nil {
			t.Fatal(err)
		}
	}
	answer, err := io.ReadAll(conn)
	if err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 400 Bad Request\r\n")) {
		t.Errorf("%q, %v", answer, err)
	}
}
