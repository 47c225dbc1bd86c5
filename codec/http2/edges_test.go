package http2

import (
	"math"
	"strings"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec/http"
)

// Nothing of a SETTINGS frame is in force before all of it is: the peer has not heard that it
// was taken, and the same setting may come again in it.
func TestSettingsComeIntoForceTogether(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{})
	w := hello().raw(AppendSettings(nil, Setting{SettingInitialWindowSize, 10})).get(1, true)
	w.feed(t, p, 0)
	r := http.NewResponse(200)
	r.ID, r.End = 1, false
	if _, err := p.c.WriteResponse(r); err != nil {
		t.Fatal(err)
	}
	p.output()
	w.raw(AppendSettings(nil, Setting{SettingInitialWindowSize, 1000}, Setting{SettingInitialWindowSize, 12}))
	whole := len(w.buf)
	w.raw(AppendSettingsAck(nil))
	rest := string(w.buf[whole-settingLen:])
	w.buf = w.buf[:whole-settingLen]
	w.feed(t, p, 0)
	p.content(1, "0123456789abcdef", true)
	if got := summary(t, p.output()); got != "DATA 1 0123456789" {
		t.Errorf("amid the frame: %q", got)
	}
	if _, frames := w.raw([]byte(rest)).feed(t, p, 0); frames != "DATA 1 ab" {
		t.Errorf("behind it: %q", frames)
	}
}

// RFC 7541 section 4.2: a table size that did not last is signalled too, as the peer has dropped
// everything.
func TestLeastTableSizeIsSignalled(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{})
	hello().raw(AppendSettings(nil, Setting{SettingHeaderTableSize, 0}, Setting{SettingHeaderTableSize, 4096})).
		get(1, true).feed(t, p, 0)
	p.answer(1, 204, "", true)
	out := p.output()
	if block := string(out[FrameHeaderLen:]); !strings.HasPrefix(block, "\x20\x3f\xe1\x1f") {
		t.Errorf("the block begins with %x", block)
	}
}

func (p *peer) answer(id uint64, status int, body string, end bool) {
	p.t.Helper()
	(&pair{t: p.t, server: p}).answer(id, status, body, end)
}

// DATA without content is allowed in a window that is negative, RFC 9113 section 6.9: the
// client has used up more than what the server has announced meanwhile.
func TestEndInANegativeWindow(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{StreamWindow: 1000, ManualConsume: true})
	w := hello().get(1, false).data(1, strings.Repeat("x", 10_000), false).raw(AppendSettingsAck(nil)).data(1, "", true)
	log, frames := w.feed(t, p, 0)
	if !strings.HasSuffix(log, "1  end") || strings.Contains(frames, "RST_STREAM") {
		t.Errorf("%q, %q", log[max(0, len(log)-60):], frames)
	}
}

// A request that is whole takes no content, also while it waits for its turn.
func TestNoContentBehindAWaitingRequest(t *testing.T) {
	t.Parallel()
	p := newPair(t, Options{MaxStreams: 1})
	p.run()
	p.send(get("/first"))
	id := p.send(get("/second"))
	if _, err := p.client.c.WriteContent(content(id, "x", true)); err != ErrNoStream {
		t.Errorf("content was taken: %v", err)
	}
}

// RFC 9110 section 9.3.6: each answer of 2xx to CONNECT makes a tunnel, whatever its status says
// about content, and whatever length it declares.
func TestTunnelOfAnyStatus(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 204, 205, 299} {
		p := newPair(t, Options{})
		r := http.NewRequest(http.MethodConnect, "mill.example:443")
		r.Header.Add("Host", "mill.example:443")
		id := p.send(r)
		p.run()
		p.answer(id, status, "", false)
		p.run()
		p.server.content(id, "water", false)
		p.run()
		if n := len(p.client.log); n != 2 || p.client.log[1] != "1 water" {
			t.Errorf("%d: %q", status, p.client.log)
		}
	}
	p := newPeer(t, NewClientConn(Options{}, buffer.Unpooled(), false))
	r := http.NewRequest(http.MethodConnect, "mill.example:443")
	r.Header.Add("Host", "mill.example:443")
	if _, _, err := p.c.WriteRequest(r); err != nil {
		t.Fatal(err)
	}
	p.output()
	w := (&wire{}).raw(AppendSettings(nil)).headers(1, false, ":status=200", "content-length=3").data(1, "water", true)
	if log, _ := w.feed(t, p, 0); log != "1 200 content-length=3\n1 water end" {
		t.Errorf("%q", log)
	}
}

// Resume while the head of the next DATA frame has come in part: its content is not counted yet.
func TestResumeWithinAPaddedFrame(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{StreamWindow: DefaultWindow, ConnWindow: DefaultWindow})
	w := hello().get(1, false).data(1, strings.Repeat("x", 100), false).raw(AppendSettingsAck(nil))
	w.frame(FrameData, FlagPadded, 1, "\x00"+strings.Repeat("y", 1000))
	at := len(w.buf) - 1001 // before the pad length
	p.on = func(msg any) bool { return describeLarge(msg) != "" }
	p.in.Write(w.buf[:at-FrameHeaderLen])
	p.read()
	p.c.Pause(1)
	p.in.Write(w.buf[at-FrameHeaderLen : at])
	p.read()
	p.c.Resume(1)
	p.in.Write(w.buf[at:])
	p.read()
	s := p.c.stream(1)
	if s.unread != 0 || s.window.left+s.window.credit != DefaultWindow {
		t.Errorf("%d bytes unread, window %+v", s.unread, s.window)
	}
}

// An account without limit, or one that was not touched for years, is never overdrawn by time.
func TestBudgetAfterYears(t *testing.T) {
	t.Parallel()
	for _, b := range []Budget{{Burst: -1, PerSecond: -1}, {Burst: math.MaxInt, PerSecond: math.MaxInt}, {Burst: 10, PerSecond: 1}} {
		b = b.effective(DefaultControl)
		var a account
		for _, now := range []time.Duration{0, 3 * time.Hour, 1 << 60} {
			for range 10 {
				if !a.spend(b, 1, now) {
					t.Fatalf("%+v: refused after %v", b, now)
				}
			}
		}
	}
}

// A request that had to wait for its turn is under the same timeout as others once it is sent.
func TestStallOfARequestThatWaited(t *testing.T) {
	t.Parallel()
	c := NewClientConn(Options{MaxStreams: 1, StallTimeout: 10 * time.Second}, buffer.Unpooled(), false)
	p := newPeer(t, c)
	c.Start(0)
	p.output()
	w := (&wire{}).raw(AppendSettings(nil, Setting{SettingInitialWindowSize, 0})).raw(AppendSettingsAck(nil))
	w.feed(t, p, 0)
	c.TickWithin()
	r := get("/")
	r.Method, r.Body = http.MethodPost, buffer.CopyString("water")
	for _, r := range []*http.Request{get("/"), r} {
		if _, _, err := c.WriteRequest(r); err != nil {
			t.Fatal(err)
		}
	}
	c.TickWithin()
	if next, err := c.Tick(10 * time.Second); err != nil || next >= 0 {
		t.Fatalf("a request that waits for its turn is timed: %v, %v", next, err)
	}
	w.raw(AppendRSTStream(nil, 1, Cancel)).feed(t, p, 0)
	if within := c.TickWithin(); within != 10*time.Second {
		t.Errorf("the next look is %v away", within)
	}
}

// What is timed beside a drain goes on being timed when the client has not answered its PING.
func TestHeadTimeoutBesideADrain(t *testing.T) {
	t.Parallel()
	p := newServer(t, Options{})
	w := hello().raw(AppendSettingsAck(nil)).frame(FrameHeaders, 0, 1, "\x82")
	w.feed(t, p, 0)
	p.c.Drain(0)
	if next, err := p.c.Tick(drainTimeout); err != nil || next != DefaultHeadTimeout-drainTimeout {
		t.Errorf("the next look is %v away, %v", next, err)
	}
	if frames := summary(t, p.output()); !strings.HasSuffix(frames, "GOAWAY 1 NO_ERROR") {
		t.Errorf("%q", frames)
	}
}

// A client whose identifiers have run out is not one to give requests to.
func TestIdentifiersRunOut(t *testing.T) {
	t.Parallel()
	codec := NewClientCodec(ClientOptions{})
	ch := embedded.New(codec)
	defer ch.Finish()
	codec.conn.nextID = maxStreamID
	for _, last := range []bool{false, true} {
		if codec.Open() == last {
			t.Errorf("the last request is written: %v, open: %v", last, codec.Open())
		}
		if err := ch.WriteOutbound(get("/")); (err == ErrClosing) != last {
			t.Error(err)
		}
	}
}

// When a connection is lost each stream is told, and found by its value, whoever else is looked
// for meanwhile.
func TestManyStreamsAreLost(t *testing.T) {
	t.Parallel()
	const n = 2_000
	p := newServer(t, Options{MaxStreams: n})
	w := hello()
	for id := uint32(1); id < 2*n; id += 2 {
		w.get(id, false)
	}
	p.in.Write(w.buf)
	told := map[uint64]bool{}
	p.on = func(msg any) bool {
		if r, ok := msg.(*http.Request); ok {
			p.c.SetValue(r.ID, r.ID)
			r.Close()
			return true
		}
		m := msg.(*http.Content)
		if p.c.Value(m.ID) != any(m.ID) || told[m.ID] || m.Err == nil {
			t.Fatalf("stream %d: %v, %v", m.ID, p.c.Value(m.ID), m.Err)
		}
		if other := m.ID ^ 2; p.c.Value(other) != any(other) {
			t.Fatalf("stream %d has lost its value", other)
		}
		told[m.ID] = true
		m.Close()
		return true
	}
	p.read()
	p.c.Lose(errLost)
	p.read()
	if len(told) != n {
		t.Errorf("%d streams were told", len(told))
	}
}

// A stream that had to wait for its turn, because the connection is slow, has its time for what
// the peer does then.
func TestWaitingForATurnIsNoStall(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{false, true} { // the connection's window, meanwhile
		p := newServer(t, Options{StallTimeout: 10 * time.Second})
		w := hello().raw(AppendSettings(nil, Setting{SettingInitialWindowSize, 1000})).raw(AppendSettingsAck(nil)).get(1, true)
		w.feed(t, p, 0)
		if closed {
			p.c.sendWindow = 0
		}
		p.answer(1, 200, strings.Repeat("x", 5000), true)
		at := 15 * time.Second
		p.c.now = at // nothing was taken so far
		w.raw(AppendWindowUpdate(nil, 0, 100_000))
		p.in.Write(w.buf)
		if msg, err := p.c.Next(p.in, at); msg != nil || err != nil {
			t.Fatal(msg, err)
		}
		p.output()
		_, _ = p.c.Tick(at)
		if over := p.c.Streams() == 0; over != closed {
			t.Errorf("window closed: %v, reset: %v", closed, over)
		}
		_, _ = p.c.Tick(at + 10*time.Second)
		if p.c.Streams() != 0 {
			t.Error("the stream is kept though its window stays closed")
		}
	}
}
