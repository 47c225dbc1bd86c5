package http2_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http2"
)

// forked is a link whose streams have channels of their own on both sides.
type forked struct {
	link
	clientMux, serverMux *http2.Multiplex
}

// tail notes what comes to the end of a stream's pipeline.
type tail struct {
	log    []string
	closed bool
}

func (l *tail) OnRead(_ *channel.Context, msg any)        { l.log = append(l.log, describe(msg)) }
func (l *tail) OnError(_ *channel.Context, err error)     { l.log = append(l.log, err.Error()) }
func (l *tail) OnInactive(*channel.Context)               { l.closed = true }
func (l *tail) OnWritability(_ *channel.Context, on bool) { l.log = append(l.log, fmt.Sprint(on)) }

func (l *tail) want(t *testing.T, lines string, closed bool) {
	t.Helper()
	if got := strings.Join(l.log, ", "); got != lines || l.closed != closed {
		t.Errorf("%q, closed %v; want %q, %v", got, l.closed, lines, closed)
	}
	l.log = nil
}

func fork(t *testing.T, co http2.Options, handlers func(ch *channel.Channel) []any) *forked {
	f := &forked{link: link{t: t}}
	f.serverCodec = http2.NewServerCodec(http2.ServerOptions{NoDate: true})
	f.clientCodec = http2.NewClientCodec(http2.ClientOptions{Options: co})
	f.serverMux = http2.NewMultiplex(f.serverCodec, nil, func(ch *channel.Channel) error {
		for _, h := range handlers(ch) {
			if err := ch.Pipeline().AddLast("", h); err != nil {
				return err
			}
		}
		return nil
	})
	f.clientMux = http2.NewMultiplex(f.clientCodec, nil, nil)
	config := channel.NewConfig()
	config.AllowHalfClosure = true
	f.server = embedded.NewConfig(config, f.serverCodec, f.serverMux)
	f.client = embedded.NewConfig(config, f.clientCodec, f.clientMux)
	t.Cleanup(func() {
		f.server.Finish()
		f.client.Finish()
	})
	f.run()
	return f
}

func (f *forked) open() (*channel.Channel, *tail) {
	f.t.Helper()
	l := &tail{}
	ch, err := f.clientMux.Open(func(ch *channel.Channel) error { return ch.Pipeline().AddLast("tail", l) })
	if err != nil {
		f.t.Fatal(err)
	}
	return ch, l
}

// count returns how many streams have channels.
func count(m *http2.Multiplex) (n int) {
	m.Streams(func(*channel.Channel) { n++ })
	return n
}

func TestMultiplex(t *testing.T) {
	t.Parallel()
	f := fork(t, http2.Options{}, func(*channel.Channel) []any { return []any{echo{}} })
	a, atail := f.open()
	b, btail := f.open()
	a.Write(request("POST", "/", false))
	b.WriteAndFlush(request("GET", "/wheel", true))
	a.Write(http.NewContent(buffer.CopyString("round"), false))
	a.Flush()
	f.run()
	btail.want(t, "1 200, 1 hello /wheel end", true)
	atail.want(t, "3 200, 3 round", false)
	if count(f.serverMux) != 1 || count(f.clientMux) != 1 {
		t.Error("channels of streams that have ended are left, or others are not")
	}
	a.WriteAndFlush(http.NewContent(buffer.CopyString("end"), true))
	f.run()
	atail.want(t, "3 end end", true)
	if count(f.serverMux)+count(f.clientMux)+f.serverCodec.Streams() != 0 {
		t.Error("channels are left")
	}
}

// A stream's channel holds its peer back alone, and is held back alone.
func TestMultiplexBackPressure(t *testing.T) {
	t.Parallel()
	var server *channel.Channel
	l := &tail{}
	f := fork(t, http2.Options{}, func(ch *channel.Channel) []any {
		server = ch
		ch.SetAutoRead(false)
		return []any{l}
	})
	ch, ctail := f.open()
	ch.Write(request("POST", "/", false))
	ch.Flush()
	f.run()
	l.want(t, "", false)
	server.Read()
	f.run()
	l.want(t, "1 POST /", false)
	var last channel.Future
	for range 20 {
		m := http.NewContent(buffer.New(50_000), false)
		m.Data.Write(make([]byte, 50_000))
		last = ch.WriteAndFlush(m)
	}
	f.run()
	if last.IsDone() || ch.IsWritable() {
		t.Error("more is taken than the stream's window and queue have room for")
	}
	ctail.want(t, "false", false)
	server.SetAutoRead(true)
	f.run()
	if !last.IsSuccess() || !ch.IsWritable() {
		t.Error("not all is taken")
	}
	ctail.want(t, "true", false)
	if n := strings.Count(strings.Join(l.log, ","), "1 ("); n < 20 {
		t.Errorf("%d contents", n)
	}
}

// Channels that close take their streams with them, and streams their channels.
func TestMultiplexEnds(t *testing.T) {
	t.Parallel()
	var servers []*channel.Channel
	tails := map[*channel.Channel]*tail{}
	f := fork(t, http2.Options{}, func(ch *channel.Channel) []any {
		servers = append(servers, ch)
		tails[ch] = &tail{}
		return []any{tails[ch]}
	})
	var clients []*channel.Channel
	var ctails []*tail
	for range 4 {
		ch, l := f.open()
		ch.WriteAndFlush(request("POST", "/", false))
		clients, ctails = append(clients, ch), append(ctails, l)
	}
	f.run()
	clients[0].Close()
	servers[1].Close()
	servers[2].Write(http.NewResponse(200))
	servers[2].Flush()
	f.run()
	tails[servers[0]].want(t, "1 POST /, http2: stream: reset by peer: CANCEL", true)
	ctails[1].want(t, "http2: stream: reset by peer: CANCEL", true)
	ctails[2].want(t, "5 200 end", false)
	servers[2].Close() // the rest of the request isn't wanted
	f.run()
	ctails[2].want(t, "http2: stream: reset by peer: NO_ERROR", true)
	unsent, utail := f.open()
	f.client.Close()
	f.client.RunPending()
	ctails[3].want(t, "http2: the connection was lost", true)
	utail.want(t, "", true)
	if unsent.IsOpen() || count(f.clientMux) != 0 {
		t.Error("channels are left")
	}
	if _, err := f.clientMux.Open(func(*channel.Channel) error { return nil }); err != http2.ErrClosing {
		t.Error(err)
	}
}

// Half of a stream is ended by its channel's Shutdown; what can't be made is reset.
func TestMultiplexShutdown(t *testing.T) {
	t.Parallel()
	broken := false
	f := fork(t, http2.Options{}, func(*channel.Channel) []any {
		if broken {
			return []any{42} // no handler
		}
		return []any{echo{}}
	})
	ch, l := f.open()
	ch.WriteAndFlush(request("POST", "/", false))
	ch.Shutdown(channel.Outbound)
	f.run()
	l.want(t, "1 200, 1 (0) end", true)
	broken = true
	ch, l = f.open()
	ch.WriteAndFlush(request("GET", "/", true))
	f.run()
	l.want(t, "http2: stream: reset by peer: INTERNAL_ERROR", true)
	ch, _ = f.open()
	if err := ch.Write(http.NewResponse(200)).Err(); !errors.Is(err, channel.ErrUnsupportedMessage) {
		t.Error(err)
	}
}
