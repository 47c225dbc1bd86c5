package httpserver_test

import (
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/httpserver"
)

// pathNative answers with the path, small or in pieces.
func pathNative(x *httpserver.Exchange) bool {
	path := x.Request().Path()
	if !strings.HasPrefix(string(path), "/pieces") {
		x.Respond(200, "text/plain", path)
		return true
	}
	x.Start(http.NewResponse(200))
	x.Write(buffer.CopyString(string(path[:1])))
	x.Write(buffer.CopyString(string(path[1:])))
	x.End(nil)
	return true
}

func TestH2Native(t *testing.T) {
	t.Parallel()
	c := dialH2(t, serve(t, &httpserver.Server{Native: httpserver.NativeFunc(pathNative)}))
	c.get(1, "/a").get(3, "/pieces").head(5, true, ":method=HEAD", ":path=/head").flush(c)
	c.expect("1 200 content-length=2", `1 "/a" end`,
		"3 200", `3 "/"`, `3 "pieces"`, `3 "" end`,
		"5 200 content-length=5 end")
}

// A server with nothing that takes a request answers 404.
func TestH2NotFound(t *testing.T) {
	t.Parallel()
	c := dialH2(t, serve(t, &httpserver.Server{}))
	c.get(1, "/a").flush(c)
	c.expect("1 404 content-length=14", `1 "404 Not Found\n" end`)
}

// What answers may not have is the same as with HTTP/1.1.
func TestH2AnswersWithoutContent(t *testing.T) {
	t.Parallel()
	addr := serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		var code int
		_, _ = fmt.Sscan(r.URL.Path[1:], &code)
		w.Header().Set("ETag", "e")
		w.WriteHeader(code)
		if _, err := w.Write([]byte("x")); !errors.Is(err, nethttp.ErrBodyNotAllowed) {
			t.Errorf("%d: Write: %v", code, err)
		}
	})
	c := dialH2(t, addr)
	c.get(1, "/204").get(3, "/304").flush(c)
	got := []string{}
	for range 2 {
		line, _, err := c.next()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, line)
	}
	if s := strings.Join(got, "; "); s != "1 204 etag=e end; 3 304 etag=e end" && s != "3 304 etag=e end; 1 204 etag=e end" {
		t.Error(s)
	}
}

// Answers come in the order in which handlers give them.
func TestH2AnyOrder(t *testing.T) {
	t.Parallel()
	const n = 100
	waiting := make(map[string]*httpserver.Exchange)
	p := embedH2(t, &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		waiting[string(x.Request().Path())] = x
		return true
	})})
	p.hello()
	for i := range n {
		p.get(uint32(2*i+1), fmt.Sprint("/", i))
	}
	p.into(p)
	p.tell("")
	for k := range n {
		i := (k*37 + 11) % n
		path := fmt.Sprint("/", i)
		waiting[path].Respond(200, "text/plain", []byte(path))
		p.tell(fmt.Sprintf("%d 200 content-length=%d; %d %q end", 2*i+1, len(path), 2*i+1, path))
	}
}

func TestH2Trailers(t *testing.T) {
	t.Parallel()
	c := dialH2(t, serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		body, err := io.ReadAll(r.Body)
		w.Header().Set("Trailer", "Out")
		fmt.Fprintf(w, "%s %v %v", body, r.Trailer, err)
		w.Header().Set("Out", "1")
		w.Header().Set(nethttp.TrailerPrefix+"Late", "2")
	}))
	c.head(1, false, ":method=POST", "trailer=In").data(1, "x", false).headers(1, true, "in=3", "more=4").flush(c)
	c.expect("1 200 trailer=Out", `1 "x map[In:[3] More:[4]] <nil>"`, "1 out=1 late=2 end")
}

func TestH2NativeTrailers(t *testing.T) {
	t.Parallel()
	p := embedH2(t, &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		x.OnBody(func(x *httpserver.Exchange, data *buffer.Buffer, end bool, err error) {
			if data != nil {
				data.Close()
			}
			if !end {
				return
			}
			x.Start(http.NewResponse(200))
			h := http.AcquireHeader()
			h.Add("Sum", string(x.Trailer().Value("in")))
			x.End(h)
		})
		return true
	})})
	p.hello().head(1, false, ":method=POST").data(1, "x", false).headers(1, true, "in=3").into(p)
	p.tell("1 200; 1 sum=3 end")
}

func TestH2Continue(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*httpserver.Server{
		"native": {Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
			if string(x.Request().Path()) == "/no" {
				x.Respond(403, "", nil)
				return true
			}
			x.Collect(100, func(x *httpserver.Exchange, body *buffer.Buffer, err error) {
				x.RespondBuffer(200, "", body)
			})
			return true
		})},
		"std": newStd(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
			if r.URL.Path == "/no" {
				w.WriteHeader(403)
				return
			}
			_, _ = io.Copy(w, r.Body)
		})),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dialH2(t, serve(t, s))
			c.head(1, false, ":method=POST", "expect=100-continue").flush(c)
			c.expect("1 100")
			c.data(1, "hi", true).flush(c)
			c.expect("1 200 content-length=2", `1 "hi" end`)
			c.head(3, false, ":method=POST", ":path=/no", "expect=100-continue").flush(c)
			c.expect("3 403 content-length=0 end")
			c.data(3, "", true).get(5, "/no").flush(c) // a client that sends nothing may end in order
			c.expect("5 403 content-length=0 end")
		})
	}
}

func TestH2InterimAnswers(t *testing.T) {
	t.Parallel()
	c := dialH2(t, serveFunc(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("Link", "</a>")
		w.WriteHeader(103)
		w.Header().Del("Link")
		_, _ = io.WriteString(w, "x")
	}))
	c.get(1, "/").flush(c)
	c.expect("1 103 link=</a>", "1 200 content-length=1", `1 "x" end`)
}

// An answer that changes the protocol, and a hijack, can't be had.
func TestH2NoOtherProtocol(t *testing.T) {
	t.Parallel()
	s := newStd(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path == "/101" {
			w.WriteHeader(101)
			return
		}
		if _, _, err := nethttp.NewResponseController(w).Hijack(); !errors.Is(err, nethttp.ErrNotSupported) {
			t.Errorf("Hijack: %v", err)
		}
	}))
	s.Native = httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		if string(x.Request().Path()) != "/native" {
			return false
		}
		err := x.Upgrade(http.NewResponse(101), func(*channel.Pipeline) error { return nil })
		if err != httpserver.ErrUpgrade {
			t.Errorf("Upgrade: %v", err)
		}
		if err := x.RespondWith(http.NewResponse(101)).Err(); err != httpserver.ErrUpgrade {
			t.Errorf("RespondWith: %v", err)
		}
		return true
	})
	c := dialH2(t, serve(t, s))
	for i, path := range []string{"/101", "/native"} {
		id := 2*i + 1
		c.get(uint32(id), path).flush(c)
		c.expect(fmt.Sprintf("%d 501 content-length=20", id), fmt.Sprintf(`%d "501 Not Implemented\n" end`, id))
	}
	c.get(5, "/hijack").flush(c)
	c.expect("5 200 content-length=0 end")
}

// CONNECT makes a tunnel of its stream, for both kinds of handlers.
func TestH2Connect(t *testing.T) {
	t.Parallel()
	native := httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		if string(x.Request().Target) != "native:1" {
			return false
		}
		x.Start(http.NewResponse(200))
		x.OnBody(func(x *httpserver.Exchange, data *buffer.Buffer, end bool, _ error) {
			if data != nil {
				x.Write(data)
			}
			if end {
				x.End(nil)
			}
		})
		return true
	})
	std := func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("Said", r.Method+" "+r.Host+" "+r.URL.Path+" "+r.Header.Get("Upgrade")+".")
		_ = nethttp.NewResponseController(w).Flush()
		b := make([]byte, 10)
		for {
			n, err := r.Body.Read(b)
			_, _ = w.Write(b[:n])
			_ = nethttp.NewResponseController(w).Flush()
			if err != nil {
				return
			}
		}
	}
	s := newStd(nethttp.HandlerFunc(std))
	s.Native = native
	s.HTTP2.EnableConnect = true
	c := dialH2(t, serve(t, s))
	c.headers(1, false, ":method=CONNECT", ":authority=native:1").flush(c)
	c.headers(3, false, ":method=CONNECT", ":authority=std:1").flush(c)
	c.expect("1 200", "3 200 said=CONNECT std:1  .")
	c.head(5, false, ":method=CONNECT", ":protocol=websocket", ":path=/chat").flush(c)
	c.expect("5 200 said=CONNECT x /chat websocket.")
	for _, id := range []uint32{1, 3, 5} {
		c.data(id, "hello", false).flush(c)
		c.expect(fmt.Sprintf(`%d "hello"`, id))
		c.data(id, "", true).flush(c)
		c.expect(fmt.Sprintf(`%d "" end`, id))
	}
}

// Without the option extended CONNECT is refused, and the server says so first.
func TestH2ExtendedConnectIsOff(t *testing.T) {
	t.Parallel()
	c := dialH2(t, serve(t, &httpserver.Server{}))
	c.head(1, false, ":method=CONNECT", ":protocol=websocket").flush(c)
	c.expect("1 RST PROTOCOL_ERROR")
}

// A panic ends its stream and nothing else.
func TestH2Panics(t *testing.T) {
	t.Parallel()
	var waiting *httpserver.Exchange
	native := httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		switch string(x.Request().Path()) {
		case "/wait":
			waiting = x
			return true
		case "/panic":
			panic("native")
		case "/late":
			x.Start(http.NewResponse(200))
			panic("native, late")
		case "/abort":
			panic(nethttp.ErrAbortHandler)
		case "/std":
			return false
		}
		waiting.Respond(200, "", []byte("still here"))
		x.Respond(204, "", nil)
		return true
	})
	s := newStd(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		_, _ = io.WriteString(w, "begun")
		_ = nethttp.NewResponseController(w).Flush()
		panic("std")
	}))
	s.Native = native
	c := dialH2(t, serve(t, s))
	c.get(1, "/wait").get(3, "/panic").flush(c)
	c.expect("3 500 content-length=26", `3 "500 Internal Server Error\n" end`)
	c.get(5, "/late").flush(c)
	c.expect("5 200", "5 RST INTERNAL_ERROR")
	c.get(7, "/abort").flush(c)
	c.expect("7 RST INTERNAL_ERROR")
	c.get(9, "/std").flush(c)
	c.expect("9 200", `9 "begun"`, "9 RST INTERNAL_ERROR")
	c.get(11, "/end").flush(c)
	c.expect("1 200 content-length=10", `1 "still here" end`, "11 204 end")
	if n := s.Stats().Panics; n != 3 {
		t.Errorf("%d panics counted", n)
	}
}

// An answer that can't be sent is one that the server gives in its place.
func TestH2RefusedAnswers(t *testing.T) {
	t.Parallel()
	closed := 0
	p := embedH2(t, &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		x.OnClose(func(*httpserver.Exchange) { closed++ })
		r := http.NewResponse(200)
		switch string(x.Request().Path()) {
		case "/whole":
			r.Header.Add("Bad", "a\nb")
			if f := x.RespondWith(r); f.Err() == nil {
				t.Error("a field with a line break was taken")
			}
		case "/start":
			r.Header.Add("Bad", "a\nb")
			x.Start(r)
			if f := x.End(nil); f.Err() != httpserver.ErrAnswered {
				t.Errorf("End: %v", f.Err())
			}
		case "/length":
			r.ContentLength = 5
			x.Start(r)
			x.Write(buffer.CopyString("too long"))
			x.End(nil)
		}
		return true
	})})
	p.hello().get(1, "/whole").get(3, "/start").get(5, "/length").into(p)
	p.tell("1 500 content-length=0 end; 3 500 content-length=0 end; 5 200 content-length=5; 5 RST INTERNAL_ERROR")
	if closed != 2 {
		t.Errorf("%d handlers told of their end", closed)
	}
	p.get(7, "/whole").into(p)
	p.tell("7 500 content-length=0 end")
}

// A handler that wants the connection closed gets that, once all is answered.
func TestH2HandlerClosesConnection(t *testing.T) {
	t.Parallel()
	c := dialH2(t, serveFunc(t, with("Connection: close", write("bye"))))
	c.get(1, "/").flush(c)
	c.expect("GOAWAY 2147483647 NO_ERROR", `PING "draining"`, "1 200 content-length=3", `1 "bye" end`)
	c.pong([8]byte([]byte("draining"))).flush(c)
	c.expect("GOAWAY 1 NO_ERROR")
	c.ended()
}

// A file is closed when it was sent, and when nobody takes it any more.
func TestH2SendFile(t *testing.T) {
	t.Parallel()
	const size = 50_000
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(strings.Repeat("x", size)), 0o600); err != nil {
		t.Fatal(err)
	}
	var files []*os.File
	p := embedH2(t, &httpserver.Server{Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
		f, err := os.Open(name)
		if err != nil {
			t.Error(err)
			return false
		}
		files = append(files, f)
		x.SendFile(http.NewResponse(200), &channel.FileRegion{File: f, Count: size})
		return true
	})})
	p.hello(window(0)).get(1, "/").get(3, "/").head(5, true, ":method=HEAD").into(p)
	p.tell("1 200 content-length=50000; 3 200 content-length=50000; 5 200 content-length=50000; 5 \"\" end")
	p.window(1, size).into(p)
	p.tell("1 (16384); 1 (16384); 1 (16384); 1 (848) end")
	p.reset(3, http2.ErrCodeCancel).into(p)
	p.tell("")
	for i, f := range files {
		if _, err := f.Stat(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("file %d is open", i)
		}
	}
}
