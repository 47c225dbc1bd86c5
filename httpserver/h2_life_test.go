package httpserver_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	nethttp "net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/httpserver"
)

// ping2 answers 204 natively.
var ping2 = httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
	x.Respond(204, "", nil)
	return true
})

// A server knows HTTP/2 by its preface, wherever that is split.
func TestH2PrefaceSplitAnywhere(t *testing.T) {
	t.Parallel()
	input := newFrames().hello().get(1, "/").take()
	for i := 1; i < len(http2.ClientPreface)+20; i++ {
		p := embedH2(t, &httpserver.Server{Native: ping2})
		feed(t, p.Channel, input[:i])
		feed(t, p.Channel, input[i:])
		p.tell("1 204 end")
	}
	p := embedH2(t, &httpserver.Server{Native: ping2})
	for i := range input {
		feed(t, p.Channel, input[i:i+1])
	}
	p.tell("1 204 end")
}

// What begins like the preface and is not, or like no HTTP at all, is closed. It is GOAWAY
// that the client sees as long as it may have meant HTTP/2, and nothing before that.
func TestH2WrongPreface(t *testing.T) {
	t.Parallel()
	p := embedH2(t, &httpserver.Server{Native: ping2})
	feed(t, p.Channel, "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n")
	p.tell("GOAWAY 0 PROTOCOL_ERROR")
	for _, input := range []string{"INVALID CONNECTION PREFACE\r\n\r\n", "EHLO mail.example ESMTP\r\n"} {
		p := embedH2(t, &httpserver.Server{Native: ping2})
		feed(t, p.Channel, input)
		if got := rawSent(t, p.Channel); got != "" || p.IsOpen() {
			t.Errorf("%q: sent %q, open: %v", input, got, p.IsOpen())
		}
	}
}

func TestNoHTTP2(t *testing.T) {
	t.Parallel()
	s := &httpserver.Server{Native: ping2, NoHTTP2: true}
	p := embedH2(t, s)
	p.hello().get(1, "/").into(p)
	if got := rawSent(t, p.Channel); !strings.HasPrefix(got, "HTTP/1.1 505 ") {
		t.Errorf("preface: sent %q", got)
	}
	c := dial(t, serve(t, &httpserver.Server{Native: ping2, NoHTTP2: true}))
	c.send(upgradeOffer("GET", "AAMAAABk", ""))
	if a := c.receive("GET"); a.StatusCode != 204 {
		t.Errorf("Upgrade: %d", a.StatusCode)
	}
}

// negotiator tells what TLS would have: that the two have agreed on a protocol.
type negotiator string

func (n negotiator) NegotiatedProtocol() string { return string(n) }

func (n negotiator) OnActive(ctx *channel.Context) {
	ctx.FireActive()
	ctx.FireEvent(n)
}

func TestH2Negotiated(t *testing.T) {
	t.Parallel()
	add := func(protocol string) func(ch *channel.Channel) error {
		return func(ch *channel.Channel) error { return ch.Pipeline().AddLast("tls", negotiator(protocol)) }
	}
	c := dial(t, serve(t, &httpserver.Server{Native: ping2, InitChannel: add("h2")}))
	h := &h2conn{c, newFrames(), newTeller(c.r)}
	if f, err := h.r2().ReadFrame(); err != nil || f.Header().Type != http2.FrameSettings {
		t.Fatalf("the server doesn't begin with SETTINGS: %v, %v", f, err)
	}
	h.hello().get(1, "/").flush(h)
	h.expect("1 204 end")
	c = dial(t, serve(t, &httpserver.Server{Native: ping2, InitChannel: add("h2")}))
	c.send(getLine)
	h = &h2conn{c, newFrames(), newTeller(c.r)}
	h.expect("GOAWAY 0 PROTOCOL_ERROR")
	for _, protocol := range []string{"http/1.1", "", "spdy"} {
		c = dial(t, serve(t, &httpserver.Server{Native: ping2, InitChannel: add(protocol)}))
		c.send(getLine)
		if a := c.receive("GET"); a.StatusCode != 204 {
			t.Errorf("%q: %d", protocol, a.StatusCode)
		}
	}
}

// r2 is the frames' reader; both embedded types have an r.
func (h *h2conn) r2() *http2.Framer { return h.teller.r }

func upgradeOffer(method, settings, body string) string {
	length := ""
	if body != "" {
		length = fmt.Sprintf("Content-Length: %d\r\n", len(body))
	}
	return method + " /first HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n" +
		"HTTP2-Settings: " + settings + "\r\n" + length + "\r\n" + body
}

// A client may ask for HTTP/2 in a request of HTTP/1.1, which is then the first stream's. It
// may also send on without waiting for the answer.
func TestH2Upgrade(t *testing.T) {
	t.Parallel()
	settings := base64.RawURLEncoding.EncodeToString([]byte{0, 4, 0, 0, 0, 3}) // 3 bytes of window
	for _, eager := range []bool{false, true} {
		p := embedH2(t, &httpserver.Server{Native: httpserver.NativeFunc(pathNative)})
		first := upgradeOffer("GET", settings, "")
		// The client's own SETTINGS come into force when they arrive.
		rest := newFrames().hello(window(http2DefaultWindow)).get(3, "/next").take()
		if eager {
			feed(t, p.Channel, first+rest)
		} else {
			feed(t, p.Channel, first)
		}
		p.out.WriteString(rawSent(t, p.Channel))
		const switching = "HTTP/1.1 101 Switching Protocols\r\n"
		head, _, _ := strings.Cut(p.out.String(), "\r\n\r\n")
		if !strings.HasPrefix(head, switching) || !strings.Contains(head, "Upgrade: h2c") {
			t.Fatalf("answered %q", head)
		}
		p.out.Next(len(head) + 4)
		if !eager {
			p.tell(`1 200 content-length=6; 1 "/fi"`)
			feed(t, p.Channel, rest)
			p.tell(`3 200 content-length=5; 3 "/next" end; 1 "rst" end`)
			continue
		}
		got := p.told()
		for _, want := range []string{"1 200 content-length=6", `1 "rst" end`, `3 "/next" end`} {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in %q", want, got)
			}
		}
	}
}

// A request with content, or with an offer that is not in order, is answered with HTTP/1.1,
// and the connection stays what it is.
func TestH2UpgradeIsIgnored(t *testing.T) {
	t.Parallel()
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s", r.Proto, body)
	})
	c := dial(t, addr)
	for _, row := range [][2]string{
		{upgradeOffer("POST", "AAMAAABk", "content"), "HTTP/1.1 content"},
		{upgradeOffer("GET", "AAMAAABk\r\nHTTP2-Settings: AAMAAABk", ""), "HTTP/1.1 "},
		{upgradeOffer("GET", "AAMAAAB", ""), "HTTP/1.1 "},
		{upgradeOffer("GET", "!!", ""), "HTTP/1.1 "},
		{strings.Replace(upgradeOffer("GET", "AAMAAABk", ""), ", HTTP2-Settings", "", 1), "HTTP/1.1 "},
		{strings.Replace(upgradeOffer("GET", "AAMAAABk", ""), "h2c", "h2", 1), "HTTP/1.1 "},
	} {
		c.send(row[0])
		if a := c.receive("POST"); a.StatusCode != 200 || a.body != row[1] {
			t.Errorf("%q: %d %q", row[0], a.StatusCode, a.body)
		}
	}
}

// Settings that no client may have end the connection as they do in a frame.
func TestH2UpgradeWithInvalidSettings(t *testing.T) {
	t.Parallel()
	c := dial(t, serve(t, &httpserver.Server{Native: ping2}))
	c.send(upgradeOffer("GET", base64.RawURLEncoding.EncodeToString([]byte{0, 4, 255, 255, 255, 255}), ""))
	if a := c.receive("GET"); a.StatusCode != 101 {
		t.Fatalf("answered %d", a.StatusCode)
	}
	h := &h2conn{c, newFrames(), newTeller(c.r)}
	h.expect("GOAWAY 0 FLOW_CONTROL_ERROR")
	h.ended()
}

// A connection that rests is said goodbye to: the client may still have sent a request.
func TestH2IdleTimeout(t *testing.T) {
	t.Parallel()
	p := embedH2(t, &httpserver.Server{Native: ping2})
	p.hello().get(1, "/").into(p)
	p.tell("1 204 end")
	p.Advance(httpserver.DefaultIdleTimeout - time.Second)
	p.tell("")
	got := ""
	for range 90 { // the timer looks a few times in Timeouts.Write
		if got = p.told(); got != "" {
			break
		}
		p.Advance(100 * time.Millisecond)
	}
	if got != `GOAWAY 2147483647 NO_ERROR; PING "draining"` {
		t.Fatalf("sent %q", got)
	}
	p.get(3, "/").pong([8]byte([]byte("draining"))).into(p)
	p.tell("3 204 end; GOAWAY 3 NO_ERROR")
	if !p.OutboundShutdown() {
		t.Error("the server doesn't end its direction")
	}
	if err := p.CloseInbound(); err != nil || p.IsOpen() {
		t.Errorf("open: %v, %v", p.IsOpen(), err)
	}
}

// Clients that don't answer are not waited for.
func TestH2IdleTimeoutOfASilentClient(t *testing.T) {
	t.Parallel()
	for _, requests := range []int{0, 1} {
		s := &httpserver.Server{Native: ping2}
		p := embedH2(t, s)
		p.hello()
		limit := httpserver.DefaultHeaderTimeout
		if requests > 0 {
			p.get(1, "/")
			limit = httpserver.DefaultIdleTimeout
		}
		p.into(p)
		p.Advance(limit + 9*time.Second)
		p.Advance(2 * time.Second)
		p.Advance(3 * time.Second)
		if got := p.told(); !strings.Contains(got, "GOAWAY") || p.IsOpen() {
			t.Errorf("%d requests: sent %q, open: %v", requests, got, p.IsOpen())
		}
		if n := s.Stats().Timeouts; n != 1 {
			t.Errorf("%d timeouts counted", n)
		}
	}
}

// A header block has to be whole in time.
func TestH2HeaderTimeout(t *testing.T) {
	t.Parallel()
	p := embedH2(t, &httpserver.Server{Native: ping2})
	p.hello()
	_ = p.w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x82}})
	p.into(p)
	p.Advance(httpserver.DefaultHeaderTimeout + time.Second)
	p.tell("GOAWAY 1 ENHANCE_YOUR_CALM")
}

// Content that doesn't come fails its own request; a client that goes on is let.
func TestH2BodyTimeout(t *testing.T) {
	t.Parallel()
	errs := make(map[string]error)
	p := embedH2(t, &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		path := string(x.Request().Path())
		x.OnBody(func(x *httpserver.Exchange, data *buffer.Buffer, end bool, err error) {
			if data != nil {
				data.Close()
			}
			if end || err != nil {
				errs[path] = err
				x.Respond(200, "", nil)
			}
		})
		return true
	})})
	p.hello().head(1, false, ":method=POST", ":path=/slow").head(3, false, ":method=POST", ":path=/steady").into(p)
	for range 6 {
		p.Advance(httpserver.DefaultBodyTimeout / 3)
		p.data(3, "x", false).into(p)
	}
	p.data(3, "", true).into(p)
	p.tell("1 200 content-length=0 end; 1 RST NO_ERROR; 3 200 content-length=0 end")
	if errs["/slow"] != httpserver.ErrBodyTimeout || errs["/steady"] != nil {
		t.Error(errs)
	}
	p.get(5, "/").into(p)
	p.tell("5 200 content-length=0 end")
}

// While the handler wants none, the client's content is not waited for; nor in a tunnel.
func TestH2BodyTimeoutKnowsWhoseTurnItIs(t *testing.T) {
	t.Parallel()
	var paused *httpserver.Exchange
	p := embedH2(t, &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		if x.Request().Method == http.MethodConnect {
			x.Start(http.NewResponse(200))
		} else {
			x.PauseBody()
			paused = x
		}
		x.OnBody(func(x *httpserver.Exchange, data *buffer.Buffer, end bool, err error) {
			if data != nil {
				data.Close()
			}
			if end || err != nil {
				x.RespondWith(http.NewResponse(200))
			}
		})
		return true
	})})
	p.hello().head(1, false, ":method=POST").headers(3, false, ":method=CONNECT", ":authority=x:1").into(p)
	for range 40 {
		p.Advance(5 * time.Second)
	}
	p.tell("3 200")
	paused.ResumeBody()
	p.Advance(httpserver.DefaultBodyTimeout / 2)
	p.tell("")
	p.Advance(httpserver.DefaultBodyTimeout)
	p.tell("1 200 content-length=0 end; 1 RST NO_ERROR")
}

// A client that takes nothing of an answer loses its stream, and if it takes nothing at all,
// the connection.
func TestH2WriteStall(t *testing.T) {
	t.Parallel()
	closed := 0
	p := embedH2(t, &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		if string(x.Request().Path()) == "/ping" {
			x.Respond(204, "", nil)
			return true
		}
		x.OnClose(func(*httpserver.Exchange) { closed++ })
		x.Start(http.NewResponse(200))
		x.Write(buffer.CopyString("content"))
		return true
	})})
	p.hello(window(0)).get(1, "/").into(p)
	p.tell("1 200")
	for range 40 {
		p.Advance(time.Second)
	}
	p.tell("1 RST CANCEL")
	if closed != 1 {
		t.Errorf("told %d times", closed)
	}
	p.get(3, "/ping").into(p)
	p.tell("3 204 end")
	p.SetTransportWritable(false)
	p.get(5, "/ping").into(p)
	for range 50 {
		p.Advance(time.Second)
	}
	if p.IsOpen() {
		t.Error("the connection lasts")
	}
}

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

// The answer of a worker leaves also when the last thing on the connection was no input.
func TestH2AnswerBehindAStall(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	s := newStd(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path == "/stalls" {
			_, _ = io.WriteString(w, strings.Repeat("x", 10_000))
			return
		}
		<-goOn
	}))
	p := embedH2(t, s)
	p.hello(window(0)).get(1, "/stalls").get(3, "/").into(p)
	letRun(t, p.Channel, "the answer begins", func() bool { return strings.Contains(p.told(), "1 200") })
	for range 40 {
		p.Advance(time.Second)
	}
	p.tell("1 RST CANCEL")
	close(goOn)
	letRun(t, p.Channel, "the other answer", func() bool { return strings.Contains(p.told(), "3 200") })
}

// Shutdown lets requests finish that are under way, and those that were when it began.
func TestH2Shutdown(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	begun := make(chan struct{}, 2)
	s := newStd(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		begun <- struct{}{}
		<-goOn
		_, _ = io.WriteString(w, r.URL.Path)
	}))
	addr := serve(t, s)
	busy, idle := dialH2(t, addr), dialH2(t, addr)
	busy.get(1, "/before").flush(busy)
	receiveFrom(t, "a request", begun)
	ended := make(chan error, 1)
	go func() { ended <- shutdown(t, s) }()
	ping := [8]byte([]byte("draining"))
	for _, c := range []*h2conn{busy, idle} {
		c.expect("GOAWAY 2147483647 NO_ERROR", `PING "draining"`)
	}
	idle.pong(ping).flush(idle)
	idle.expect("GOAWAY 0 NO_ERROR")
	idle.ended()
	_ = idle.Close()
	busy.get(3, "/underway").pong(ping).get(5, "/late").flush(busy)
	receiveFrom(t, "the request that was under way", begun)
	busy.expect("GOAWAY 3 NO_ERROR")
	close(goOn)
	got := map[string]bool{}
	for range 4 {
		line, _, err := busy.next()
		if err != nil {
			t.Fatal(err)
		}
		got[line] = true
	}
	if !got[`1 "/before" end`] || !got[`3 "/underway" end`] {
		t.Error(got)
	}
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

// A connection that becomes HTTP/2's while the server is drained is drained as well.
func TestH2BeginsWhileTheServerIsDrained(t *testing.T) {
	t.Parallel()
	const goodbye = `GOAWAY 2147483647 NO_ERROR; PING "draining"`
	for _, upgrade := range []bool{false, true} {
		p := embedH2(t, &httpserver.Server{Native: ping2})
		input := newFrames().hello().get(1, "/").take()
		if upgrade {
			input = upgradeOffer("GET", "AAMAAABk", "")
		}
		feed(t, p.Channel, input[:10])
		p.FireEvent(bootstrap.Drain{})
		feed(t, p.Channel, input[10:])
		if upgrade {
			head, rest, _ := strings.Cut(rawSent(t, p.Channel), "\r\n\r\n")
			if !strings.HasPrefix(head, "HTTP/1.1 101 ") {
				t.Fatalf("answered %q", head)
			}
			p.out.WriteString(rest)
		}
		p.tell(goodbye + "; 1 204 end")
		p.Advance(time.Second)
		p.tell("GOAWAY 1 NO_ERROR")
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
