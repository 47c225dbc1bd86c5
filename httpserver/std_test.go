package httpserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"millrace.dev/channel"
	"millrace.dev/httpserver"
)

// letRun drives an embedded channel until a condition holds; handlers run on their own
// goroutines beside it.
func letRun(t testing.TB, ch interface{ RunPending() }, what string, ok func() bool) {
	t.Helper()
	await(t, what, func() bool {
		ch.RunPending()
		return ok()
	})
}

func TestStandardClient(t *testing.T) {
	t.Parallel()
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		_, _ = io.Copy(w, r.Body)
	})
	tr := &nethttp.Transport{}
	defer tr.CloseIdleConnections()
	c := &nethttp.Client{Transport: tr}
	for _, size := range []int{0, 1, 4096, 4097, 100_000, 8 << 20} {
		sent := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		for _, declared := range []bool{true, false} {
			var body io.Reader = bytes.NewReader(sent)
			if !declared {
				body = struct{ io.Reader }{body}
			}
			resp, err := c.Post("http://"+addr+"/", "text/plain", body)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil || !bytes.Equal(got, sent) {
				t.Errorf("%d bytes, declared %t: %d came back, %v", size, declared, len(got), err)
			}
		}
	}
}

func TestPipelinedRequestsAreServedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	var running, most atomic.Int32
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		most.Store(max(most.Load(), running.Add(1)))
		for range 10 {
			runtime.Gosched()
		}
		b, _ := io.ReadAll(r.Body)
		running.Add(-1)
		fmt.Fprintf(w, "%s %s", r.URL.Path, b)
	})
	c := dial(t, addr)
	var requests strings.Builder
	for i := range 20 {
		fmt.Fprintf(&requests, "POST /%d HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n%3d", i, i)
	}
	c.send(requests.String())
	for i := range 20 {
		if got := c.receive("POST").body; got != fmt.Sprintf("/%d %3d", i, i) {
			t.Fatalf("answer %d is %q", i, got)
		}
	}
	if most.Load() != 1 {
		t.Errorf("%d requests of one connection were served at a time", most.Load())
	}
}

func TestNothingIsServedBehindTheLastAnswer(t *testing.T) {
	t.Parallel()
	var served atomic.Int32
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		served.Add(1)
		w.Header().Set("Connection", "close")
	})
	c := dial(t, addr)
	c.send(getLine + getLine + getLine)
	if got := c.receive("GET"); !got.Close {
		t.Error("the connection goes on")
	}
	c.expectClosed()
	if served.Load() != 1 {
		t.Errorf("%d requests were served", served.Load())
	}
}

// Of a 205 only the head can be sent, whatever else the handler would like.
func TestResetContent(t *testing.T) {
	t.Parallel()
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set(nethttp.TrailerPrefix+"C", "2")
		w.WriteHeader(nethttp.StatusResetContent)
		if r.URL.Path == "/flushed" {
			_ = nethttp.NewResponseController(w).Flush()
		}
		if _, err := io.WriteString(w, "x"); err != nethttp.ErrBodyNotAllowed {
			t.Errorf("content is answered with %v", err)
		}
	})
	c := dial(t, addr)
	c.send(getLine + "GET /flushed HTTP/1.1\r\nHost: x\r\n\r\n")
	for range 2 {
		if got := c.receive("GET"); got.StatusCode != 205 || got.ContentLength != 0 || got.Close {
			t.Errorf("%d, length %d, close %v", got.StatusCode, got.ContentLength, got.Close)
		}
	}
}

// A broken-off answer ends the connection: what is pipelined behind it is not served, as its
// client will ask again.
func TestNothingIsServedBehindABrokenAnswer(t *testing.T) {
	t.Parallel()
	var behind atomic.Int32
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		switch r.URL.Path {
		case "/":
			panic(nethttp.ErrAbortHandler)
		case "/behind":
			behind.Add(1)
		}
	})
	for range 20 { // for the handlers of one to show while the next are served
		c := dial(t, addr)
		c.send(getLine + "GET /behind HTTP/1.1\r\nHost: x\r\n\r\nGET /behind HTTP/1.1\r\nHost: x\r\n\r\n")
		if rest, _ := io.ReadAll(c.r); len(rest) > 0 {
			t.Fatalf("answered %q", rest)
		}
	}
	get(t, addr, "/ping")
	if n := behind.Load(); n != 0 {
		t.Errorf("%d requests were served", n)
	}
}

func TestNativeAndHandlerShareAServer(t *testing.T) {
	t.Parallel()
	s := &httpserver.Server{
		Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
			if string(x.Request().Path()) != "/native" {
				return false
			}
			x.Respond(200, "text/plain", []byte("native"))
			return true
		}),
		Handler: nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) { fmt.Fprint(w, "std") }),
	}
	c := dial(t, serve(t, s))
	c.send("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /native HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")
	for i, want := range []string{"std", "native", "std"} {
		if got := c.receive("GET").body; got != want {
			t.Errorf("answer %d is %q, want %q", i, got, want)
		}
	}
	if st := s.Stats(); st.Requests != 3 || st.Native != 1 || st.Connections != 1 {
		t.Errorf("%+v", st)
	}
}

func TestContentIsHeldBackUntilTheHandlerReads(t *testing.T) {
	t.Parallel()
	read := make(chan struct{})
	done := make(chan int64)
	ch := embed(t, &httpserver.Server{Handler: nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		<-read
		n, _ := io.Copy(io.Discard, r.Body)
		done <- n
	})})
	const total = 1 << 20
	feed(t, ch, fmt.Sprintf("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", total))
	piece := strings.Repeat("x", 16<<10)
	fed := 0
	for ch.Reading() {
		feed(t, ch, piece)
		fed += len(piece)
	}
	if fed > 100<<10 {
		t.Fatalf("%d bytes taken for a handler that doesn't read", fed)
	}
	close(read)
	for fed < total {
		letRun(t, ch, "reading goes on", ch.Reading)
		feed(t, ch, piece)
		fed += len(piece)
	}
	var got int64
	letRun(t, ch, "the handler gets it all", func() bool {
		select {
		case got = <-done:
			return true
		default:
			return false
		}
	})
	if got != total {
		t.Errorf("the handler has read %d bytes", got)
	}
}

func TestWriterIsHeldBackWhileTheClientDoesNotRead(t *testing.T) {
	t.Parallel()
	var written atomic.Int64
	result := make(chan error, 1)
	ch := embed(t, &httpserver.Server{Handler: nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		p := make([]byte, 10_000)
		for {
			if _, err := w.Write(p); err != nil {
				result <- err
				return
			}
			written.Add(int64(len(p)))
		}
	})})
	ch.SetTransportWritable(false)
	feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	letRun(t, ch, "the watermark is reached", func() bool { return !ch.IsWritable() })
	for range 1000 { // room for the writer to go too far
		ch.RunPending()
		runtime.Gosched()
	}
	if n := written.Load(); n > 300_000 {
		t.Errorf("%d bytes were written to a client that doesn't read", n)
	}
	if ch.PendingBytes() > 200_000 {
		t.Errorf("%d bytes pending", ch.PendingBytes())
	}
	ch.FailInbound(errors.New("broken"))
	if err := receiveFrom(t, "the writer wakes", result); err == nil || err.Error() != "broken" {
		t.Errorf("the blocked Write failed with %v", err)
	}
}

func TestContextEndsWhenTheClientGoes(t *testing.T) {
	t.Parallel()
	for _, reset := range []bool{false, true} {
		for _, body := range []bool{false, true} {
			started := make(chan struct{})
			ended := make(chan error, 1)
			addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
				ctx, cancel := context.WithCancel(r.Context())
				defer cancel()
				close(started)
				if body {
					_, err := io.ReadAll(r.Body)
					if err == nil {
						ended <- errors.New("the body looks whole")
						return
					}
					if !reset && !errors.Is(err, io.ErrUnexpectedEOF) {
						ended <- err
						return
					}
				}
				<-ctx.Done()
				ended <- nil
			})
			c := dial(t, addr)
			if body {
				c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nsome")
			} else {
				c.send(getLine)
			}
			receiveFrom(t, "the handler starts", started)
			if reset {
				_ = c.Conn.(*net.TCPConn).SetLinger(0)
			}
			_ = c.Close()
			if err := receiveFrom(t, "the context ends", ended); err != nil {
				t.Errorf("reset %t, body %t: %v", reset, body, err)
			}
		}
	}
}

func TestContextEndsWithTheHandler(t *testing.T) {
	t.Parallel()
	contexts := make(chan context.Context, 1)
	called := make(chan struct{})
	var s *httpserver.Server
	s = &httpserver.Server{Handler: nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		ctx := r.Context()
		if ctx.Err() != nil {
			t.Error("cancelled from the start")
		}
		if ctx.Value(httpserver.ServerContextKey) != s {
			t.Error("no server in the context")
		}
		if a, ok := ctx.Value(nethttp.LocalAddrContextKey).(net.Addr); !ok || a.String() != s.Addr().String() {
			t.Errorf("local address %v", a)
		}
		context.AfterFunc(ctx, func() { close(called) })
		stop := context.AfterFunc(ctx, func() { t.Error("called though it was stopped") })
		if !stop() {
			t.Error("stop had no effect")
		}
		contexts <- ctx
	})}
	addr := serve(t, s)
	get(t, addr, "/")
	receiveFrom(t, "AfterFunc is called", called)
	ctx := <-contexts
	receiveFrom(t, "Done is closed", ctx.Done())
	if ctx.Err() != context.Canceled {
		t.Errorf("Err is %v", ctx.Err())
	}
}

type testKey struct{}

func TestBaseAndConnContext(t *testing.T) {
	t.Parallel()
	base, cancel := context.WithCancel(context.Background())
	defer cancel()
	conns := 0
	started := make(chan struct{}, 1)
	s := &httpserver.Server{
		BaseContext: func(l *channel.Channel) context.Context {
			if l == nil || l.LocalAddr() == nil {
				t.Error("no listener")
			}
			return base
		},
		ConnContext: func(ctx context.Context, ch *channel.Channel) context.Context {
			conns++ // on one loop, as there is one connection
			return context.WithValue(ctx, testKey{}, ch.RemoteAddr().String())
		},
		Handler: nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
			if r.Context().Value(testKey{}) != r.RemoteAddr {
				t.Errorf("value %v, remote %v", r.Context().Value(testKey{}), r.RemoteAddr)
			}
			if r.URL.Path == "/wait" {
				started <- struct{}{}
				<-r.Context().Done()
				fmt.Fprint(w, r.Context().Err())
			}
		}),
	}
	c := dial(t, serve(t, s))
	for range 2 {
		c.send(getLine)
		c.receive("GET")
	}
	c.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
	receiveFrom(t, "the handler starts", started)
	cancel()
	if got := c.receive("GET").body; got != context.Canceled.Error() {
		t.Errorf("got %q", got)
	}
	if conns != 1 {
		t.Errorf("ConnContext was called %d times for one connection", conns)
	}
}

func TestContinueIsSentAtTheFirstRead(t *testing.T) {
	t.Parallel()
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path == "/no" {
			w.WriteHeader(403)
			return
		}
		b, err := io.ReadAll(r.Body)
		fmt.Fprint(w, string(b), err)
	})
	c := dial(t, addr)
	const rest = " HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
	for range 2 {
		c.send("POST /" + rest)
		if got := c.receive("POST"); got.StatusCode != 100 {
			t.Fatalf("status %d", got.StatusCode)
		}
		c.send("hi")
		if got := c.receive("POST").body; got != "hi<nil>" {
			t.Fatalf("got %q", got)
		}
	}
	c.send("POST /no" + rest)
	if got := c.receive("POST"); got.StatusCode != 403 || !got.Close {
		t.Errorf("status %d, close %t", got.StatusCode, got.Close)
	}
	_ = c.Conn.(*net.TCPConn).CloseWrite()
	c.expectClosed()
}

func TestPanicsOfHandlers(t *testing.T) {
	t.Parallel()
	var l logs
	s := &httpserver.Server{Logger: l.logger(), Handler: nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		switch r.URL.Path {
		case "/panic":
			panic("out of order")
		case "/abort":
			fmt.Fprint(w, "some")
			panic(nethttp.ErrAbortHandler)
		case "/exit":
			runtime.Goexit()
		}
	})}
	addr := serve(t, s)
	for _, path := range []string{"/panic", "/abort", "/exit"} {
		c := dial(t, addr)
		c.send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n")
		c.expectClosed()
		if got := get(t, addr, "/"); got.StatusCode != 200 {
			t.Errorf("after %s: status %d", path, got.StatusCode)
		}
	}
	if n := s.Stats().Panics; n != 1 {
		t.Errorf("%d panics counted", n)
	}
	got := l.String()
	if strings.Count(got, "handler panicked") != 1 || !strings.Contains(got, "out of order") || !strings.Contains(got, "TestPanicsOfHandlers") {
		t.Errorf("logged %q", got)
	}
}

// Whoever sees a connection close because of a panic finds it counted.
func TestPanicIsCountedBeforeItsConnectionCloses(t *testing.T) {
	t.Parallel()
	s := newStd(nethttp.HandlerFunc(func(nethttp.ResponseWriter, *nethttp.Request) { panic("out of order") }))
	ch := embed(t, s)
	counted := int64(-1)
	ch.CloseFuture().OnComplete(func(channel.Future) { counted = s.Stats().Panics })
	feed(t, ch, getLine)
	letRun(t, ch, "the connection closes", func() bool { return counted >= 0 })
	if counted != 1 {
		t.Errorf("%d panics counted", counted)
	}
}

func TestMistakesAreLoggedWithTheirPlace(t *testing.T) {
	t.Parallel()
	var l logs
	addr := serve(t, &httpserver.Server{Logger: l.logger(), Handler: nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("Content-Length", "many")
		w.WriteHeader(200)
		w.WriteHeader(201)
	})})
	if got := get(t, addr, "/"); got.StatusCode != 200 {
		t.Errorf("status %d", got.StatusCode)
	}
	got := l.String()
	for _, want := range []string{"superfluous WriteHeader", "invalid Content-Length", "std_test.go:"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in the log %q", want, got)
		}
	}
}

func TestUseAfterTheHandlerHasReturned(t *testing.T) {
	t.Parallel()
	kept := make(chan nethttp.ResponseWriter, 1)
	bodies := make(chan io.ReadCloser, 1)
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		fmt.Fprint(w, "some")
		kept <- w
		bodies <- r.Body
	})
	c := dial(t, addr)
	c.send(post5)
	if got := c.receive("POST").body; got != "some" {
		t.Fatalf("got %q", got)
	}
	w := <-kept
	if _, err := w.Write([]byte("more")); !errors.Is(err, httpserver.ErrAnswered) {
		t.Errorf("Write: %v", err)
	}
	if err := nethttp.NewResponseController(w).Flush(); !errors.Is(err, httpserver.ErrAnswered) {
		t.Errorf("Flush: %v", err)
	}
	if _, _, err := nethttp.NewResponseController(w).Hijack(); !errors.Is(err, httpserver.ErrAnswered) {
		t.Errorf("Hijack: %v", err)
	}
	if _, err := (<-bodies).Read(make([]byte, 1)); !errors.Is(err, nethttp.ErrBodyReadAfterClose) {
		t.Errorf("Read: %v", err)
	}
	c.send(getLine)
	if got := c.receive("GET").body; got != "some" {
		t.Errorf("the next answer is %q", got)
	}
}

func TestRequestWhoseContentIsCut(t *testing.T) {
	t.Parallel()
	for _, head := range []string{"Content-Length: 100\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n5\r\nab"} {
		errs := make(chan error, 1)
		addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
			_, err := io.ReadAll(r.Body)
			errs <- err
			w.WriteHeader(200)
		})
		c := dial(t, addr)
		c.send("POST / HTTP/1.1\r\nHost: x\r\n" + head)
		_ = c.Conn.(*net.TCPConn).CloseWrite()
		if err := receiveFrom(t, "the read ends", errs); err != io.ErrUnexpectedEOF {
			t.Errorf("read ended with %v", err)
		}
		if resp, err := nethttp.ReadResponse(c.r, nil); err == nil && resp.StatusCode < 300 {
			t.Errorf("a request that was cut was answered with %d", resp.StatusCode)
		}
	}
}

// The end of the input amid content brings the read batch to its end as well: what is sent from
// then on is flushed, however much it is.
func TestAnswerWhileThePeersEndCutsTheNextRequest(t *testing.T) {
	t.Parallel()
	const size = 1 << 20 // above every watermark
	cut := make(chan struct{})
	ch := embed(t, newStd(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		<-cut
		_, _ = w.Write(make([]byte, size))
	})))
	feed(t, ch, getLine+"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel")
	if err := ch.CloseInbound(); err != nil {
		t.Fatal(err)
	}
	close(cut)
	sent := 0
	letRun(t, ch, "the whole answer", func() bool {
		sent += len(rawSent(t, ch))
		return sent > size
	})
}

func TestMalformedContentIsTheHandlersError(t *testing.T) {
	t.Parallel()
	errs := make(chan error, 1)
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		_, err := io.ReadAll(r.Body)
		errs <- err
	})
	c := dial(t, addr)
	c.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
	if err := receiveFrom(t, "the read ends", errs); err == nil || err == io.ErrUnexpectedEOF {
		t.Errorf("read ended with %v", err)
	}
	if got := c.receive("POST"); got.StatusCode != 400 || !got.Close {
		t.Errorf("status %d, close %t", got.StatusCode, got.Close)
	}
}

func TestRequestTrailers(t *testing.T) {
	t.Parallel()
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		fmt.Fprintf(w, "%d ", len(r.Trailer))
		_, _ = io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, r.Trailer)
	})
	c := dial(t, addr)
	c.send("POST / HTTP/1.1\r\nHost: x\r\nTrailer: Sum\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
	c.send("0\r\nsum: 1\r\n\r\n")
	if got := c.receive("POST").body; got != "1 map[Sum:[1]]" {
		t.Errorf("got %q", got)
	}
}
