package httpserver_test

import (
	"context"
	"fmt"
	"io"
	nethttp "net/http"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"

	"millrace.dev/buffer"
	"millrace.dev/codec/http"
	"millrace.dev/httpserver"
)

// window is the setting that a client's streams begin with.
func window(n uint32) http2.Setting {
	return http2.Setting{ID: http2.SettingInitialWindowSize, Val: n}
}

// A stream that its client doesn't read holds back its handler, and no other.
func TestH2BackPressureOfOneStream(t *testing.T) {
	t.Parallel()
	const size = 4 << 20
	var written atomic.Int64
	done := make(chan error, 1)
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path != "/large" {
			return
		}
		piece := make([]byte, 16<<10)
		var err error
		for written.Load() < size && err == nil {
			var n int
			n, err = w.Write(piece)
			written.Add(int64(n))
		}
		done <- err
	})
	c := dialH2(t, addr, window(1000))
	c.get(1, "/large").flush(c)
	c.expect("1 200")
	c.content(1, 1000)
	for id := uint32(3); id < 203; id += 2 {
		c.get(id, "/small").flush(c)
		c.expect(fmt.Sprintf("%d 200 content-length=0 end", id))
	}
	// What the handler can be rid of is in the stream's queue, on the way to the loop, or kept
	// back for a small answer.
	if n := written.Load(); n > 256<<10 {
		t.Errorf("%d bytes were written for a client that takes 1000", n)
	}
	c.window(1, 1<<30).window(0, 1<<30).flush(c)
	c.rest(1, size-1000)
	if err := receiveFrom(t, "the handler returns", done); err != nil {
		t.Error(err)
	}
}

// The same for a native handler, which asks and is told.
func TestH2NativeBackPressure(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	written, told := 0, 0
	fill := func(x *httpserver.Exchange) {
		for written < size && x.IsWritable() {
			x.Write(buffer.CopyString(strings.Repeat("x", 10<<10)))
			written += 10 << 10
		}
		if written >= size {
			x.OnWritable(nil)
			x.End(nil)
		}
	}
	p := embedH2(t, &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		if string(x.Request().Path()) == "/small" {
			x.Respond(200, "", nil)
			return true
		}
		x.Start(http.NewResponse(200))
		x.OnWritable(func(x *httpserver.Exchange) {
			told++
			fill(x)
		})
		fill(x)
		return true
	})})
	p.hello(window(0)).get(1, "/").get(3, "/small").into(p)
	p.tell("1 200; 3 200 content-length=0 end")
	if written > 100<<10 {
		t.Errorf("%d bytes were written for a client that takes none", written)
	}
	got := 0
	for got < size {
		before := got
		p.window(1, 100_000).window(0, 100_000).into(p)
		p.RunPending()
		p.out.WriteString(rawSent(t, p.Channel))
		for {
			_, frame, err := p.in.next()
			if err != nil {
				break
			}
			if d, ok := frame.(*http2.DataFrame); ok {
				got += len(d.Data())
			}
		}
		if got == before {
			t.Fatalf("nothing more after %d bytes; told %d times", got, told)
		}
	}
	if told == 0 {
		t.Error("never told to go on")
	}
}

// A request whose handler doesn't read holds back its client by its window, and no other.
func TestH2UploadThatNobodyReads(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path == "/slow" {
			<-goOn
		}
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n, err)
	})
	c := dialH2(t, addr)
	const window = 256 << 10 // the server's default
	c.head(1, false, ":method=POST", ":path=/slow").data(1, strings.Repeat("x", window), false).flush(c)
	c.head(3, false, ":method=POST").data(3, strings.Repeat("y", window), true).flush(c)
	c.expect("3 200 content-length=12", `3 "262144 <nil>" end`)
	close(goOn)
	c.data(1, "", true).flush(c)
	c.expect("1 200 content-length=12", `1 "262144 <nil>" end`)
}

// A client that goes over a window that was not given loses the stream.
func TestH2UploadBeyondTheWindow(t *testing.T) {
	t.Parallel()
	held := make(chan error, 1)
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		<-r.Context().Done()
		_, err := io.ReadAll(r.Body)
		held <- err
	})
	c := dialH2(t, addr)
	c.head(1, false, ":method=POST").data(1, strings.Repeat("x", 512<<10), false).flush(c)
	c.expect("1 RST FLOW_CONTROL_ERROR")
	if err := receiveFrom(t, "the handler ends", held); err == nil {
		t.Error("the content ended well")
	}
}

// An answer before the end of the request: a small rest is read, a big one cut off.
func TestH2EarlyAnswer(t *testing.T) {
	t.Parallel()
	s := newStd(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, _ *nethttp.Request) { w.WriteHeader(403) }))
	s.Native = httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		if string(x.Request().Path()) != "/native" {
			return false
		}
		x.Respond(403, "", nil)
		return true
	})
	addr := serve(t, s)
	for _, path := range []string{"/native", "/std"} {
		c := dialH2(t, addr)
		c.head(1, false, ":method=POST", ":path="+path, "content-length=10").flush(c)
		c.expect("1 403 content-length=0 end")
		c.data(1, "0123456789", true).flush(c)
		c.head(3, false, ":method=POST", ":path="+path, "content-length=1000000").flush(c)
		c.expect("3 403 content-length=0 end", "3 RST NO_ERROR")
		// What has not said how long it is is thrown away up to a bound.
		c.head(5, false, ":method=POST", ":path="+path).flush(c)
		c.expect("5 403 content-length=0 end")
		c.data(5, strings.Repeat("x", 200<<10), false).flush(c)
		c.get(7, path).flush(c)
		c.expect("7 403 content-length=0 end")
		c.data(5, strings.Repeat("x", 100<<10), false).flush(c)
		c.expect("5 RST NO_ERROR")
		c.get(9, path).flush(c)
		c.expect("9 403 content-length=0 end")
	}
}

// Content that no handler has asked for is thrown away up to a bound, and then the client waits; the
// answer ends it.
func TestH2UnwantedContentBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	var waiting *httpserver.Exchange
	p := embedH2(t, &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		waiting = x
		return true
	})})
	p.hello().head(1, false, ":method=POST").into(p)
	for range 3 {
		p.data(1, strings.Repeat("x", 100<<10), false).into(p)
	}
	p.tell("")
	waiting.Respond(200, "", nil)
	p.tell("1 200 content-length=0 end; 1 RST NO_ERROR")
	p.get(3, "/").into(p)
	waiting.Respond(200, "", nil)
	p.tell("3 200 content-length=0 end")
}

// A reset cancels the request's context, and fails what the handler does.
func TestH2ResetReachesTheHandler(t *testing.T) {
	t.Parallel()
	type outcome struct{ ctx, write, read error }
	outcomes := make(chan outcome, 1)
	begun := make(chan struct{}, 1)
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		switch r.URL.Path {
		case "/context":
			begun <- struct{}{}
			<-r.Context().Done()
			_, err := w.Write(make([]byte, 100<<10))
			outcomes <- outcome{ctx: context.Cause(r.Context()), write: err}
		case "/write":
			var err error
			for err == nil {
				_, err = w.Write(make([]byte, 100<<10))
			}
			outcomes <- outcome{ctx: r.Context().Err(), write: err}
		case "/read":
			begun <- struct{}{}
			_, err := io.ReadAll(r.Body)
			outcomes <- outcome{ctx: r.Context().Err(), write: err, read: err}
		}
	})
	c := dialH2(t, addr)
	for i, path := range []string{"/context", "/write", "/read"} {
		id := uint32(2*i + 1)
		c.head(id, path != "/read", ":path="+path).flush(c)
		if path == "/write" {
			c.expect("3 200")
			c.content(3, http2DefaultWindow) // the handler waits for more now, or will
		} else {
			receiveFrom(t, "the handler runs", begun)
		}
		c.reset(id, http2.ErrCodeCancel).flush(c)
		o := receiveFrom(t, path+" ends", outcomes)
		if o.ctx != context.Canceled || o.write == nil || !strings.Contains(o.write.Error(), "CANCEL") {
			t.Errorf("%s: %+v", path, o)
		}
	}
}

const http2DefaultWindow = 65535

// A native handler is told, and every later use of the exchange is harmless.
func TestH2ResetReachesTheNativeHandler(t *testing.T) {
	t.Parallel()
	var log []string
	var kept *httpserver.Async
	p := embedH2(t, &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		path := string(x.Request().Path())
		switch path {
		case "/ping":
			x.Respond(204, "", nil)
			return true
		case "/started":
			x.Start(http.NewResponse(200))
		case "/body":
			x.OnBody(func(x *httpserver.Exchange, data *buffer.Buffer, end bool, err error) {
				log = append(log, fmt.Sprint(path, " read ", end, " ", err))
			})
		}
		x.OnClose(func(x *httpserver.Exchange) {
			log = append(log, path+" closed")
			x.Respond(200, "", nil)
			x.Abort()
		})
		kept = x.Async()
		return true
	})})
	p.hello()
	for i, path := range []string{"/waits", "/started", "/body"} {
		id := uint32(2*i + 1)
		p.head(id, path != "/body", ":path="+path).into(p)
		p.reset(id, http2.ErrCodeCancel).into(p)
		called := false
		if err := kept.Do(func(x *httpserver.Exchange) { called = x == nil }); err != nil {
			t.Fatal(err)
		}
		p.RunPending()
		if !called {
			t.Errorf("%s: the exchange goes on", path)
		}
	}
	p.tell("3 200")
	want := "/waits closed; /started closed; /body read false http2: stream: reset by peer: CANCEL; /body closed"
	if got := strings.Join(log, "; "); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	p.get(7, "/ping").into(p)
	p.tell("7 204 end")
}

// Handlers that don't see that their requests were reset don't pile up.
func TestH2HandlersAreBounded(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	var running atomic.Int64
	s := newStd(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		running.Add(1)
		<-goOn
	}))
	s.HTTP2.MaxStreams = 10
	c := dialH2(t, serve(t, s))
	id := uint32(1)
	for range 20 {
		c.get(id, "/").reset(id, http2.ErrCodeCancel).flush(c)
		id += 2
	}
	c.get(id, "/").flush(c)
	c.expect(fmt.Sprintf("%d RST REFUSED_STREAM", id))
	await(t, "20 handlers", func() bool { return running.Load() == 20 })
	close(goOn)
	await(t, "the connection is taken as before", func() bool {
		id += 2
		c.get(id, "/").flush(c)
		line, _, err := c.next()
		if err != nil {
			t.Fatal(err)
		}
		return line == fmt.Sprintf("%d 200 content-length=0 end", id)
	})
}

// Many at once, with content both ways, from net/http's client on one connection.
func TestH2ManyAtOnce(t *testing.T) {
	t.Parallel()
	s := newStd(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	s.Native = httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		if string(x.Request().Path()) != "/native" {
			return false
		}
		x.Start(http.NewResponse(200))
		x.OnBody(func(x *httpserver.Exchange, data *buffer.Buffer, end bool, err error) {
			if data != nil {
				x.Write(data)
			}
			if end {
				x.End(nil)
			}
		})
		return true
	})
	addr := serve(t, s)
	client := h2Client(t)
	const n = 60
	failed := make(chan error, n)
	for i := range n {
		go func() {
			path := [2]string{"/native", "/std"}[i%2]
			content := strings.Repeat(fmt.Sprint(i, " "), 30_000)
			resp, err := client.Post("http://"+addr+path, "text/plain", strings.NewReader(content))
			if err == nil {
				defer resp.Body.Close()
				var got []byte
				if got, err = io.ReadAll(resp.Body); err == nil && string(got) != content {
					err = fmt.Errorf("%d: %d bytes back of %d", i, len(got), len(content))
				}
			}
			failed <- err
		}()
	}
	for range n {
		if err := receiveFrom(t, "an answer", failed); err != nil {
			t.Error(err)
		}
	}
	awaitOneConnection(t, s)
}

// awaitOneConnection waits until a server has one connection: what net/http's client has dialled
// for requests that then found another's, it closes in its own time.
func awaitOneConnection(t *testing.T, s *httpserver.Server) {
	t.Helper()
	await(t, "a single connection", func() bool { return s.Connections() == 1 })
}

// Clients that give up at any point leave nothing behind: every handler ends, and the connection
// is as good as before.
func TestH2ClientsThatGiveUp(t *testing.T) {
	t.Parallel()
	var running atomic.Int64
	s := newStd(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		running.Add(1)
		defer running.Add(-1)
		b := make([]byte, 10_000)
		for {
			n, err := r.Body.Read(b)
			if _, werr := w.Write(b[:n]); err != nil || werr != nil {
				return
			}
			_ = nethttp.NewResponseController(w).Flush()
		}
	}))
	addr := serve(t, s)
	client := h2Client(t)
	const n = 100
	done := make(chan struct{}, n)
	for i := range n {
		go func() {
			defer func() { done <- struct{}{} }()
			ctx, cancel := context.WithCancel(within(t))
			defer cancel()
			body, content := io.Pipe()
			go func() { // until the client gives the request up
				piece := make([]byte, 10_000)
				for range 20 {
					if _, err := content.Write(piece); err != nil {
						return
					}
				}
				if i%4 == 0 {
					_ = content.Close()
				}
			}()
			defer body.Close()
			r, err := nethttp.NewRequestWithContext(ctx, "POST", "http://"+addr, body)
			if err != nil {
				t.Error(err)
				return
			}
			if i%4 == 1 {
				cancel()
			}
			resp, err := client.Do(r)
			if err != nil {
				return
			}
			defer resp.Body.Close()
			_, _ = io.ReadFull(resp.Body, make([]byte, i*1000))
		}()
	}
	for range n {
		receiveFrom(t, "a client ends", done)
	}
	await(t, "every handler ends", func() bool { return running.Load() == 0 })
	resp, err := client.Get("http://" + addr)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("status %d", resp.StatusCode)
	}
	awaitOneConnection(t, s)
}

// What a handler waits for ends when its time is up: reads of content that doesn't come, and
// writes that nobody takes.
func TestH2TimeoutsReachTheHandler(t *testing.T) {
	t.Parallel()
	errs := make(chan error, 2)
	s := newStd(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path == "/read" {
			_, err := io.ReadAll(r.Body)
			w.WriteHeader(408)
			errs <- err
			return
		}
		var err error
		for err == nil {
			_, err = w.Write(make([]byte, 50_000))
		}
		errs <- err
	}))
	p := embedH2(t, s)
	p.hello(window(0)).head(1, false, ":method=POST", ":path=/read").get(3, "/write").into(p)
	letRun(t, p.Channel, "the answer begins", func() bool { return strings.Contains(p.told(), "3 200") })
	got := ""
	await(t, "both end", func() bool {
		p.Advance(httpserver.DefaultBodyTimeout / 4)
		got += p.told() + "; "
		return len(errs) == 2
	})
	letRun(t, p.Channel, "the end of the answer", func() bool {
		got += p.told() + "; "
		return strings.Contains(got, "1 RST NO_ERROR")
	})
	if !strings.Contains(got, "1 408 content-length=0 end") || !strings.Contains(got, "3 RST CANCEL") {
		t.Error(got)
	}
	for range 2 {
		err := <-errs
		if err != httpserver.ErrBodyTimeout && !strings.Contains(err.Error(), "no progress in time") {
			t.Error(err)
		}
	}
}

// What a handler has had sent stays as it is, also where it is the client's window that decides
// when it leaves.
func TestH2AnswerIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	const text = "The mill grinds on, whoever has brought the corn."
	answer := []byte(text)
	addr := serve(t, &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		_ = x.Async().Respond(200, "", answer)
		return true
	})})
	c := dialH2(t, addr, window(0))
	c.get(1, "/").get(3, "/").flush(c)
	c.expect("1 200 content-length=49", "3 200 content-length=49")
	c.window(1, 100).window(3, 100).flush(c)
	c.expect(fmt.Sprintf("1 %q end", text), fmt.Sprintf("3 %q end", text))
	if string(answer) != text {
		t.Errorf("the handler's bytes are %q now", answer)
	}
}
