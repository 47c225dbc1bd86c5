package httpserver_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"os"
	"strings"
	"testing"
	"time"

	"millrace.dev/httpserver"
)

// hijacker serves one request by giving f the connection. The test waits for f.
func hijacker(t *testing.T, f func(c net.Conn, rw *bufio.ReadWriter)) string {
	t.Helper()
	started, ended := make(chan struct{}), make(chan struct{})
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		close(started)
		defer close(ended)
		c, rw, err := nethttp.NewResponseController(w).Hijack()
		if err != nil {
			t.Errorf("Hijack: %v", err)
			return
		}
		f(c, rw)
	})
	t.Cleanup(func() {
		receiveFrom(t, "the handler starts", started)
		receiveFrom(t, "the handler returns", ended)
	})
	return addr
}

const upgradeRequest = "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n"

func TestHijackEcho(t *testing.T) {
	t.Parallel()
	addr := hijacker(t, func(c net.Conn, rw *bufio.ReadWriter) {
		defer c.Close()
		fmt.Fprint(rw, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: upgrade\r\n\r\n")
		if err := rw.Flush(); err != nil {
			t.Errorf("Flush: %v", err)
		}
		_, _ = io.Copy(c, rw)
	})
	c := dial(t, addr)
	c.send(upgradeRequest + "early ")
	resp, err := nethttp.ReadResponse(c.r, nil)
	if err != nil || resp.StatusCode != 101 {
		t.Fatalf("%v, %v", resp, err)
	}
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	go func() {
		_, _ = c.Write(large)
		_ = c.Conn.(*net.TCPConn).CloseWrite()
	}()
	got, err := io.ReadAll(c.r)
	if err != nil || string(got) != "early "+string(large) {
		t.Errorf("%d bytes came back, %v", len(got), err)
	}
}

func TestHijackAfterTheHandlerHasReturned(t *testing.T) {
	t.Parallel()
	conns := make(chan net.Conn, 1)
	addr := hijacker(t, func(c net.Conn, _ *bufio.ReadWriter) { conns <- c })
	c := dial(t, addr)
	c.send(getLine)
	nc := receiveFrom(t, "the connection", conns)
	if nc.RemoteAddr().String() != c.LocalAddr().String() || nc.LocalAddr().String() != addr {
		t.Errorf("addresses %v, %v", nc.LocalAddr(), nc.RemoteAddr())
	}
	if _, err := nc.Write([]byte("hello")); err != nil {
		t.Error(err)
	}
	if err := nc.Close(); err != nil {
		t.Error(err)
	}
	got, err := io.ReadAll(c.r)
	if string(got) != "hello" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := nc.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Read after Close: %v", err)
	}
	if _, err := nc.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Write after Close: %v", err)
	}
	if err := nc.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("second Close: %v", err)
	}
}

func TestHijackedConnHasDeadlines(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	addr := hijacker(t, func(c net.Conn, _ *bufio.ReadWriter) {
		defer close(done)
		defer c.Close()
		b := make([]byte, 8)
		_ = c.SetReadDeadline(time.Now().Add(-time.Second))
		if _, err := c.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("Read at a deadline in the past: %v", err)
		}
		_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
		var ne net.Error
		if _, err := c.Read(b); !errors.As(err, &ne) || !ne.Timeout() {
			t.Errorf("Read at a deadline: %v", err)
		}
		_ = c.SetDeadline(time.Time{})
		if _, err := c.Write([]byte("go")); err != nil {
			t.Error(err)
		}
		if n, err := c.Read(b); err != nil || string(b[:n]) != "on" {
			t.Errorf("Read after deadlines: %q, %v", b[:n], err)
		}
		_ = c.SetWriteDeadline(time.Now().Add(time.Millisecond))
		large := make([]byte, 64<<20) // more than sockets buffer
		if _, err := c.Write(large); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("Write at a deadline: %v", err)
		}
	})
	c := dial(t, addr)
	c.send(getLine)
	if _, err := io.ReadFull(c.r, make([]byte, 2)); err != nil {
		t.Fatal(err)
	}
	c.send("on")
	receiveFrom(t, "the handler ends", done)
}

func TestHijackedConnHalfCloses(t *testing.T) {
	t.Parallel()
	addr := hijacker(t, func(c net.Conn, rw *bufio.ReadWriter) {
		defer c.Close()
		_, _ = io.WriteString(c, "ask")
		if err := c.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
			t.Error(err)
		}
		got, err := io.ReadAll(rw)
		if string(got) != "answer" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
	c := dial(t, addr)
	c.send(getLine)
	if got, err := io.ReadAll(c.r); string(got) != "ask" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	c.send("answer")
	_ = c.Close()
}

func TestHijackWithUnreadContent(t *testing.T) {
	t.Parallel()
	addr := hijacker(t, func(c net.Conn, rw *bufio.ReadWriter) {
		defer c.Close()
		fmt.Fprint(c, "hijacked ")
		b := make([]byte, 10)
		_, err := io.ReadFull(rw, b)
		fmt.Fprintf(c, "%s %v", b, err)
	})
	c := dial(t, addr)
	c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
	if _, err := io.ReadFull(c.r, make([]byte, len("hijacked "))); err != nil {
		t.Fatal(err)
	}
	c.send("world")
	if got, err := io.ReadAll(c.r); string(got) != "helloworld <nil>" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestHijackInsideAnAnswer(t *testing.T) {
	t.Parallel()
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("Content-Length", "10")
		fmt.Fprint(w, "hello")
		c, _, err := w.(nethttp.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		if _, _, err := w.(nethttp.Hijacker).Hijack(); !errors.Is(err, nethttp.ErrHijacked) {
			t.Errorf("second Hijack: %v", err)
		}
		if _, err := w.Write([]byte("x")); !errors.Is(err, nethttp.ErrHijacked) {
			t.Errorf("Write after Hijack: %v", err)
		}
		_, _ = io.WriteString(c, "world")
		_ = c.Close()
	})
	if got := get(t, addr, "/"); got.body != "helloworld" {
		t.Errorf("got %q, %v", got.body, got.err)
	}
}

func TestHijackWithPipelinedRequestsIsRefused(t *testing.T) {
	t.Parallel()
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path != "/hijack" {
			return
		}
		_, _, err := w.(nethttp.Hijacker).Hijack()
		fmt.Fprint(w, err)
	})
	c := dial(t, addr)
	c.send("GET /hijack HTTP/1.1\r\nHost: x\r\n\r\n" + getLine)
	if got := c.receive("GET").body; got != httpserver.ErrPipelined.Error() {
		t.Errorf("got %q", got)
	}
	c.receive("GET")
}

func TestHijackedConnHoldsBackWhatIsNotRead(t *testing.T) {
	t.Parallel()
	conns := make(chan net.Conn, 1)
	ch := embed(t, &httpserver.Server{Handler: nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		c, _, err := w.(nethttp.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		conns <- c
	})})
	feed(t, ch, getLine)
	letRun(t, ch, "the hijack", func() bool { return len(conns) > 0 })
	nc := <-conns
	piece := strings.Repeat("x", 16<<10)
	fed := 0
	for ch.Reading() {
		feed(t, ch, piece)
		fed += len(piece)
	}
	if fed > 100<<10 {
		t.Fatalf("%d bytes taken that nobody reads", fed)
	}
	if _, err := io.ReadFull(nc, make([]byte, fed)); err != nil {
		t.Fatal(err)
	}
	letRun(t, ch, "reading goes on", ch.Reading)
	ch.Advance(time.Hour)
	if !ch.IsOpen() {
		t.Error("the server's timeouts hold after a hijack")
	}
	ch.FailInbound(errors.New("broken"))
	if _, err := nc.Read(make([]byte, 1)); err == nil || err.Error() != "broken" {
		t.Errorf("Read: %v", err)
	}
	if _, err := nc.Write([]byte("x")); err == nil || err.Error() != "broken" {
		t.Errorf("Write: %v", err)
	}
	_ = nc.Close()
}

func TestClosedHijackedConnWithAClientThatNeverReads(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	ch := embed(t, &httpserver.Server{Handler: nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		c, _, err := w.(nethttp.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(c, "goodbye")
		_ = c.Close()
		close(closed)
	})})
	ch.SetTransportWritable(false)
	feed(t, ch, getLine)
	letRun(t, ch, "the close", func() bool {
		select {
		case <-closed:
			return true
		default:
			return false
		}
	})
	ch.RunPending()
	if !ch.IsOpen() {
		t.Fatal("closed before what was written had been sent")
	}
	staysUntil(t, ch, httpserver.DefaultWriteTimeout, 0)
}
