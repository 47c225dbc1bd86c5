package site

import (
	"bytes"
	"io"
	nethttp "net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel/embedded"
	"millrace.dev/httpserver"
)

// request passes bytes in as one read.
func request(ch *embedded.Channel, bytes string) error {
	return ch.WriteInbound(buffer.CopyString(bytes))
}

func TestEchoAndLength(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	large := strings.Repeat("the current turns the wheel ", 100_000)
	for _, body := range []string{"", "x", large} {
		for _, method := range []string{"POST", "PUT", "PATCH", "BREW"} {
			for _, chunked := range []bool{false, true} {
				send := func() io.Reader {
					if chunked {
						return struct{ io.Reader }{strings.NewReader(body)} // of unknown length
					}
					return strings.NewReader(body)
				}
				a, got := r.do(method, "/echo", send())
				if a.StatusCode != 200 || got != body {
					t.Errorf("%s /echo of %d bytes, chunked %t: %s with %d bytes", method, len(body), chunked, a.Status, len(got))
				}
				a, got = r.do(method, "/length", send())
				if a.StatusCode != 200 || got != strconv.Itoa(len(body)) {
					t.Errorf("%s /length of %d bytes, chunked %t: %s, %q", method, len(body), chunked, a.Status, got)
				}
			}
		}
	}
	for path, want := range map[string]string{"/echo": "", "/length": "0"} {
		if a, got := r.do("GET", path, nil); a.StatusCode != 200 || got != want {
			t.Errorf("GET %s: %s %q", path, a.Status, got)
		}
		if a, _ := r.do("HEAD", path, nil); a.StatusCode != 200 || a.ContentLength != int64(len(want)) {
			t.Errorf("HEAD %s: %s, length %d", path, a.Status, a.ContentLength)
		}
	}
}

// What was sent comes back before the next is sent: echo doesn't collect.
func TestEchoStreams(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	out, in := io.Pipe()
	q, err := nethttp.NewRequest("POST", r.url+"/echo", out)
	r.must(err)
	answers := make(chan *nethttp.Response)
	go func() {
		a, err := r.client.Do(q)
		if err != nil {
			t.Error(err)
		}
		answers <- a
	}()
	var a *nethttp.Response
	for _, piece := range []string{"one", "two", strings.Repeat("3", 10_000)} {
		_, err := io.WriteString(in, piece)
		r.must(err)
		if a == nil {
			if a = <-answers; a == nil {
				t.FailNow()
			}
		}
		got := make([]byte, len(piece))
		_, err = io.ReadFull(a.Body, got)
		r.must(err)
		if string(got) != piece {
			t.Fatalf("got %.20q for %.20q", got, piece)
		}
	}
	r.must(in.Close())
	rest, err := io.ReadAll(a.Body)
	r.must(err)
	r.must(a.Body.Close())
	if len(rest) > 0 {
		t.Errorf("%q at the end", rest)
	}
}

// A client that sends and never reads is not read from any more once the watermark is
// reached; when it reads, the rest goes on.
func TestEchoHoldsBack(t *testing.T) {
	t.Parallel()
	r, ch := onChannel(t)
	const piece, pieces = 4 << 10, 100
	ch.SetTransportWritable(false)
	r.must(request(ch, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: "+strconv.Itoa(piece*pieces)+"\r\n\r\n"))
	taken := 0
	for ch.Reading() && taken < pieces {
		r.must(request(ch, strings.Repeat("x", piece)))
		taken++
	}
	high := ch.Config().WriteBufferHigh
	if pending := ch.PendingBytes(); taken == pieces || pending > int64(high+piece+1024) {
		t.Fatalf("%d of %d pieces were read, %d bytes wait at a watermark of %d", taken, pieces, pending, high)
	}
	ch.SetTransportWritable(true)
	if !ch.Reading() {
		t.Fatal("reading doesn't go on")
	}
	for ; taken < pieces; taken++ {
		r.must(request(ch, strings.Repeat("x", piece)))
	}
	head, body, _ := strings.Cut(sent(ch), "\r\n\r\n")
	if !strings.HasPrefix(head, "HTTP/1.1 200 ") || body != strings.Repeat("x", piece*pieces) {
		t.Errorf("%s with %d bytes", head, len(body))
	}
	ch.Finish()
}

// The 100 comes before the answer, and only for a client that waits for it.
func TestEchoExpectContinue(t *testing.T) {
	t.Parallel()
	r, ch := onChannel(t)
	for _, path := range []string{"/echo", "/length"} {
		r.must(request(ch, "PUT "+path+" HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"))
		if got := sent(ch); got != "HTTP/1.1 100 Continue\r\n\r\n" {
			t.Fatalf("%s: %q", path, got)
		}
		r.must(request(ch, "hi"))
		if got := sent(ch); !strings.HasPrefix(got, "HTTP/1.1 200 ") {
			t.Fatalf("%s: %q", path, got)
		}
	}
	ch.Finish()
}

// A body that breaks off never becomes a whole answer.
func TestCutBodyIsNoAnswer(t *testing.T) {
	t.Parallel()
	for path, head := range map[string]string{
		"/length":         "Content-Length: 10\r\n\r\nhalf",
		"/echo":           "Content-Length: 10\r\n\r\nhalf",
		"/length?chunked": "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
		"/echo?chunked":   "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
	} {
		r, ch := onChannel(t)
		r.must(request(ch, "POST "+path+" HTTP/1.1\r\nHost: h\r\n"+head))
		r.must(ch.CloseInbound())
		got := sent(ch)
		if strings.HasPrefix(path, "/length") && strings.Contains(got, " 200 ") ||
			strings.HasSuffix(got, "0\r\n\r\n") || strings.HasSuffix(got, "halfhalf") {
			t.Errorf("%s: %q", path, got)
		}
		if ch.IsOpen() && !ch.OutboundShutdown() {
			t.Errorf("%s: the connection stays", path)
		}
		ch.Finish()
	}
}

// A body that breaks a rule is answered with 400, even after its head was taken.
func TestMalformedBody(t *testing.T) {
	t.Parallel()
	r, ch := onChannel(t)
	r.must(request(ch, "POST /length HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"))
	r.must(request(ch, "G\r\nGET /plaintext HTTP/1.1\r\nHost: h\r\n\r\n"))
	if got := sent(ch); !strings.HasPrefix(got, "HTTP/1.1 400 ") || strings.Count(got, "HTTP/1.1") != 1 {
		t.Errorf("%q", got)
	}
	ch.Finish()
}

// A client that stops within its body is told that it was too slow, or sees the answer that
// has begun break off.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"/length": "HTTP/1.1 408 ", "/echo": "HTTP/1.1 200 "} {
		r, ch := onChannel(t)
		r.must(request(ch, "POST "+path+" HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\n\r\nhalf"))
		ch.Advance(httpserver.DefaultBodyTimeout + time.Second)
		if got := sent(ch); !strings.HasPrefix(got, want) || path == "/echo" && !strings.HasSuffix(got, "half") {
			t.Errorf("%s: %q", path, got)
		}
		if ch.IsOpen() && !ch.OutboundShutdown() {
			t.Errorf("%s: the connection stays", path)
		}
		ch.Finish()
	}
}

// A body that nobody wants doesn't get in the way of the next request.
func TestUnwantedBody(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, body := r.do("GET", "/plaintext", bytes.NewReader(make([]byte, 1000)))
	if a.StatusCode != 200 || body != "Hello, World!" || a.Close {
		t.Errorf("%s %q, close %t", a.Status, body, a.Close)
	}
}
