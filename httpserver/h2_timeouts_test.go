package httpserver_test

import (
	"io"
	nethttp "net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"millrace.dev/buffer"
	"millrace.dev/codec/http"
	"millrace.dev/httpserver"
)

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
