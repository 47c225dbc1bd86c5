package httpserver_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/httpserver"
)

func TestNativeRespond(t *testing.T) {
	t.Parallel()
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		x.Respond(200, "text/plain", x.Request().Path())
		return true
	})
	feed(t, ch, "GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /bc?d HTTP/1.1\r\nHost: x\r\n\r\n")
	want(t, ch, textAnswer("200 OK", "/a")+textAnswer("200 OK", "/bc"))
	feed(t, ch, "HEAD /abc HTTP/1.0\r\n\r\n")
	want(t, ch, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: 4\r\n\r\n")
	if ch.IsOpen() {
		t.Error("connection kept after HTTP/1.0")
	}
}

func TestNobodysRequestIs404(t *testing.T) {
	t.Parallel()
	ch := embedNative(t, func(*httpserver.Exchange) bool { return false })
	feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	want(t, ch, "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 14\r\n\r\n404 Not Found\n")
}

func TestRespondFixed(t *testing.T) {
	t.Parallel()
	f, err := http.NewFixed(200, []byte("always"), "A", "b")
	if err != nil {
		t.Fatal(err)
	}
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		if err := x.RespondFixed(f).Err(); err != nil {
			t.Error(err)
		}
		if err := x.RespondFixed(f).Err(); err != httpserver.ErrAnswered {
			t.Errorf("second answer: %v", err)
		}
		return true
	})
	feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\nHEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
	const head = "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 6\r\n\r\n"
	want(t, ch, head+"always"+head)
}

func TestAnswersKeepTheOrderOfRequests(t *testing.T) {
	t.Parallel()
	var waiting []*httpserver.Exchange
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		waiting = append(waiting, x)
		return true
	})
	for i := range 3 {
		feed(t, ch, fmt.Sprintf("GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", i))
	}
	for _, i := range []int{2, 0, 1} {
		waiting[i].Respond(200, "text/plain", waiting[i].Request().Path())
	}
	ch.RunPending()
	want(t, ch, textAnswer("200 OK", "/0")+textAnswer("200 OK", "/1")+textAnswer("200 OK", "/2"))
}

func TestStreamedAnswer(t *testing.T) {
	t.Parallel()
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		r := http.NewResponse(103)
		r.Header.Add("Link", "</a>")
		x.Start(r)
		x.Start(http.NewResponse(200))
		x.Write(buffer.CopyString("abc"))
		x.Write(buffer.CopyString("de"))
		trailer := http.AcquireHeader()
		trailer.Add("Sum", "5")
		x.End(trailer)
		return true
	})
	feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	want(t, ch, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+
		"3\r\nabc\r\n2\r\nde\r\n0\r\nSum: 5\r\n\r\n")
}

func TestAnswerOutOfTurnFails(t *testing.T) {
	t.Parallel()
	var errs []error
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		note := func(f channel.Future) { errs = append(errs, f.Err()) }
		note(x.Write(buffer.CopyString("early")))
		note(x.Start(http.NewResponse(200)))
		note(x.Respond(200, "text/plain", []byte("twice")))
		note(x.End(nil))
		note(x.End(nil))
		note(x.Respond(200, "text/plain", []byte("late")))
		return true
	})
	feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	want(t, ch, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
	expected := []error{httpserver.ErrNotStarted, nil, httpserver.ErrStarted, nil,
		httpserver.ErrAnswered, httpserver.ErrAnswered}
	for i, err := range errs {
		if err != expected[i] {
			t.Errorf("call %d: %v, want %v", i, err, expected[i])
		}
	}
}

func TestEchoStreams(t *testing.T) {
	t.Parallel()
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
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
	const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	feed(t, ch, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab")
	want(t, ch, head+"2\r\nab\r\n")
	feed(t, ch, "cdeGET / HTTP/1.1\r\nHost: x\r\n\r\n")
	want(t, ch, "3\r\ncde\r\n0\r\n\r\n"+head+"0\r\n\r\n")
}

func TestCollect(t *testing.T) {
	t.Parallel()
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		x.Collect(8, func(x *httpserver.Exchange, body *buffer.Buffer, err error) {
			if err != nil {
				x.Respond(413, "text/plain", []byte(err.Error()))
				return
			}
			n := 0
			if body != nil {
				n = body.Len()
				body.Close()
			}
			sum := ""
			if x.Trailer() != nil {
				sum = x.Trailer().Get("Sum")
			}
			x.Respond(200, "text/plain", fmt.Appendf(nil, "%d%s", n, sum))
		})
		return true
	})
	feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	want(t, ch, textAnswer("200 OK", "0"))
	feed(t, ch, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n5\r\n")
	want(t, ch, "")
	feed(t, ch, "defgh\r\n0\r\nSum: !\r\n\r\n")
	want(t, ch, textAnswer("200 OK", "8!"))
	feed(t, ch, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabcdefghi\r\n2\r\nij\r\n0\r\n\r\n")
	want(t, ch, textAnswer("413 Content Too Large", httpserver.ErrBodyTooLarge.Error()))
	feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	want(t, ch, textAnswer("200 OK", "0"))
}

// Content that is declared to be too large is refused before it comes.
func TestCollectRefusesAtOnce(t *testing.T) {
	t.Parallel()
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		x.Collect(8, func(x *httpserver.Exchange, body *buffer.Buffer, err error) {
			if body != nil || err != httpserver.ErrBodyTooLarge {
				t.Errorf("collected %v, %v", body, err)
			}
			x.Respond(413, "text/plain", nil)
		})
		return true
	})
	feed(t, ch, "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
	want(t, ch, "HTTP/1.1 413 Content Too Large\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
}

// Of two readers the last one gets the content that is yet to come, and nothing is left of what
// the other one had (TestMain looks).
func TestSecondBodyReader(t *testing.T) {
	t.Parallel()
	var x *httpserver.Exchange
	ch := embedNative(t, func(y *httpserver.Exchange) bool {
		x = y
		x.Collect(100, func(*httpserver.Exchange, *buffer.Buffer, error) { t.Error("the first reader is called") })
		return true
	})
	feed(t, ch, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nfirst")
	x.Collect(100, func(x *httpserver.Exchange, body *buffer.Buffer, _ error) { x.RespondBuffer(200, "text/plain", body) })
	feed(t, ch, "later")
	want(t, ch, textAnswer("200 OK", "later"))
}

func TestPausedBodyStopsReading(t *testing.T) {
	t.Parallel()
	var x *httpserver.Exchange
	var got strings.Builder
	ch := embedNative(t, func(y *httpserver.Exchange) bool {
		x = y
		x.PauseBody()
		return true
	})
	feed(t, ch, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nab")
	feed(t, ch, "cd")
	if ch.Reading() {
		t.Fatal("reads while the body is paused")
	}
	x.OnBody(func(x *httpserver.Exchange, data *buffer.Buffer, end bool, err error) {
		if data != nil {
			got.Write(data.Bytes())
			data.Close()
			got.WriteByte('|')
		}
		if end {
			x.Respond(200, "text/plain", []byte(got.String()))
		} else {
			x.PauseBody()
		}
	})
	if got.Len() > 0 {
		t.Fatalf("paused body delivered %q", got.String())
	}
	x.ResumeBody()
	ch.RunPending()
	if got.String() != "ab|" || ch.Reading() {
		t.Fatalf("got %q, reading %t", got.String(), ch.Reading())
	}
	x.ResumeBody()
	ch.RunPending()
	x.ResumeBody()
	feed(t, ch, "ef")
	want(t, ch, textAnswer("200 OK", "ab|cd|ef|"))
}

func TestContinueIsSentWhenTheContentIsWanted(t *testing.T) {
	t.Parallel()
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		if string(x.Request().Path()) == "/no" {
			x.Respond(403, "text/plain", []byte("no"))
			return true
		}
		x.Collect(10, func(x *httpserver.Exchange, body *buffer.Buffer, err error) {
			x.RespondBuffer(200, "text/plain", body)
		})
		return true
	})
	const rest = " HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
	feed(t, ch, "POST /"+rest)
	want(t, ch, "HTTP/1.1 100 Continue\r\n\r\n")
	feed(t, ch, "ok")
	want(t, ch, textAnswer("200 OK", "ok"))
	feed(t, ch, "POST /no"+rest)
	want(t, ch, "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno")
	if !ch.OutboundShutdown() {
		t.Error("connection kept, though the client may send content or not")
	}
}

func TestUnwantedContentIsDiscarded(t *testing.T) {
	t.Parallel()
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		x.Respond(200, "text/plain", []byte("no, thanks"))
		return true
	})
	feed(t, ch, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
	feed(t, ch, "ab")
	feed(t, ch, "cdeGET / HTTP/1.1\r\nHost: x\r\n\r\n")
	want(t, ch, textAnswer("200 OK", "no, thanks")+textAnswer("200 OK", "no, thanks"))
	feed(t, ch, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n")
	if got := sent(t, ch); !strings.Contains(got, "Connection: close") {
		t.Errorf("much unwanted content is to come, and the answer is %q", got)
	}
}

func TestEndlessUnwantedContentEndsTheConnection(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		var x *httpserver.Exchange
		ch := embedNative(t, func(y *httpserver.Exchange) bool {
			x = y
			if !late {
				x.Respond(200, "text/plain", []byte("ok"))
			}
			return true
		})
		feed(t, ch, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
		chunk := "1000\r\n" + strings.Repeat("x", 4096) + "\r\n"
		for range 65 {
			feed(t, ch, chunk)
		}
		if late {
			if ch.Reading() {
				t.Fatal("goes on reading what nobody wants")
			}
			x.Respond(200, "text/plain", []byte("ok"))
			ch.RunPending()
		}
		if got := sent(t, ch); !strings.HasPrefix(got, "HTTP/1.1 200 OK\r\n") || late != strings.Contains(got, "Connection: close") {
			t.Errorf("late %t: sent %q", late, got)
		}
		if !ch.OutboundShutdown() {
			t.Errorf("late %t: the connection goes on", late)
		}
		ch.Advance(httpserver.DefaultIdleTimeout)
		if ch.IsOpen() {
			t.Errorf("late %t: the connection is never closed", late)
		}
	}
}

func TestNativePanic(t *testing.T) {
	t.Parallel()
	var l logs
	ch := embed(t, &httpserver.Server{Logger: l.logger(), Native: httpserver.NativeFunc(func(*httpserver.Exchange) bool {
		panic("out of order")
	})})
	feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if got := sent(t, ch); !strings.HasPrefix(got, "HTTP/1.1 500 ") || !strings.Contains(got, "Connection: close") {
		t.Errorf("sent %q", got)
	}
	if got := l.String(); !strings.Contains(got, "out of order") || !strings.Contains(got, "TestNativePanic") {
		t.Errorf("logged %q", got)
	}
}

func TestNativePanicInsideAnAnswerCutsIt(t *testing.T) {
	t.Parallel()
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		x.Start(http.NewResponse(200))
		x.Write(buffer.CopyString("abc"))
		panic("out of order")
	})
	feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if got := sent(t, ch); strings.Contains(got, "0\r\n\r\n") {
		t.Errorf("the answer looks whole: %q", got)
	}
	if ch.IsOpen() {
		t.Error("the connection goes on")
	}
}

func TestPanicInBodyReader(t *testing.T) {
	t.Parallel()
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		x.OnBody(func(_ *httpserver.Exchange, data *buffer.Buffer, _ bool, _ error) {
			data.Close()
			panic("out of order")
		})
		return true
	})
	feed(t, ch, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab")
	if got := sent(t, ch); !strings.HasPrefix(got, "HTTP/1.1 500 ") {
		t.Errorf("sent %q", got)
	}
	feed(t, ch, "cde")
	if !ch.OutboundShutdown() && ch.IsOpen() {
		t.Error("the connection goes on")
	}
}

func TestAsync(t *testing.T) {
	t.Parallel()
	var a *httpserver.Async
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		a = x.Async()
		return true
	})
	feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	done := make(chan error)
	go func() { done <- a.Respond(200, "text/plain", []byte("later")) }()
	if err := receiveFrom(t, "Respond returns", done); err != nil {
		t.Fatal(err)
	}
	ch.RunPending()
	want(t, ch, textAnswer("200 OK", "later"))

	called := false
	if err := a.Do(func(x *httpserver.Exchange) { called = x == nil }); err != nil {
		t.Fatal(err)
	}
	ch.RunPending()
	if !called {
		t.Error("Do of an Exchange that is over was given one")
	}
}

func TestStaleAsyncDoesNotTouchAnotherExchange(t *testing.T) {
	t.Parallel()
	var all []*httpserver.Async
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		all = append(all, x.Async())
		if len(all) == 1 {
			x.Respond(200, "text/plain", []byte("first"))
		}
		return true
	})
	feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") // gets the recycled Exchange
	if err := all[0].Respond(200, "text/plain", []byte("stale")); err != nil {
		t.Fatal(err)
	}
	if err := all[1].Respond(200, "text/plain", []byte("second")); err != nil {
		t.Fatal(err)
	}
	ch.RunPending()
	want(t, ch, textAnswer("200 OK", "first")+textAnswer("200 OK", "second"))
}

func TestOnCloseTellsOfALostConnection(t *testing.T) {
	t.Parallel()
	var told int
	var bodyErr error
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		x.OnClose(func(*httpserver.Exchange) { told++ })
		x.OnBody(func(_ *httpserver.Exchange, data *buffer.Buffer, _ bool, err error) {
			if data != nil {
				data.Close()
			}
			bodyErr = err
		})
		return true
	})
	feed(t, ch, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab")
	ch.FailInbound(errors.New("reset"))
	if told != 1 || !errors.Is(bodyErr, io.ErrUnexpectedEOF) {
		t.Errorf("told %d times; body ended with %v", told, bodyErr)
	}
}

func TestSendFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		f, err := os.Open(path)
		if err != nil {
			t.Error(err)
			return false
		}
		region := &channel.FileRegion{File: f, Offset: 2, Count: 5}
		if string(x.Request().Path()) == "/pieces" {
			x.Start(http.NewResponse(200))
			x.WriteFile(region)
			x.End(nil)
		} else {
			x.SendFile(http.NewResponse(200), region)
		}
		return true
	})
	feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\nHEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
	const head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
	want(t, ch, head+"23456"+head)
	feed(t, ch, "GET /pieces HTTP/1.1\r\nHost: x\r\n\r\n")
	want(t, ch, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n23456\r\n0\r\n\r\n")
}

func TestStartAsksForTheContent(t *testing.T) {
	t.Parallel()
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		x.Start(http.NewResponse(200))
		x.OnBody(func(x *httpserver.Exchange, data *buffer.Buffer, end bool, err error) {
			x.Write(data)
			x.End(nil)
		})
		return true
	})
	feed(t, ch, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
	want(t, ch, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
	feed(t, ch, "ok")
	want(t, ch, "2\r\nok\r\n0\r\n\r\n")
}

func TestWritability(t *testing.T) {
	t.Parallel()
	written := 0
	more := func(x *httpserver.Exchange) {
		for x.IsWritable() && written < 100 {
			x.Write(buffer.CopyString(strings.Repeat("x", 16<<10)))
			written++
		}
		if written == 100 {
			x.End(nil)
		}
	}
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		x.Start(http.NewResponse(200))
		x.OnWritable(more)
		more(x)
		return true
	})
	ch.SetTransportWritable(false)
	feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if written > 6 {
		t.Fatalf("%d pieces of 16 KiB written above a watermark of 64 KiB", written)
	}
	ch.SetTransportWritable(true)
	if got := len(sent(t, ch)); got < 1600<<10 {
		t.Fatalf("only %d bytes sent", got)
	}
}

func TestOnWritableMayEndSeveralExchanges(t *testing.T) {
	t.Parallel()
	var all []*httpserver.Exchange
	told := map[string]int{}
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		all = append(all, x)
		x.OnWritable(func(x *httpserver.Exchange) {
			path := string(x.Request().Path())
			told[path]++
			if path == "/0" {
				for _, x := range all[:3] {
					x.Respond(200, "text/plain", nil)
				}
			}
		})
		return true
	})
	ch.SetTransportWritable(false)
	for i := range 5 {
		feed(t, ch, fmt.Sprintf("GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", i))
	}
	ch.Hold(100_000)
	ch.RunPending()
	ch.Release(100_000)
	ch.RunPending()
	if len(told) != 3 || told["/0"] != 1 || told["/3"] != 1 || told["/4"] != 1 {
		t.Errorf("told %v", told)
	}
}

func TestHandlerThatDeclinesLate(t *testing.T) {
	t.Parallel()
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		x.PauseBody()
		x.OnBody(func(*httpserver.Exchange, *buffer.Buffer, bool, error) {
			t.Error("the content of a request that is not its own was delivered")
		})
		return false
	})
	feed(t, ch, post5+"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if got := strings.Count(sent(t, ch), "404 Not Found\r\n"); got != 2 {
		t.Errorf("%d answers", got)
	}
	if !ch.Reading() {
		t.Error("reading is still paused")
	}
}

func TestTunnelsAreForUpgradeOnly(t *testing.T) {
	t.Parallel()
	for request, status := range map[string]int{
		"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n": 200,
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n":         101,
	} {
		ch := embedNative(t, func(x *httpserver.Exchange) bool {
			if err := x.Respond(status, "", nil).Err(); err != httpserver.ErrUpgrade {
				t.Errorf("Respond(%d): %v", status, err)
			}
			return true
		})
		feed(t, ch, request)
		if got := sent(t, ch); !strings.HasPrefix(got, "HTTP/1.1 501 ") {
			t.Errorf("sent %q", got)
		}
	}
}

func TestUpgrade(t *testing.T) {
	t.Parallel()
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		r := http.NewResponse(101)
		r.Header.Add("Upgrade", "shout")
		if err := x.Upgrade(r, func(p *channel.Pipeline) error { return p.AddLast("shout", shout{}) }); err != nil {
			t.Error(err)
		}
		return true
	})
	feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: shout\r\n\r\nab")
	want(t, ch, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: shout\r\nConnection: upgrade\r\n\r\nAB")
	feed(t, ch, "cd")
	want(t, ch, "CD")
	if names := ch.Pipeline().Names(); len(names) != 2 || names[1] != "shout" {
		t.Errorf("pipeline %v", names)
	}
	ch.Advance(2 * httpserver.DefaultIdleTimeout)
	if !ch.IsOpen() {
		t.Error("the server's timeouts hold for the new protocol")
	}
}

// shout is the protocol that a test upgrades to.
type shout struct{}

func (shout) OnRead(ctx *channel.Context, msg any) {
	b := msg.(*buffer.Buffer)
	ctx.WriteAndFlush(buffer.CopyString(strings.ToUpper(string(b.Bytes()))))
	b.Close()
}
