package httpserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"strings"
	"sync/atomic"
	"testing"

	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/httpserver"
)

func TestProtocolChangeThatNobodyTakes(t *testing.T) {
	t.Parallel()
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.Method == "CONNECT" {
			w.WriteHeader(200)
			return
		}
		w.Header().Set("Upgrade", "echo")
		w.WriteHeader(101)
	})
	for request, status := range map[string]int{
		"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n": 200,
		upgradeRequest: 101,
	} {
		c := dial(t, addr)
		c.send(request)
		resp, err := nethttp.ReadResponse(c.r, &nethttp.Request{Method: "HEAD"})
		if err != nil || resp.StatusCode != status {
			t.Fatalf("%v, %v", resp, err)
		}
		c.expectClosed()
	}
	c := dial(t, addr)
	c.send(getLine) // offers no upgrade
	c.expectClosed()
}

func TestConnectionIsLostWhileRequestsWait(t *testing.T) {
	t.Parallel()
	var served atomic.Int32
	ended := make(chan error, 1)
	ch := embed(t, newStd(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		served.Add(1)
		<-r.Context().Done()
		_, err := io.ReadAll(r.Body)
		ended <- err
	})))
	feed(t, ch, post5+post5+"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe")
	await(t, "the first is served", func() bool { return served.Load() == 1 })
	ch.FailInbound(errors.New("broken"))
	if err := receiveFrom(t, "the handler ends", ended); err != nil {
		t.Errorf("content that had come whole ended with %v", err)
	}
	ch.RunPending()
	if served.Load() != 1 {
		t.Errorf("%d requests were served", served.Load())
	}
}

func TestBodyTimeoutBehindNetHTTP(t *testing.T) {
	t.Parallel()
	errs := make(chan error, 1)
	ch := embed(t, newStd(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		_, err := io.ReadAll(r.Body)
		errs <- err
		w.WriteHeader(nethttp.StatusRequestTimeout)
	})))
	feed(t, ch, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nabc")
	ch.Advance(httpserver.DefaultBodyTimeout + 1e6)
	err := receiveFrom(t, "the read ends", errs)
	var ne net.Error
	if !errors.Is(err, httpserver.ErrBodyTimeout) || !errors.As(err, &ne) || !ne.Timeout() {
		t.Errorf("the read ends with %v", err)
	}
	answer := ""
	letRun(t, ch, "the answer", func() bool {
		answer += sent(t, ch)
		return answer != ""
	})
	if !strings.HasPrefix(answer, "HTTP/1.1 408 ") || !strings.Contains(answer, "Connection: close") {
		t.Errorf("sent %q", answer)
	}
}

// marker is a handler between the codec and the server that changes requests.
type marker struct{}

func (marker) OnRead(ctx *channel.Context, msg any) {
	if r, ok := msg.(*http.Request); ok {
		r.Header.Set("X-Mark", "marked")
		r.Header.Del("Cookie")
	}
	ctx.FireRead(msg)
}

func TestRequestsThatAnotherHandlerHasChanged(t *testing.T) {
	t.Parallel()
	ch := embed(t, newStd(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		fmt.Fprintf(w, "%s %s %v", r.Host, r.RequestURI, r.Header)
	})))
	if err := ch.Pipeline().AddAfter("http1", "marker", marker{}); err != nil {
		t.Fatal(err)
	}
	feed(t, ch, "GET /a HTTP/1.1\r\nHost: h\r\nX-Mark: no\r\nCookie: c\r\nAccept: a\r\n\r\n")
	answer := ""
	letRun(t, ch, "the answer", func() bool {
		answer += sent(t, ch)
		return answer != ""
	})
	if !strings.HasSuffix(answer, "h /a map[Accept:[a] X-Mark:[marked]]") {
		t.Errorf("sent %q", answer)
	}
}

func TestInitChannel(t *testing.T) {
	t.Parallel()
	s := newStd(nil)
	s.Native = httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		r := http.NewResponse(200)
		r.Header.Add("Seen", fmt.Sprintf("%s %t %t", x.Context().Name(), x.Server() == s, x.Started()))
		x.RespondWith(r)
		return true
	})
	s.InitChannel = func(ch *channel.Channel) error { return ch.Pipeline().AddLast("first", marker{}) }
	ch := embed(t, s)
	if names := ch.Pipeline().Names(); fmt.Sprint(names[1:]) != "[first http1 httpserver]" {
		t.Errorf("pipeline %v", names)
	}
	feed(t, ch, getLine)
	want(t, ch, "HTTP/1.1 200 OK\r\nSeen: httpserver true false\r\nContent-Length: 0\r\n\r\n")

	failing := &httpserver.Server{InitChannel: func(*channel.Channel) error { return errors.New("no") }}
	dial(t, serve(t, failing)).expectClosed()
}

func TestInterimAnswers(t *testing.T) {
	t.Parallel()
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.WriteHeader(100) // instead of the first read
		w.Header().Set("Link", "</a>")
		w.WriteHeader(103)
		b, err := io.ReadAll(r.Body)
		fmt.Fprint(w, string(b), err)
	})
	c := dial(t, addr)
	c.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
	for _, status := range []int{100, 103} {
		if got := c.receive("POST"); got.StatusCode != status {
			t.Fatalf("status %d, want %d", got.StatusCode, status)
		}
	}
	c.send("hi")
	if got := c.receive("POST"); got.body != "hi<nil>" {
		t.Errorf("got %q", got.body)
	}
}

func TestHijackedWriterIsHeldBack(t *testing.T) {
	t.Parallel()
	const total = 1 << 20
	done := make(chan error, 1)
	var written atomic.Int64
	ch := embed(t, newStd(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		c, _, err := w.(nethttp.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		p := make([]byte, 10_000)
		for written.Load() < total && err == nil {
			var n int
			n, err = c.Write(p)
			written.Add(int64(n))
		}
		done <- err
	})))
	ch.SetTransportWritable(false)
	feed(t, ch, getLine)
	letRun(t, ch, "the watermark is reached", func() bool { return !ch.IsWritable() })
	if n := written.Load(); n > 300_000 {
		t.Errorf("%d bytes were written to a client that doesn't read", n)
	}
	ch.SetTransportWritable(true)
	letRun(t, ch, "everything is written", func() bool { return written.Load() >= total && len(done) > 0 })
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestHookThatReturnsNoContext(t *testing.T) {
	t.Parallel()
	var l logs
	s := newStd(nethttp.NotFoundHandler())
	s.Logger = l.logger()
	s.ConnContext = func(context.Context, *channel.Channel) context.Context { return nil }
	c := dial(t, serve(t, s))
	c.send(getLine)
	c.expectClosed()
	if !strings.Contains(l.String(), "nil context") {
		t.Errorf("logged %q", l.String())
	}
}

func TestBodyThatIsClosedWhileItIsRead(t *testing.T) {
	t.Parallel()
	reads := make(chan error, 1)
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		b := make([]byte, 3)
		_, _ = io.ReadFull(r.Body, b)
		go func() {
			_, err := r.Body.Read(b)
			reads <- err
		}()
		w.WriteHeader(200)
		_ = nethttp.NewResponseController(w).Flush()
		_ = r.Body.Close()
	})
	c := dial(t, addr)
	c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc")
	c.receive("POST")
	if err := receiveFrom(t, "the read ends", reads); err != nethttp.ErrBodyReadAfterClose {
		t.Errorf("the read ends with %v", err)
	}
	c.send("def" + getLine) // the rest is thrown away
	_ = c.Conn.(*net.TCPConn).CloseWrite()
	if got := c.receive("GET"); got.StatusCode != 200 {
		t.Errorf("status %d", got.StatusCode)
	}
}

func TestBodyThatIsClosedWhileReadingIsPaused(t *testing.T) {
	t.Parallel()
	closeNow := make(chan struct{})
	ch := embed(t, newStd(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		<-closeNow
		_ = r.Body.Close()
	})))
	feed(t, ch, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n")
	piece := strings.Repeat("x", 20_000)
	n := 0
	for ; ch.Reading(); n++ {
		feed(t, ch, piece)
	}
	close(closeNow)
	letRun(t, ch, "reading goes on", ch.Reading)
	for ; n < 10; n++ {
		feed(t, ch, piece)
	}
	feed(t, ch, getLine)
	answers := ""
	letRun(t, ch, "both answers", func() bool {
		answers += sent(t, ch)
		return strings.Count(answers, "200 OK") == 2
	})
}
