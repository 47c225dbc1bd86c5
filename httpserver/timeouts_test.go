package httpserver_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec/http"
	"millrace.dev/httpserver"
)

func hello(x *httpserver.Exchange) bool {
	x.Respond(200, "text/plain", []byte("hello"))
	return true
}

// staysUntil checks that the channel is open just before d has passed, and not after.
func staysUntil(t *testing.T, ch *embedded.Channel, d, slack time.Duration) {
	t.Helper()
	ch.Advance(d - time.Millisecond)
	if !ch.IsOpen() {
		t.Fatalf("closed before %v", d)
	}
	ch.Advance(slack + 2*time.Millisecond)
	if ch.IsOpen() {
		t.Fatalf("open after %v and %v", d, slack)
	}
}

func TestSilentConnectionIsClosed(t *testing.T) {
	t.Parallel()
	ch := embedNative(t, hello)
	staysUntil(t, ch, httpserver.DefaultHeaderTimeout, 0)
}

// A client that has been asked for its content by the handler's own 100 has as long for it as
// one that the server has asked.
func TestContentAskedForByHand(t *testing.T) {
	t.Parallel()
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		x.Start(http.NewResponse(100))
		x.Respond(200, "", nil)
		return true
	})
	feed(t, ch, "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
	staysUntil(t, ch, httpserver.DefaultBodyTimeout, 0)
}

func TestSlowHeaderIsCutOff(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"} {
		s := &httpserver.Server{Native: httpserver.NativeFunc(hello)}
		ch := embed(t, s)
		feed(t, ch, before)
		if before != "" {
			ch.Advance(30 * time.Second) // idle: the header's time begins with its first byte
		}
		head := "GET / HTTP/1.1\r\nHost: x\r\nCookie: " + strings.Repeat("x", 100)
		for i := 0; i < 10; i++ {
			if !ch.IsOpen() {
				t.Fatalf("closed after %d s", i)
			}
			feed(t, ch, head[i:i+1])
			ch.Advance(time.Second)
		}
		ch.Advance(time.Millisecond)
		if ch.IsOpen() {
			t.Errorf("after %q: a header that takes 10 s is not cut off", before)
		}
		if n := s.Stats().Timeouts; n != 1 {
			t.Errorf("%d timeouts counted", n)
		}
	}
}

func TestIdleConnectionIsClosed(t *testing.T) {
	t.Parallel()
	ch := embedNative(t, hello)
	for range 3 {
		feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		ch.Advance(80 * time.Second)
	}
	feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	staysUntil(t, ch, httpserver.DefaultIdleTimeout, 0)
	if got := strings.Count(sent(t, ch), "200 OK"); got != 4 {
		t.Errorf("%d answers", got)
	}
}

func TestTimeoutsCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	ch := embed(t, &httpserver.Server{Native: httpserver.NativeFunc(hello),
		Timeouts: httpserver.Timeouts{Header: -1, Body: -1, Write: -1, Idle: -1}})
	ch.Advance(100 * time.Hour)
	feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	ch.Advance(100 * time.Hour)
	feed(t, ch, "GET / HT")
	ch.Advance(100 * time.Hour)
	if !ch.IsOpen() {
		t.Error("closed by a timeout that is off")
	}
}

func TestSlowHandlerHasNoTimeout(t *testing.T) {
	t.Parallel()
	var x *httpserver.Exchange
	ch := embedNative(t, func(y *httpserver.Exchange) bool {
		x = y
		return true
	})
	feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	ch.Advance(time.Hour)
	x.Respond(200, "text/plain", []byte("at last"))
	ch.RunPending()
	want(t, ch, textAnswer("200 OK", "at last"))
}

func TestSlowBody(t *testing.T) {
	t.Parallel()
	var ended error
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		x.Collect(100, func(x *httpserver.Exchange, body *buffer.Buffer, err error) {
			ended = err
			x.Respond(408, "text/plain", []byte("too slow"))
		})
		return true
	})
	feed(t, ch, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n")
	for range 10 { // progress counts
		ch.Advance(httpserver.DefaultBodyTimeout - time.Second)
		feed(t, ch, "x")
	}
	ch.Advance(httpserver.DefaultBodyTimeout - time.Millisecond)
	if ended != nil {
		t.Fatalf("ended early: %v", ended)
	}
	ch.Advance(2 * time.Millisecond)
	if !errors.Is(ended, httpserver.ErrBodyTimeout) {
		t.Fatalf("body ended with %v", ended)
	}
	if got := sent(t, ch); !strings.HasPrefix(got, "HTTP/1.1 408 ") || !strings.Contains(got, "Connection: close") {
		t.Errorf("sent %q", got)
	}
	feed(t, ch, "xGET / HTTP/1.1\r\nHost: x\r\n\r\n")
	want(t, ch, "")
	ch.Advance(time.Minute)
	if ch.IsOpen() {
		t.Error("the connection goes on")
	}
}

func TestPausedBodyHasNoTimeout(t *testing.T) {
	t.Parallel()
	var x *httpserver.Exchange
	ch := embedNative(t, func(y *httpserver.Exchange) bool {
		x = y
		x.PauseBody()
		x.Collect(100, func(x *httpserver.Exchange, body *buffer.Buffer, err error) {
			x.RespondBuffer(200, "text/plain", body)
		})
		return true
	})
	feed(t, ch, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n")
	ch.Advance(time.Hour)
	x.ResumeBody()
	ch.Advance(httpserver.DefaultBodyTimeout - time.Second)
	feed(t, ch, "ok")
	want(t, ch, textAnswer("200 OK", "ok"))
}

func TestInputThatTheServerHoldsBackHasNoTimeout(t *testing.T) {
	t.Parallel()
	for _, next := range []string{"GET / HT", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\no"} {
		var answers []*httpserver.Exchange
		ch := embed(t, &httpserver.Server{Timeouts: httpserver.Timeouts{Write: -1}, Native: httpserver.NativeFunc(func(x *httpserver.Exchange) bool {
			answers = append(answers, x)
			x.PauseBody()
			x.ResumeBody()
			return true
		})})
		feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"+next)
		ch.SetTransportWritable(false)
		answers[0].Respond(200, "text/plain", make([]byte, 100_000)) // above the watermark
		ch.Advance(time.Hour)
		if !ch.IsOpen() {
			t.Fatalf("closed after %q, though the server doesn't read", next)
		}
		ch.SetTransportWritable(true)
		ch.Advance(3 * httpserver.DefaultBodyTimeout)
		if ch.IsOpen() && len(answers) == 1 {
			t.Fatalf("open for ever after %q", next)
		}
	}
}

func TestContentThatWasNotAskedForHasNoTimeout(t *testing.T) {
	t.Parallel()
	var x *httpserver.Exchange
	ch := embedNative(t, func(y *httpserver.Exchange) bool {
		x = y
		x.PauseBody()
		x.ResumeBody()
		return true
	})
	feed(t, ch, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
	ch.Advance(time.Hour)
	x.Respond(200, "text/plain", []byte("ok"))
	ch.RunPending()
	if got := sent(t, ch); !strings.HasPrefix(got, "HTTP/1.1 200 OK\r\n") {
		t.Errorf("sent %q", got)
	}
}

func TestClientThatNeverReadsIsCutOff(t *testing.T) {
	t.Parallel()
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		x.Start(http.NewResponse(200))
		x.Write(buffer.CopyString("some"))
		return true
	})
	ch.SetTransportWritable(false)
	feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	staysUntil(t, ch, httpserver.DefaultWriteTimeout, httpserver.DefaultHeaderTimeout)
}

// What a handler fails to write is no progress of the client's.
func TestFailedWritesAreNoProgress(t *testing.T) {
	t.Parallel()
	var x *httpserver.Exchange
	ch := embedNative(t, func(y *httpserver.Exchange) bool {
		x = y
		r := http.NewResponse(200)
		r.ContentLength = 5
		x.Start(r)
		return true
	})
	ch.SetTransportWritable(false)
	feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	ch.Advance(httpserver.DefaultWriteTimeout / 3) // looked at, and nothing was wrong
	if f := x.End(nil); !f.IsFailed() {
		t.Error("an answer that is too short was ended")
	}
	if ch.Advance(httpserver.DefaultWriteTimeout); ch.IsOpen() {
		t.Error("stays open")
	}
}

// Answers that wait for their turn wait for the server, not for the client.
func TestAnswerOutOfTurnIsNoStall(t *testing.T) {
	t.Parallel()
	var first *httpserver.Exchange
	ch := embedNative(t, func(x *httpserver.Exchange) bool {
		if first == nil {
			first = x
			return true
		}
		x.Respond(200, "text/plain", []byte("second"))
		return true
	})
	feed(t, ch, getLine+getLine)
	ch.Advance(10 * httpserver.DefaultWriteTimeout)
	if !ch.IsOpen() {
		t.Fatal("closed")
	}
	first.Respond(200, "text/plain", []byte("first"))
	ch.RunPending()
	want(t, ch, textAnswer("200 OK", "first")+textAnswer("200 OK", "second"))
}

// An answer that leaves much of its request unread is sent whole before the connection ends,
// however slowly the client takes it; one that takes nothing is cut off.
func TestSlowReaderOfTheLastAnswer(t *testing.T) {
	t.Parallel()
	chunk := "1000\r\n" + strings.Repeat("x", 4096) + "\r\n"
	for _, request := range []string{"Content-Length: 10000000\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat(chunk, 100)} {
		for _, end := range []string{"reads", "ends its direction", "takes nothing"} {
			ch := embedNative(t, func(x *httpserver.Exchange) bool {
				x.Respond(413, "text/plain", []byte("no"))
				return true
			})
			ch.SetTransportWritable(false)
			feed(t, ch, "POST / HTTP/1.1\r\nHost: x\r\n"+request)
			ch.Advance(httpserver.DefaultWriteTimeout - time.Second)
			if end == "ends its direction" {
				_ = ch.CloseInbound()
			}
			if !ch.IsOpen() {
				t.Fatalf("%.20q, %s: closed before the answer was sent", request, end)
			}
			if end != "takes nothing" {
				ch.SetTransportWritable(true)
				if got := sent(t, ch); !strings.HasSuffix(got, "no") {
					t.Errorf("%.20q, %s: sent %q", request, end, got)
				}
			}
			slack := 4 * time.Second // to see the end
			if end == "takes nothing" {
				slack += httpserver.DefaultWriteTimeout / 4
			}
			ch.Advance(slack)
			if ch.IsOpen() {
				t.Errorf("%.20q, %s: stays open", request, end)
			}
		}
	}
}

func TestSlowReaderIsKept(t *testing.T) {
	t.Parallel()
	var x *httpserver.Exchange
	ch := embedNative(t, func(y *httpserver.Exchange) bool {
		x = y
		x.Start(http.NewResponse(200))
		x.Write(buffer.CopyString("some"))
		return true
	})
	ch.SetTransportWritable(false)
	feed(t, ch, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	for i := range 20 {
		ch.Advance(httpserver.DefaultWriteTimeout - time.Second)
		if !ch.IsOpen() {
			t.Fatalf("closed in round %d, though the client takes some now and then", i)
		}
		ch.SetTransportWritable(true)
		ch.SetTransportWritable(false)
		x.Write(buffer.CopyString(fmt.Sprint("more", i)))
		ch.RunPending()
	}
}
