package http2_test

import (
	"strings"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http2"
)

// bad panics at the first request that it sees.
type bad struct {
	panicked bool
	errors   int
}

func (b *bad) OnRead(ctx *channel.Context, msg any) {
	if r, ok := msg.(*http.Request); ok && !b.panicked {
		b.panicked = true
		r.Close()
		panic("no mill")
	}
	ctx.FireRead(msg)
}

func (b *bad) OnError(*channel.Context, error) { b.errors++ }

// What was received behind a request whose handler panics is not forgotten.
func TestHandlerPanics(t *testing.T) {
	t.Parallel()
	b := &bad{}
	l := connect(t, http2.ServerOptions{}, http2.ClientOptions{}, b, echo{})
	for range 3 {
		l.client.Write(request("GET", "/", true))
	}
	l.client.Flush()
	l.run()
	if got := read(l.client); got != "3 200, 3 hello / end, 5 200, 5 hello / end" || b.errors != 1 {
		t.Errorf("%q, %d errors", got, b.errors)
	}
	if l.serverCodec.Err() != nil || l.serverCodec.Streams() != 1 {
		t.Error(l.serverCodec.Err(), l.serverCodec.Streams())
	}
}

// A peer that did not take its answers is listened to again when it has.
func TestOwingPeerGoesOn(t *testing.T) {
	t.Parallel()
	l := connect(t, http2.ServerOptions{Options: http2.Options{MaxStreams: 1000}}, http2.ClientOptions{}, echo{})
	l.server.SetTransportWritable(false)
	const n = 500
	for range n {
		r := request("GET", "/"+strings.Repeat("x", 1500), true) // an answer inline, of this length
		l.client.Write(r)
	}
	l.client.Flush()
	l.run()
	answered := func() int {
		l.run()
		return strings.Count(read(l.client), " 200")
	}
	if n := l.server.PendingBytes(); answered() != 0 || n < 300<<10 || n > 400<<10 {
		t.Error(n, "bytes of answers wait")
	}
	l.server.SetTransportWritable(true)
	if got := answered(); got != n {
		t.Errorf("%d answers", got)
	}
}

// A peer that stops reading altogether loses the connection, not the server its memory.
func TestBlockedOutput(t *testing.T) {
	t.Parallel()
	l := connect(t, http2.ServerOptions{}, http2.ClientOptions{})
	l.send(request("GET", "/", true))
	l.run()
	read(l.server)
	l.server.SetTransportWritable(false)
	r := http.NewResponse(200)
	r.ID, r.Body = 1, buffer.New(500_000)
	r.Body.Write(make([]byte, 500_000))
	f := l.server.WriteAndFlush(r)
	l.server.RunPending()
	l.server.Advance(http2.DefaultStallTimeout - time.Second)
	if !l.server.IsOpen() {
		t.Error("closed too early")
	}
	l.server.Advance(http2.DefaultStallTimeout)
	if l.server.IsOpen() || !f.IsFailed() {
		t.Error("still open")
	}
	read(l.server)
}

// What was sent before the connection's end reaches a peer that takes it slowly, also when the
// linger time is over or the peer has ended its direction meanwhile.
func TestEndOfAConnectionWithSlowOutput(t *testing.T) {
	t.Parallel()
	for _, peerEnds := range []bool{false, true} {
		l := connect(t, http2.ServerOptions{}, http2.ClientOptions{})
		l.send(request("GET", "/", true))
		l.run()
		read(l.server)
		l.server.SetTransportWritable(false)
		r := http.NewResponse(200)
		r.ID, r.Body = 1, buffer.New(1000)
		r.Body.Write(make([]byte, 1000))
		l.server.WriteAndFlush(r)
		l.server.RunPending()
		bad := http2.AppendFrameHeader(nil, http2.FrameHeader{Length: 3, Type: http2.FramePing})
		if err := l.server.WriteInbound(buffer.Copy(append(bad, 1, 2, 3))); err != nil {
			t.Fatal(err)
		}
		l.server.Advance(http2.DefaultStallTimeout - time.Second)
		if peerEnds {
			_ = l.server.CloseInbound()
		}
		if !l.server.IsOpen() {
			t.Fatal("closed before everything was sent")
		}
		l.server.SetTransportWritable(true)
		l.run()
		if got := read(l.client); !strings.HasPrefix(got, "1 200, 1 (1000)") {
			t.Errorf("the client got %q", got)
		}
		if l.server.IsOpen() == peerEnds {
			t.Errorf("the peer has ended: %v, open: %v", peerEnds, l.server.IsOpen())
		}
		if l.server.Advance(5 * time.Second); l.server.IsOpen() {
			t.Error("stays open")
		}
	}
}

// The same peer loses the connection if it has asked for all that it wants, and takes nothing.
func TestBlockedOutputBehindTheEnd(t *testing.T) {
	t.Parallel()
	l := connect(t, http2.ServerOptions{}, http2.ClientOptions{})
	l.send(request("GET", "/", true))
	l.run()
	read(l.server)
	l.server.Advance(http2.DefaultSettingsTimeout) // the last that the timer waits for
	_ = l.server.CloseInbound()
	l.server.SetTransportWritable(false)
	r := http.NewResponse(200)
	r.ID = 1
	l.server.WriteAndFlush(r)
	l.server.RunPending()
	for range 3 {
		l.server.Advance(http2.DefaultStallTimeout)
	}
	if l.server.IsOpen() {
		t.Error("still open")
	}
}

// What the peer has sent in time is not late because this side doesn't read.
func TestAnswersThatAreNotRead(t *testing.T) {
	t.Parallel()
	l := connect(t, http2.ServerOptions{}, http2.ClientOptions{})
	l.send(request("GET", "/", true))
	l.run()
	read(l.server)
	l.server.SetAutoRead(false)
	l.serverCodec.Ping()
	l.run()
	for range 3 {
		l.server.Advance(http2.DefaultPingTimeout)
	}
	l.server.SetAutoRead(true)
	l.run()
	if err := l.serverCodec.Err(); err != nil || !l.server.IsOpen() {
		t.Error(err)
	}
	l.serverCodec.Ping()
	l.server.RunPending()
	l.server.Advance(http2.DefaultPingTimeout)
	if l.serverCodec.Err() == nil {
		t.Error("a PING that is not answered is not noticed any more")
	}
}

// A peer that keeps its windows closed loses the stream.
func TestClosedWindow(t *testing.T) {
	t.Parallel()
	l := connect(t, http2.ServerOptions{}, http2.ClientOptions{Options: http2.Options{StreamWindow: 1000, ManualConsume: true}})
	l.send(request("GET", "/", true))
	l.run()
	read(l.server)
	r := http.NewResponse(200)
	r.ID, r.Body = 1, buffer.New(5000)
	r.Body.Write(make([]byte, 5000))
	f := l.server.WriteAndFlush(r)
	l.run()
	l.server.Advance(2 * http2.DefaultStallTimeout)
	l.run()
	if got := read(l.server); got != "1 (0) http2: stream: CANCEL: no progress in time" || !f.IsFailed() {
		t.Error(got)
	}
	if got := read(l.client); got != "1 200, 1 (1000), 1 (0) http2: stream: reset by peer: CANCEL" {
		t.Error(got)
	}
	if !l.server.IsOpen() || !l.client.IsOpen() {
		t.Error("the connection is closed")
	}
}

// A peer that answers no PING loses the connection, one that does keeps it.
func TestPing(t *testing.T) {
	t.Parallel()
	l := connect(t, http2.ServerOptions{}, http2.ClientOptions{})
	l.clientCodec.Ping()
	l.run()
	l.client.Advance(2 * http2.DefaultPingTimeout)
	if !l.client.IsOpen() || l.client.OutboundShutdown() {
		t.Error("ended though the peer has answered")
	}
	l.clientCodec.Ping()
	l.client.RunPending()
	l.client.Advance(2 * http2.DefaultPingTimeout)
	if !l.client.OutboundShutdown() {
		t.Error("not ended though the peer has not answered")
	}
}

func TestPhases(t *testing.T) {
	t.Parallel()
	l := connect(t, http2.ServerOptions{}, http2.ClientOptions{})
	phase := func(want http2.Phase) {
		t.Helper()
		if got, _ := l.serverCodec.Phase(); got != want {
			t.Errorf("phase %d, want %d", got, want)
		}
	}
	phase(http2.PhaseIdle)
	head := http2.AppendFrameHeader(nil, http2.FrameHeader{Length: 3, Type: http2.FrameHeaders, Flags: http2.FlagEndStream, StreamID: 101})
	l.send(request("GET", "/", true))
	l.run()
	phase(http2.PhaseActive)
	l.server.Advance(time.Second)
	l.serverCodec.Reset(1, http2.Cancel)
	l.server.RunPending()
	phase(http2.PhaseIdle)
	if err := l.server.WriteInbound(buffer.Copy(head)); err != nil {
		t.Fatal(err)
	}
	phase(http2.PhaseHead)
	l.server.Advance(2 * http2.DefaultHeadTimeout)
	phase(http2.PhaseOther)
	read(l.server)
}

// A stream is held back while its handler wants no content, and goes on.
func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	l := connect(t, http2.ServerOptions{Options: http2.Options{StreamWindow: 1 << 16}}, http2.ClientOptions{})
	id := l.send(request("POST", "/", false))
	l.run()
	read(l.server)
	l.serverCodec.Pause(id)
	m := http.NewContent(buffer.New(100_000), true)
	m.ID = id
	m.Data.Write(make([]byte, 100_000))
	f := l.client.WriteAndFlush(m)
	l.run()
	if f.IsDone() || l.clientCodec.Queued(id) != 100_000-1<<16 {
		t.Error("not held back:", l.clientCodec.Queued(id))
	}
	l.serverCodec.Resume(id)
	l.run()
	if !f.IsSuccess() {
		t.Error("held back for ever")
	}
	if got := read(l.server); !strings.HasSuffix(got, " end") {
		t.Error(got)
	}
}

// What is no HTTP message is refused, and other messages pass.
func TestOtherMessages(t *testing.T) {
	t.Parallel()
	l := connect(t, http2.ServerOptions{}, http2.ClientOptions{})
	for _, ch := range []*embedded.Channel{l.client, l.server} {
		if err := ch.WriteOutbound(buffer.CopyString("x")); err != http2.ErrNotHTTP {
			t.Error(err)
		}
		if err := ch.WriteInbound(new(int)); err != nil {
			t.Error(err)
		}
		if _, ok := ch.ReadInbound().(*int); !ok {
			t.Error("not passed on")
		}
	}
	if err := l.client.WriteOutbound(http.NewContent(nil, true)); err != http2.ErrNoStream {
		t.Error(err)
	}
}
