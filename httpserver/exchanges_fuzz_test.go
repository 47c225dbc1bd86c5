package httpserver_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	nethttp "net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http1"
	"millrace.dev/httpserver"
)

// h1Script plays an HTTP/1 client and its handlers as bytes say, like h2Script.
type h1Script struct {
	*h2Script
	methods []http.Method // of the requests that have reached the handler
}

func (s *h1Script) serve(x *httpserver.Exchange) bool {
	s.methods = append(s.methods, x.Request().Method)
	if len(s.rest) == 0 { // one that has waited
		x.Respond(200, "text/plain", nil)
		return true
	}
	return s.h2Script.serve(x)
}

// start begins the connection.
func (s *h1Script) start(server *httpserver.Server) {
	server.Logger = slog.New(slog.DiscardHandler)
	config := channel.NewConfig()
	config.AllowHalfClosure = true
	config.Logger = server.Logger
	s.Channel = embedded.NewConfig(config, installer{server})
}

// step plays the next thing.
func (s *h1Script) step() {
	arg := int(s.next())
	more := arg >> 4
	content := strings.Repeat("x", more*more*100)
	version := []string{"1.1", "1.0", "1.1", "1.1"}[more&3]
	fields := "Host: x\r\n" + []string{"", "", "Connection: close\r\n", "Connection: keep-alive\r\n"}[more>>2]
	switch arg % 16 {
	case 0, 1:
		s.feed("GET " + s.path + " HTTP/" + version + "\r\n" + fields + "\r\n")
	case 2:
		s.feed("HEAD " + s.path + " HTTP/" + version + "\r\n" + fields + "\r\n")
	case 3:
		s.feed(fmt.Sprintf("POST %s HTTP/%s\r\n%sContent-Length: %d\r\n\r\n%s", s.path, version, fields, len(content), content))
	case 4:
		s.feed("POST " + s.path + " HTTP/1.1\r\n" + fields + "Content-Length: 1000000\r\n\r\n" + content)
	case 5:
		s.feed("POST " + s.path + " HTTP/1.1\r\n" + fields + "Expect: 100-continue\r\nContent-Length: 2000\r\n\r\n")
	case 6:
		s.feed("POST " + s.path + " HTTP/1.1\r\n" + fields + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nTrailer: 1\r\n\r\n")
	case 7:
		s.feed(content)
	case 8:
		s.feed("GET / HTTP/1.1\r\nHos")
	case 9:
		s.feed([]string{"CONNECT x:1 HTTP/1.1\r\n", "GET / HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: x\r\n"}[more&1] + "Host: x\r\n\r\n")
	case 10, 11:
		if n := len(s.asyncs); n > 0 {
			_ = s.asyncs[int(s.next())%n].Do(func(x *httpserver.Exchange) {
				if x != nil {
					s.act(x)
				}
			})
		}
		s.RunPending()
	case 12:
		s.Advance(time.Duration(s.next()) * 100 * time.Millisecond)
	case 13:
		s.SetTransportWritable(more&1 == 0)
	case 14:
		s.feed(strings.Repeat(getLine, more))
	case 15:
		s.rarely(more)
	}
}

// rarely ends something.
func (s *h1Script) rarely(what int) {
	switch what {
	case 12:
		s.feed("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n")
	case 13:
		s.FireEvent(bootstrap.Drain{})
	case 14:
		s.FailInbound(io.ErrClosedPipe)
	case 15:
		_ = s.CloseInbound()
	}
}

// answerAll ends every answer that is still to come.
func (s *h1Script) answerAll() {
	for _, a := range s.asyncs {
		_ = a.Do(func(x *httpserver.Exchange) {
			switch {
			case x == nil:
			case x.Started():
				x.End(nil)
			default:
				x.Respond(200, "text/plain", nil)
			}
		})
	}
	s.RunPending()
}

// checkSent checks that what was sent are answers to the requests, in order and well framed, as
// far as it goes.
func (s *h1Script) checkSent(sent string) {
	d := http1.NewResponseDecoder(http.Limits{})
	defer d.Close()
	for _, m := range s.methods {
		d.Sent(m, false)
	}
	d.Sent(http.MethodGet, false) // the one that was malformed
	b := buffer.CopyString(sent)
	defer b.Close()
	for {
		msg, err := d.Next(b)
		if err != nil {
			s.t.Fatalf("%v in what was sent to %v:\n%q", err, s.methods, sent)
		}
		if msg == nil {
			return
		}
		channel.Dispose(msg)
	}
}

// Whatever an HTTP/1 client and native handlers do to each other: nothing panics but handlers,
// the answers are in order and each is well framed, no buffer is leaked (TestMain looks), and a
// connection whose requests are answered ends when the client's time is up.
func FuzzExchanges(f *testing.F) {
	f.Add([]byte{0, 1, 7, 0, 0, 2, 2, 0, 1, 10, 2, 5, 0, 20, 21, 0, 3})
	f.Add([]byte{3, 0, 5, 0, 200, 5, 0, 200, 11, 0, 9, 0, 12, 255, 12, 255})
	f.Add([]byte{84, 3, 1, 0, 5, 2, 1, 3, 14, 240, 10, 0, 1, 0, 255, 12, 40})
	f.Add([]byte{54, 94, 158, 147, 29, 172, 104, 27, 2, 40, 14, 236, 253})
	f.Add([]byte("%10\xff"))
	f.Add([]byte{5, 0, 5, 1, 0, 5, 0, 8, 7, 4, 12, 200, 13, 30, 10, 0, 6, 0})
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 1<<10 {
			return
		}
		s := &h1Script{h2Script: &h2Script{t: t, rest: script, path: "/"}}
		server := &httpserver.Server{Native: httpserver.NativeFunc(s.serve)}
		s.start(server)
		sent := ""
		for len(s.rest) > 0 {
			s.step()
			sent += rawSent(t, s.Channel)
		}
		s.answerAll()
		sent += rawSent(t, s.Channel)
		s.checkSent(sent)
		s.end(server)
	})
}

// The same with net/http handlers, on goroutines of their own: all of them end.
func TestWhateverHandlersDo(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 3))
		var running atomic.Int64
		handler := handlerOf(&running)
		var mu sync.Mutex
		s := &h1Script{h2Script: &h2Script{t: t}}
		server := newStd(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
			mu.Lock() // requests of a connection are served one after another
			s.methods = append(s.methods, http.Method(r.Method))
			mu.Unlock()
			handler(w, r)
		}))
		s.start(server)
		sent := ""
		for range 40 {
			path := []byte("/")
			for range random.IntN(5) {
				path = append(path, "rpcwwwsffhitdx"[random.IntN(14)])
			}
			s.path = string(path)
			s.rest = binary.BigEndian.AppendUint64(s.rest[:0], random.Uint64())
			s.step()
			s.rest = s.rest[:0]
			sent += rawSent(t, s.Channel)
		}
		s.FailInbound(io.ErrClosedPipe) // an end would not be seen by who doesn't read
		s.SetTransportWritable(true)
		await(t, "the connection ends", func() bool {
			s.Advance(time.Second)
			sent += rawSent(t, s.Channel)
			return !s.IsOpen()
		})
		await(t, "every handler ends", func() bool {
			s.RunPending()
			return running.Load() == 0
		})
		sent += rawSent(t, s.Channel)
		mu.Lock()
		s.checkSent(sent)
		mu.Unlock()
		s.end(server)
	}
}
