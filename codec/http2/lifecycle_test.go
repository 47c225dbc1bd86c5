package http2

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/codec/http"
)

// A drain takes what was under way, names the last stream when the client has heard of it,
// and is done with the last answer.
func TestDrain(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{})
	s := &pair{t: t, server: p}
	w := hello().get(1, true)
	w.feed(t, p, 0)
	p.c.Drain(0)
	if got := summary(t, p.output()); got != `GOAWAY 2147483647 NO_ERROR, PING "draining"` {
		t.Fatal(got)
	}
	if log, frames := w.get(3, true).feed(t, p, 0); log != "3 GET / host=mill.example (0) end" || frames != "" {
		t.Errorf("under way: %q, %q", log, frames)
	}
	if log, frames := w.raw(AppendPing(nil, drainPing, true)).feed(t, p, 0); log != "" || frames != "GOAWAY 3 NO_ERROR" {
		t.Errorf("%q, %q", log, frames)
	}
	if log, frames := w.get(5, false).data(5, "x", true).feed(t, p, 0); log != "" || frames != "" {
		t.Errorf("too late: %q, %q", log, frames)
	}
	s.answer(1, 200, "", true)
	if p.c.Done() {
		t.Error("done before the last answer")
	}
	s.answer(3, 200, "", true)
	if !p.c.Done() || p.c.Err() != nil {
		t.Error("not done")
	}
}

// A client that answers no PING is waited for only so long.
func TestDrainWithoutAnswer(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{})
	hello().raw(AppendSettingsAck(nil)).feed(t, p, 0)
	p.c.Drain(0)
	p.output()
	if next, err := p.c.Tick(time.Millisecond); err != nil || next != drainTimeout-time.Millisecond {
		t.Errorf("%v, %v", next, err)
	}
	if _, err := p.c.Tick(drainTimeout); err != nil || !p.c.Done() {
		t.Error("not done")
	}
	if got := summary(t, p.output()); got != "GOAWAY 0 NO_ERROR" {
		t.Error(got)
	}
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	const start = time.Hour
	for _, row := range []struct {
		name string
		do   func(p *peer, w *wire)
		at   time.Duration
		want string
	}{
		{"SETTINGS not acknowledged", func(p *peer, w *wire) { w.buf = hello().buf }, DefaultSettingsTimeout, "GOAWAY 0 SETTINGS_TIMEOUT"},
		{"no preface", func(p *peer, w *wire) { w.buf = nil }, DefaultSettingsTimeout, "GOAWAY 0 SETTINGS_TIMEOUT"},
		{"slow header block", func(p *peer, w *wire) { w.frame(FrameHeaders, 0, 1, "\x82") }, DefaultHeadTimeout, "GOAWAY 1 ENHANCE_YOUR_CALM"},
		{"PING not answered", func(p *peer, w *wire) { p.c.Ping(start) }, DefaultPingTimeout, "GOAWAY 0 NO_ERROR"},
	} {
		p := newServer(t, Options{})
		w := hello().raw(AppendSettingsAck(nil))
		p.c.Start(start)
		row.do(p, w)
		p.in.Write(w.buf)
		if msg, err := p.c.Next(p.in, start); msg != nil || err != nil {
			t.Fatal(msg, err)
		}
		p.output()
		if next, err := p.c.Tick(start + row.at - 1); err != nil || next != time.Millisecond {
			t.Errorf("%s: %v, %v", row.name, next, err)
		}
		_, err := p.c.Tick(start + row.at)
		if got := summary(t, p.output()); err == nil || got != row.want {
			t.Errorf("%s: %v, %s", row.name, err, got)
		}
	}
}

// Nothing waits on a connection that only lasts.
func TestNothingToWaitFor(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{})
	hello().raw(AppendSettingsAck(nil)).get(1, true).get(3, false).feed(t, p, 0)
	if next, err := p.c.Tick(time.Hour); next >= 0 || err != nil {
		t.Error(next, err)
	}
	p.c.Ping(time.Hour)
	w := (&wire{}).raw(AppendPing(nil, livePing, true))
	p.in.Write(w.buf)
	if _, err := p.c.Next(p.in, time.Hour+time.Second); err != nil {
		t.Fatal(err)
	}
	if n, rtt := p.c.Alive(); n != 1 || rtt != time.Second {
		t.Error(n, rtt)
	}
	if next, err := p.c.Tick(2 * time.Hour); next >= 0 || err != nil {
		t.Error(next, err)
	}
}

// A peer that takes an answer in small bites, or not at all, loses the stream, not the
// connection.
func TestStalledStream(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{})
	s := &pair{t: t, server: p}
	w := hello().raw(AppendSettings(AppendSettingsAck(nil), Setting{SettingInitialWindowSize, 5000})).get(1, true).get(3, true)
	w.feed(t, p, 0)
	s.answer(1, 200, large(20_000), true)
	s.answer(3, 200, large(20_000), true)
	p.output()
	step := func(at time.Duration) string {
		for _, msg := range []uint32{3} {
			p.in.Write(AppendWindowUpdate(nil, msg, 100))
		}
		if _, err := p.c.Next(p.in, at); err != nil {
			t.Fatal(err)
		}
		p.output()
		if _, err := p.c.Tick(at); err != nil {
			t.Fatal(err)
		}
		return summary(t, p.output())
	}
	for at := time.Second; at < DefaultStallTimeout; at += time.Second {
		if frames := step(at); frames != "" {
			t.Errorf("after %v: %s", at, frames)
		}
	}
	if frames := step(DefaultStallTimeout); frames != "RST_STREAM 1 CANCEL, RST_STREAM 3 CANCEL" {
		t.Error(frames)
	}
	p.read()
	p.want("1  "+errStalled.Error(), "3  "+errStalled.Error())
}

// Whatever ends a connection, every stream hears of it, once.
func TestFailure(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"error", "lost"} {
		p := newServer(t, Options{})
		w := hello().get(1, true).get(3, false)
		w.feed(t, p, 0)
		want := "connection: PROTOCOL_ERROR"
		if how == "error" {
			w.data(99, "x", true).feed(t, p, 0)
		} else {
			p.c.Lose(errLost)
			want = errLost.Error()
			p.read()
		}
		p.read()
		if how == "lost" {
			if n := len(p.log); n != 2 || !strings.Contains(p.log[0], want) {
				t.Error(p.log)
			}
		}
		if p.c.Streams() != 0 || !p.c.Done() || p.err == nil {
			t.Error("streams are left")
		}
		if _, err := p.c.WriteContent(http.NewContent(nil, true)); err != ErrNoStream {
			t.Error(err)
		}
	}
}

// The client's streams that the server has not looked at can be sent again elsewhere.
func TestClientTellsUnprocessed(t *testing.T) {
	t.Parallel()
	p := newPair(t, Options{})
	p.run()
	for range 3 {
		p.send(get("/"))
	}
	var got []string
	p.client.on = func(msg any) bool {
		m := msg.(*http.Content)
		got = append(got, fmt.Sprint(m.ID, " ", errors.Is(m.Err, ErrUnprocessed)))
		m.Close()
		return true
	}
	frames := AppendRSTStream(nil, 1, RefusedStream)
	frames = AppendRSTStream(frames, 3, InternalError)
	frames = AppendGoAway(frames, 3, NoError, "")
	p.client.in.Write(frames)
	p.client.read()
	if strings.Join(got, ", ") != "1 true, 3 false, 5 true" {
		t.Error(got)
	}
	if _, _, err := p.client.c.WriteRequest(get("/")); err != ErrClosing {
		t.Error(err)
	}
	if !p.client.c.Done() {
		t.Error("not done")
	}
}

// Requests wait for the server's limit, with their content, and go when others have ended.
func TestClientWaitsForStreams(t *testing.T) {
	t.Parallel()
	p := newPair(t, Options{MaxStreams: 2})
	p.run()
	for i := range 4 {
		r := get(fmt.Sprint("/", i))
		if r.End = i != 2; i != 2 {
			p.send(r)
			continue
		}
		r.Method = http.MethodPost
		id := p.send(r)
		p.client.content(id, "content", true)
	}
	p.run()
	p.server.want("1 GET /0 host=mill.example (0) end", "3 GET /1 host=mill.example (0) end")
	p.client.c.Reset(7, Cancel) // was never sent, and nobody hears of it
	p.answer(3, 200, "", true)
	p.run()
	p.server.want("5 POST /2 host=mill.example", "5 content end")
	p.answer(1, 200, "", true)
	p.answer(5, 200, "", true)
	p.run()
	p.client.want("3 200 content-length=0 (0) end", "1 200 content-length=0 (0) end", "5 200 content-length=0 (0) end")
	if id := p.send(get("/4")); id != 9 {
		t.Error("stream", id)
	}
	p.run()
	p.server.want("9 GET /4 host=mill.example (0) end")
}

func TestClientRefusesMoreThanMayWait(t *testing.T) {
	t.Parallel()
	c := NewClientConn(Options{MaxStreams: 1}, buffer.Unpooled(), false)
	defer c.Close()
	for i := range 1 + DefaultMaxWaiting {
		if _, _, err := c.WriteRequest(get("/")); err != nil {
			t.Fatal(i, err)
		}
	}
	if _, _, err := c.WriteRequest(get("/")); err != ErrBusy || !errors.Is(err, ErrUnprocessed) {
		t.Error(err)
	}
	none := NewClientConn(Options{MaxStreams: 1, MaxWaiting: -1}, buffer.Unpooled(), false)
	defer none.Close()
	for i, want := range []error{nil, ErrBusy} {
		if _, _, err := none.WriteRequest(get("/")); err != want {
			t.Error(i, err)
		}
	}
	c.Lose(errLost)
	unsent := 0
	for m := c.nextMessage(); m != nil; m = c.nextMessage() {
		if errors.Is(m.(*http.Content).Err, ErrUnprocessed) {
			unsent++
		}
		closeMessage(m)
	}
	if unsent != DefaultMaxWaiting {
		t.Error(unsent, "are told to be unsent")
	}
}

// What a server may send, and what a client makes of it.
func TestClientReceives(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		method http.Method
		frames func(w *wire)
		want   string
		reset  string
	}{
		{"plain", "GET", func(w *wire) { w.headers(1, true, ":status=204", "x=y") }, "1 204 x=y end", ""},
		{"interim", "GET", func(w *wire) { w.headers(1, false, ":status=103", "link=z").headers(1, true, ":status=200") }, "1 103 link=z\n1 200 end", ""},
		{"interim at the end", "GET", func(w *wire) { w.headers(1, true, ":status=103") }, "1  " + errStatus.Error(), "PROTOCOL_ERROR"},
		{"switch", "GET", func(w *wire) { w.headers(1, false, ":status=101") }, "1  " + errStatus.Error(), "PROTOCOL_ERROR"},
		{"no status", "GET", func(w *wire) { w.headers(1, true, "x=y") }, "1  " + errPseudoMissing.Error(), "PROTOCOL_ERROR"},
		{"two", "GET", func(w *wire) { w.headers(1, true, ":status=200", ":status=200") }, "1  " + errPseudoTwice.Error(), "PROTOCOL_ERROR"},
		{"method", "GET", func(w *wire) { w.headers(1, true, ":method=GET", ":status=200") }, "1  " + errPseudo.Error(), "PROTOCOL_ERROR"},
		{"four digits", "GET", func(w *wire) { w.headers(1, true, ":status=2000") }, "1  " + errStatus.Error(), "PROTOCOL_ERROR"},
		{"connection", "GET", func(w *wire) { w.headers(1, true, ":status=200", "connection=close") }, "1  " + errConnField.Error(), "PROTOCOL_ERROR"},
		{"DATA first", "GET", func(w *wire) { w.data(1, "x", false) }, "1  " + errDataFirst.Error(), "PROTOCOL_ERROR"},
		{"HEAD", "HEAD", func(w *wire) { w.headers(1, true, ":status=200", "content-length=9") }, "1 200 content-length=9 (9) end", ""},
		{"HEAD with content", "HEAD", func(w *wire) { w.headers(1, false, ":status=200", "content-length=1").data(1, "x", true) }, "1 200 content-length=1 (1)\n1  " + errLengthMismatch.Error(), "PROTOCOL_ERROR"},
		{"304", "GET", func(w *wire) { w.headers(1, true, ":status=304", "content-length=9") }, "1 304 content-length=9 (9) end", ""},
		{"length", "GET", func(w *wire) { w.headers(1, true, ":status=200", "content-length=9") }, "1  " + errLengthMismatch.Error(), "PROTOCOL_ERROR"},
		{"large head", "GET", func(w *wire) { w.headers(1, true, ":status=200", "x="+large(40_000)) }, "1  " + errHeadLong.Error(), "ENHANCE_YOUR_CALM"},
		{"enough", "POST", func(w *wire) { w.headers(1, true, ":status=413").raw(AppendRSTStream(nil, 1, NoError)) }, "1 413 end\n1  http2: stream: reset by peer: NO_ERROR", ""},
	} {
		p := newPair(t, Options{})
		r := get("/")
		r.Method = row.method
		r.End = row.method != "POST"
		p.send(r)
		p.client.output()
		w := &wire{}
		w.raw(AppendSettings(nil))
		row.frames(w)
		log, frames := w.feed(t, p.client, 0)
		want := ""
		if row.reset != "" {
			want = "RST_STREAM 1 " + row.reset
		}
		if log != row.want || frames != want {
			t.Errorf("%s: %q, %q", row.name, log, frames)
		}
		if p.client.c.Streams() != 0 {
			t.Errorf("%s: a stream is left", row.name)
		}
	}
}

// What a server may not send.
func TestClientRefuses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		frames func(w *wire)
		want   ErrCode
	}{
		{"push", func(w *wire) { w.raw(AppendPushPromise(nil, 1, 2, nil)) }, ProtocolError},
		{"a stream of its own", func(w *wire) { w.headers(2, true, ":status=200") }, ProtocolError},
		{"an idle stream", func(w *wire) { w.headers(3, true, ":status=200") }, ProtocolError},
		{"DATA on an idle stream", func(w *wire) { w.data(3, "", true) }, ProtocolError},
		{"enabling push", func(w *wire) { w.raw(AppendSettings(nil, Setting{SettingEnablePush, 1})) }, ProtocolError},
		{"PRIORITY_UPDATE", func(w *wire) { w.raw(AppendPriorityUpdate(nil, 1, "u=1")) }, ProtocolError},
		{"interim answers without end", func(w *wire) {
			for range 3000 {
				w.headers(1, false, ":status=103")
			}
		}, EnhanceYourCalm},
	} {
		p := newPair(t, Options{})
		p.send(get("/"))
		p.client.output()
		w := (&wire{}).raw(AppendSettings(nil))
		row.frames(w)
		w.feed(t, p.client, 0)
		var err *ConnError
		if !errors.As(p.client.err, &err) || err.Code != row.want {
			t.Errorf("%s: %v", row.name, p.client.err)
		}
	}
	p := newPair(t, Options{})
	p.client.output()
	(&wire{}).data(1, "", true).feed(t, p.client, 0)
	if p.client.err != errNoSettings {
		t.Error(p.client.err)
	}
}

// Extended CONNECT is offered, asked for and accepted; what it carries is content.
func TestExtendedConnect(t *testing.T) {
	t.Parallel()
	p := newPair(t, Options{EnableConnect: true})
	ask := func() *http.Request {
		r := get("/chat")
		r.Method, r.End = http.MethodConnect, false
		r.Header.Add("Upgrade", "websocket")
		return r
	}
	if _, _, err := p.client.c.WriteRequest(ask()); err != ErrInvalidMessage {
		t.Error("before it was offered:", err)
	}
	p.run()
	id := p.send(ask())
	p.run()
	p.server.want("1 CONNECT /chat host=mill.example upgrade=websocket")
	p.answer(id, 200, "", false)
	p.server.content(id, "down", false)
	p.client.content(id, "up", false)
	p.run()
	p.client.want("1 200", "1 down")
	p.server.want("1 up")
	p.client.content(id, "", true)
	p.run()
	p.server.want("1  end")
	p.server.content(id, "", true)
	p.run()
	p.client.want("1  end")
}

// A stream that waits for its turn, because the transport is slow, is not stalled; and one is
// that waits for the window of the connection.
func TestSlowIsNotStalled(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{})
	s := &pair{t: t, server: p}
	w := hello().raw(AppendSettings(AppendSettingsAck(nil), Setting{SettingInitialWindowSize, 1 << 20})).get(1, true)
	w.feed(t, p, 0)
	s.answer(1, 200, large(100_000), true)
	if within := p.c.TickWithin(); within != DefaultSettingsTimeout || p.c.TickWithin() != 0 {
		t.Error(within)
	}
	if next, err := p.c.Tick(time.Hour); err != nil || next != DefaultStallTimeout || p.c.Streams() != 1 {
		t.Error(next, err, p.c.Streams())
	}
	if n := len(p.output()); n < DefaultWindow {
		t.Error(n)
	}
	if _, err := p.c.Tick(time.Hour + DefaultStallTimeout - 1); err != nil || p.c.Streams() != 1 {
		t.Error(err, p.c.Streams())
	}
	if _, err := p.c.Tick(time.Hour + DefaultStallTimeout); err != nil || p.c.Streams() != 0 {
		t.Error(err, p.c.Streams())
	}
}
