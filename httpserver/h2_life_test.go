package httpserver_test

import (
	"context"
	"fmt"
	"io"
	nethttp "net/http"
	"strings"
	"testing"
	"time"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer"
	"millrace.dev/codec/http"
	"millrace.dev/httpserver"
)

// A client that has ended its direction gets what its windows have room for. The rest can't be
// sent any more, and nobody waits for it.
func TestH2ClientEndsItsDirection(t *testing.T) {
	t.Parallel()
	var waiting *httpserver.Exchange
	closed := 0
	p := embedH2(t, &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		if string(x.Request().Path()) == "/later" {
			waiting = x
			return true
		}
		if string(x.Request().Path()) == "/half" {
			return true
		}
		x.OnClose(func(*httpserver.Exchange) { closed++ })
		x.Start(http.NewResponse(200))
		x.Write(buffer.CopyString("0123456789 and more"))
		return true
	})})
	p.hello(window(10)).get(1, "/blocked").get(3, "/later").head(5, false, ":method=POST", ":path=/half").into(p)
	p.tell(`1 200; 1 "0123456789"`)
	if err := p.CloseInbound(); err != nil {
		t.Fatal(err)
	}
	p.tell("5 RST CANCEL; 1 RST CANCEL")
	if closed != 1 {
		t.Errorf("the handler was told %d times", closed)
	}
	waiting.Respond(200, "", []byte("in time"))
	p.tell(`3 200 content-length=7; 3 "in time" end`)
	if p.IsOpen() {
		t.Error("the connection stays open")
	}
}

// A connection that is drained takes requests that are under way, until its client has seen that,
// and answers them.
func TestH2Drain(t *testing.T) {
	t.Parallel()
	waiting := map[string]*httpserver.Exchange{}
	p := embedH2(t, &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		waiting[string(x.Request().Path())] = x
		return true
	})})
	p.hello().get(1, "/before").into(p)
	p.FireEvent(bootstrap.Drain{})
	p.tell(`GOAWAY 2147483647 NO_ERROR; PING "draining"`)
	p.get(3, "/underway").pong([8]byte([]byte("draining"))).get(5, "/late").into(p)
	p.tell("GOAWAY 3 NO_ERROR")
	if len(waiting) != 2 || p.OutboundShutdown() {
		t.Fatalf("%d requests wait, ended: %v", len(waiting), p.OutboundShutdown())
	}
	waiting["/underway"].Respond(204, "", nil)
	waiting["/before"].Respond(204, "", nil)
	p.tell("3 204 end; 1 204 end")
	if !p.OutboundShutdown() {
		t.Error("the server doesn't end its direction")
	}
}

// Shutdown drains every connection, and waits for it. When the last GOAWAY comes depends on the
// client's PONG and on the clock, so no request is left to that here.
func TestH2Shutdown(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	begun := make(chan struct{}, 1)
	s := newStd(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path == "/first" {
			return
		}
		begun <- struct{}{}
		<-goOn
		_, _ = io.WriteString(w, r.URL.Path)
	}))
	addr := serve(t, s)
	busy, idle := dialH2(t, addr), dialH2(t, addr)
	busy.get(1, "/before").flush(busy)
	receiveFrom(t, "a request", begun)
	idle.get(1, "/first").flush(idle)
	idle.expect("1 200 content-length=0 end") // so it has been accepted
	ended := make(chan error, 1)
	go func() { ended <- shutdown(t, s) }()
	for _, c := range []*h2conn{busy, idle} {
		c.expect("GOAWAY 2147483647 NO_ERROR", `PING "draining"`)
		c.pong([8]byte([]byte("draining"))).flush(c)
		c.expect("GOAWAY 1 NO_ERROR")
	}
	idle.ended()
	_ = idle.Close()
	select {
	case err := <-ended:
		t.Fatalf("Shutdown has returned %v before the answer", err)
	default:
	}
	close(goOn)
	busy.expect("1 200 content-length=7", `1 "/before" end`)
	busy.ended()
	_ = busy.Close()
	if err := receiveFrom(t, "Shutdown returns", ended); err != nil {
		t.Error(err)
	}
}

// What net/http's client has under way when the server shuts down is answered.
func TestH2ShutdownWithNetHTTPClient(t *testing.T) {
	t.Parallel()
	const n = 20
	goOn, begun := make(chan struct{}), make(chan struct{}, n)
	s := newStd(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		begun <- struct{}{}
		<-goOn
		_, _ = io.Copy(w, r.Body)
	}))
	addr := serve(t, s)
	client := h2Client(t)
	results := make(chan error, n)
	for range n {
		go func() {
			resp, err := client.Post("http://"+addr, "", strings.NewReader(strings.Repeat("x", 100_000)))
			if err == nil {
				var body []byte
				body, err = io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if err == nil && len(body) != 100_000 {
					err = fmt.Errorf("%d bytes", len(body))
				}
			}
			results <- err
		}()
	}
	for range n {
		receiveFrom(t, "a request", begun)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Shutdown(within(t)) }()
	await(t, "the shutdown begins", func() bool { _, err := s.Listen("tcp", "127.0.0.1:0"); return err != nil })
	close(goOn)
	for range n {
		if err := receiveFrom(t, "an answer", results); err != nil {
			t.Error(err)
		}
	}
	client.CloseIdleConnections()
	if err := receiveFrom(t, "Shutdown returns", ended); err != nil {
		t.Error(err)
	}
}

// A client that is gone cancels what it has asked for.
func TestH2ConnectionLost(t *testing.T) {
	t.Parallel()
	begun, causes := make(chan struct{}, 3), make(chan error, 3)
	c := dialH2(t, serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		begun <- struct{}{}
		<-r.Context().Done()
		causes <- r.Context().Err()
	}))
	c.get(1, "/").get(3, "/").head(5, false, ":method=POST").flush(c)
	for range 3 {
		receiveFrom(t, "a request", begun)
	}
	_ = c.Close()
	for range 3 {
		if err := receiveFrom(t, "a handler ends", causes); err != context.Canceled {
			t.Error(err)
		}
	}
}

// A client that sends on after its connection was ended is not read for ever, but has time to see
// why it was.
func TestH2GoodbyeToOneWhoSendsOn(t *testing.T) {
	t.Parallel()
	p := embedH2(t, &httpserver.Server{Native: ping2})
	p.hello().window(0, 1<<31-1).into(p)
	p.tell("GOAWAY 0 FLOW_CONTROL_ERROR")
	sent := 0
	for ; p.Reading() && sent < 10<<20; sent += 16 << 10 {
		feed(t, p.Channel, strings.Repeat("x", 16<<10))
	}
	if sent > 512<<10 || !p.IsOpen() || !p.OutboundShutdown() {
		t.Fatalf("%d bytes read; open: %v, ended: %v", sent, p.IsOpen(), p.OutboundShutdown())
	}
	p.Advance(2 * time.Second)
	if p.IsOpen() {
		t.Error("the connection stays")
	}
}
