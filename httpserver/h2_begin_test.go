package httpserver_test

import (
	"encoding/base64"
	"fmt"
	"io"
	nethttp "net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
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

// A tunnel can't begin as a stream whose request is over.
func TestH2UpgradeOfConnect(t *testing.T) {
	t.Parallel()
	c := dial(t, serve(t, &httpserver.Server{Native: ping2}))
	c.send(strings.Replace(upgradeOffer("CONNECT", "AAMAAABk", ""), " /first", " x:1", 1))
	// The handler has no tunnel to offer.
	if a := c.receive("POST"); a.StatusCode != 501 {
		t.Errorf("answered %d", a.StatusCode)
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
