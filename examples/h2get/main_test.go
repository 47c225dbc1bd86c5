package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http2"
	"millrace.dev/httpserver"
	"millrace.dev/loop"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

// newGroup returns a loop for a test.
func newGroup(t *testing.T) *loop.Group {
	t.Helper()
	group, err := loop.NewGroup(loop.Options{Loops: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := group.Shutdown(0, time.Minute).Wait(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return group
}

// get fetches paths of a server and returns what h2get prints.
func get(t *testing.T, ctx context.Context, address string, paths ...string) string {
	t.Helper()
	var urls []string
	for _, path := range paths {
		urls = append(urls, "http://"+address+path)
	}
	pages, to, err := parse(urls)
	if err != nil {
		t.Fatal(err)
	}
	fetch(ctx, newGroup(t), to, pages)
	var b strings.Builder
	for _, p := range pages {
		fmt.Fprintln(&b, strings.TrimPrefix(p.String(), "http://"+address))
	}
	return b.String()
}

// content answers with the path's length times a thousand bytes, over HTTP/2 only.
func content(w nethttp.ResponseWriter, r *nethttp.Request) {
	switch {
	case r.ProtoMajor != 2:
		w.WriteHeader(nethttp.StatusHTTPVersionNotSupported)
	case r.URL.Path == "/abort":
		panic(nethttp.ErrAbortHandler)
	default:
		fmt.Fprint(w, strings.Repeat("x", 1000*len(r.URL.Path)))
	}
}

// everything has more paths than either server allows at once.
func everything() (paths []string, want string) {
	paths = []string{"/abort"}
	want = "/abort: http2: stream: reset by peer: INTERNAL_ERROR\n"
	for i := range 400 {
		path := fmt.Sprint("/", i)
		paths = append(paths, path)
		want += fmt.Sprintf("%s: 200, %d bytes\n", path, 1000*len(path))
	}
	return paths, want
}

func TestNetHTTP(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(nethttp.HandlerFunc(content))
	server.Config.Protocols = new(nethttp.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()
	paths, want := everything()
	if got := get(t, t.Context(), server.Listener.Addr().String(), paths...); got != want {
		t.Errorf("got\n%.1000s", got)
	}
}

func TestHTTPServer(t *testing.T) {
	t.Parallel()
	server := &httpserver.Server{Handler: nethttp.HandlerFunc(content)}
	ln, err := server.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	paths, want := everything()
	if got := get(t, t.Context(), ln.LocalAddr().String(), paths...); got != want {
		t.Errorf("got\n%.1000s", got)
	}
}

// refuser refuses every other stream of its first connections, and answers the others.
type refuser struct {
	codec   *http2.ServerCodec
	refuses bool
}

func (s *refuser) OnRead(ctx *channel.Context, msg any) {
	if r, ok := msg.(*http.Request); ok {
		if s.refuses && r.ID%4 == 1 {
			s.codec.Reset(r.ID, http2.RefusedStream)
		} else {
			ctx.Write(r.Respond(204))
		}
	}
	channel.Dispose(msg)
}

func (s *refuser) OnReadComplete(ctx *channel.Context) { ctx.Flush() }

// serveRefusers returns the address of a server whose first connections refuse streams.
func serveRefusers(t *testing.T, first int) string {
	t.Helper()
	codecs := http2.NewServerCodecs(http2.ServerOptions{})
	conns := 0 // a group of one loop: they come in order
	server := &bootstrap.Server{Group: newGroup(t), Init: func(ch *channel.Channel) error {
		conns++
		s := &refuser{codec: codecs.New(), refuses: conns <= first}
		if err := ch.Pipeline().AddLast("http", s.codec); err != nil {
			return err
		}
		return ch.Pipeline().AddLast("refuser", s)
	}}
	ln, err := server.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln.LocalAddr().String()
}

func TestRefusedStreamsAreTriedAgainOnce(t *testing.T) {
	t.Parallel()
	if got := get(t, t.Context(), serveRefusers(t, 1), "/a", "/b", "/c"); got != "/a: 204, 0 bytes\n/b: 204, 0 bytes\n/c: 204, 0 bytes\n" {
		t.Errorf("got %s", got)
	}
	const again = "http2: stream: reset by peer: REFUSED_STREAM\n"
	if got := get(t, t.Context(), serveRefusers(t, 9), "/a", "/b", "/c"); got != "/a: "+again+"/b: 204, 0 bytes\n/c: 204, 0 bytes\n" {
		t.Errorf("got %s", got)
	}
}

// A server that goes away after the first stream: it is only known to have processed that.
func TestWhatGoAwayLeavesOutIsTriedAgain(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	ended := make(chan error, 1)
	go func() {
		err := answer(ln, 1, 5)
		ended <- errors.Join(err, answer(ln, 3, 3)) // on a connection of their own they are 1 and 3
	}()
	if got := get(t, t.Context(), ln.Addr().String(), "/a", "/b", "/c"); got != "/a: 200, 0 bytes\n/b: 200, 0 bytes\n/c: 200, 0 bytes\n" {
		t.Errorf("got %s", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// answer takes requests on one connection up to the stream end, goes away, and answers
// those up to last.
func answer(ln net.Listener, last, end uint32) error {
	c, err := ln.Accept()
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := io.CopyN(io.Discard, c, int64(len(xhttp2.ClientPreface))); err != nil {
		return err
	}
	f := xhttp2.NewFramer(c, c)
	err = f.WriteSettings()
	for err == nil {
		var frame xhttp2.Frame
		if frame, err = f.ReadFrame(); err == nil && frame.Header().Type == xhttp2.FrameHeaders && frame.Header().StreamID == end {
			break
		}
	}
	err = errors.Join(err, f.WriteGoAway(last, xhttp2.ErrCodeNo, nil))
	for id := uint32(1); id <= last; id += 2 {
		err = errors.Join(err, f.WriteHeaders(xhttp2.HeadersFrameParam{
			StreamID: id, BlockFragment: []byte{0x88}, EndHeaders: true, EndStream: true, // ":status: 200"
		}))
	}
	_, _ = io.Copy(io.Discard, c) // until the client has had enough
	return err
}

func TestContextEndsIt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewUnstartedServer(nethttp.HandlerFunc(func(_ nethttp.ResponseWriter, r *nethttp.Request) {
		cancel() // the request is there, and not answered
		<-r.Context().Done()
	}))
	server.Config.Protocols = new(nethttp.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()
	if got := get(t, ctx, server.Listener.Addr().String(), "/"); got != "/: context canceled\n" {
		t.Errorf("got %s", got)
	}
}

func TestNoServer(t *testing.T) {
	t.Parallel()
	pages := []*page{{url: "http://127.0.0.1:1/"}}
	fetch(t.Context(), newGroup(t), "127.0.0.1:1", pages)
	if pages[0].err == nil || pages[0].unprocessed() {
		t.Errorf("got %v", pages[0].err)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	pages, address, err := parse([]string{"http://a/x?y=1#z", "http://a:80/"})
	if err != nil || address != "a:80" || pages[0].url != "http://a:80/x?y=1" || pages[1].url != "http://a:80/" {
		t.Errorf("%v, %s, %v", pages, address, err)
	}
	for _, urls := range [][]string{{}, {"https://a/"}, {"a/"}, {"http://a/", "http://b/"}, {"http://a:b/"}} {
		if pages, _, err := parse(urls); err == nil {
			t.Errorf("%s: accepted as %v", urls, pages)
		}
	}
	if (&page{err: errors.New("x")}).unprocessed() {
		t.Error("any error may be tried again")
	}
}
