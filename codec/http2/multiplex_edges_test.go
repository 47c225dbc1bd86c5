package http2_test

import (
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http2"
)

// RFC 9113 section 8.1: an answer isn't thrown away because the server wants no more of its
// request. A channel that doesn't read gets it when it does, and then learns of the end.
func TestMultiplexAnswerBeforeTheRequestEnds(t *testing.T) {
	t.Parallel()
	var server *channel.Channel
	f := fork(t, http2.Options{}, func(ch *channel.Channel) []any {
		server = ch
		return []any{&tail{}}
	})
	ch, l := f.open()
	ch.WriteAndFlush(request("POST", "/", false))
	ch.SetAutoRead(false)
	f.run()
	r := http.NewResponse(200)
	r.Body = buffer.CopyString("enough")
	server.WriteAndFlush(r)
	server.Close()
	f.run()
	unsent := ch.WriteAndFlush(http.NewContent(buffer.CopyString("more"), true))
	f.run()
	l.want(t, "", false)
	ch.SetAutoRead(true)
	f.run()
	l.want(t, "1 200, 1 enough end, http2: stream: reset by peer: NO_ERROR", true)
	if !unsent.IsFailed() {
		t.Error("content that wasn't wanted has been sent")
	}
}

// large answers requests with more than a frame header is sent along with.
type large struct{}

func (large) OnRead(ctx *channel.Context, msg any) {
	channel.Dispose(msg)
	r := http.NewResponse(200)
	r.Body = buffer.New(4000)
	r.Body.Write(make([]byte, 4000))
	ctx.Write(r)
	ctx.Flush()
}

// An answer leaves also where its request didn't come out of input.
func TestMultiplexAnswersAnUpgrade(t *testing.T) {
	t.Parallel()
	codec := http2.NewServerCodec(http2.ServerOptions{NoDate: true})
	mux := http2.NewMultiplex(codec, nil, func(ch *channel.Channel) error { return ch.Pipeline().AddLast("", large{}) })
	ch := embedded.New(codec, mux)
	t.Cleanup(func() { ch.Finish() })
	if err := codec.Upgrade(request("GET", "/", true), nil); err != nil {
		t.Fatal(err)
	}
	ch.RunPending()
	n := 0
	for m := ch.ReadOutbound(); m != nil; m = ch.ReadOutbound() {
		n += m.(*buffer.Buffer).Len()
		channel.Dispose(m)
	}
	if n < 4000 {
		t.Errorf("%d bytes have been sent", n)
	}
}

// A stream that is reset while its channel is made leaves none behind.
func TestMultiplexResetWhileOpening(t *testing.T) {
	t.Parallel()
	var f *forked
	l := &tail{}
	f = fork(t, http2.Options{}, func(*channel.Channel) []any {
		f.serverCodec.Reset(1, http2.RefusedStream)
		return []any{l}
	})
	ch, _ := f.open()
	ch.WriteAndFlush(request("POST", "/", false))
	f.run()
	l.want(t, "", true)
	if n := count(f.serverMux); n != 0 {
		t.Errorf("%d channels are left", n)
	}
}
