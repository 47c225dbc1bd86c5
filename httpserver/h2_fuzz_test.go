package httpserver_test

import (
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	nethttp "net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec/http"
	"millrace.dev/httpserver"
)

// h2Script plays a client and its handlers as bytes say: what is done, and then to which stream
// or exchange, how much, and so on.
type h2Script struct {
	*embedded.Channel
	*frames
	t      *testing.T
	rest   []byte
	id     uint32 // of the newest stream
	path   string // of requests
	asyncs []*httpserver.Async
}

func (s *h2Script) next() byte {
	if len(s.rest) == 0 {
		return 0
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return b
}

// stream is one of the last ones.
func (s *h2Script) stream() uint32 {
	back := uint32(s.next()%8) * 2
	if back >= s.id {
		return s.id
	}
	return s.id - back
}

// serve does something with a new request, or nothing for now.
func (s *h2Script) serve(x *httpserver.Exchange) bool {
	s.asyncs = append(s.asyncs, x.Async())
	for n := s.next() % 4; n > 0 && s.act(x); n-- {
	}
	return true
}

// act does one thing to an exchange, and reports whether it may still be touched.
func (s *h2Script) act(x *httpserver.Exchange) bool {
	arg := int(s.next())
	switch s.next() % 16 {
	case 0:
		x.Respond(200, "text/plain", make([]byte, arg*16))
		return false
	case 1:
		x.Start(http.NewResponse(200 + arg%2*4))
	case 2:
		x.Write(buffer.CopyString(strings.Repeat("x", arg*arg)))
	case 3:
		x.End(nil)
		return false
	case 4:
		x.Abort()
		return false
	case 5:
		x.PauseBody()
	case 6:
		x.ResumeBody()
	case 7:
		x.OnBody(func(x *httpserver.Exchange, data *buffer.Buffer, end bool, err error) {
			if data != nil {
				data.Close()
			}
			if end || err != nil {
				s.act(x)
			}
		})
	case 8:
		x.OnBody(func(x *httpserver.Exchange, data *buffer.Buffer, _ bool, _ error) {
			if data != nil {
				x.Write(data)
			}
		})
	case 9:
		x.Collect(int64(arg)*100, func(x *httpserver.Exchange, body *buffer.Buffer, _ error) { x.RespondBuffer(200, "", body) })
	case 10:
		x.OnClose(func(x *httpserver.Exchange) { s.act(x) })
	case 11:
		x.OnWritable(func(x *httpserver.Exchange) { s.act(x) })
	case 12:
		panic(arg)
	case 13:
		r := http.NewResponse(200)
		r.Header.Add("Bad", "a\nb")
		x.RespondWith(r)
		return false
	case 14:
		r := http.NewResponse(200)
		r.ContentLength = int64(arg)
		r.CloseConn = arg%8 == 0
		x.Start(r)
	case 15:
		r := http.NewResponse(100 + arg%8)
		x.Start(r)
	}
	return true
}

// step plays the next thing.
func (s *h2Script) step() {
	switch arg := s.next(); arg % 16 {
	case 0, 1:
		s.id += 2
		s.get(s.id, s.path)
	case 2:
		s.id += 2
		s.head(s.id, false, ":method=POST", ":path="+s.path, "expect="+[]string{"", "100-continue"}[arg>>4&1])
	case 3:
		s.id += 2
		s.head(s.id, false, ":method=POST", ":path="+s.path, "content-length=1000000")
	case 4:
		s.id += 2
		s.headers(s.id, false, ":method=CONNECT", ":authority=x:1")
	case 5, 6:
		s.data(s.stream(), strings.Repeat("x", int(s.next())*50), arg>>4 == 0)
	case 7:
		s.reset(s.stream(), http2.ErrCodeCancel)
	case 8:
		s.frames.window(s.stream()*uint32(arg>>4&1), uint32(s.next())*256+1)
	case 9:
		_ = s.w.WriteSettings(window(uint32(s.next()) * 64))
	case 10:
		s.headers(s.stream(), true, "trailer=1")
	case 11:
		if n := len(s.asyncs); n > 0 {
			_ = s.asyncs[int(s.next())%n].Do(func(x *httpserver.Exchange) {
				if x != nil {
					s.act(x)
				}
			})
		}
	case 12:
		s.Advance(time.Duration(s.next()) * 100 * time.Millisecond)
	case 13:
		s.SetTransportWritable(arg>>4&1 == 0)
	case 14:
		_ = s.w.WritePing(true, [8]byte([]byte("draining")))
	case 15:
		if arg == 255 {
			s.feed(s.take())
			_ = s.CloseInbound()
		}
	}
	s.feed(s.take())
}

// feed passes bytes in; no panic but a handler's may come of it.
func (s *h2Script) feed(input string) {
	if input == "" {
		s.RunPending()
		return
	}
	err := s.WriteInbound(buffer.CopyString(input))
	var panicked *channel.PanicError
	if errors.As(err, &panicked) {
		s.t.Fatalf("%v\n%s", err, panicked.Stack)
	}
}

// Whatever clients and handlers do to each other: nothing panics but handlers, which hurts
// nobody else, no buffer is leaked (TestMain looks), and a connection whose requests are answered
// ends when the client's time is up.
func FuzzH2Exchanges(f *testing.F) {
	f.Add([]byte{0, 1, 7, 0, 0, 2, 2, 0, 1, 10, 2, 5, 0, 20, 21, 0, 3})
	f.Add([]byte{3, 0, 5, 0, 200, 5, 0, 200, 11, 0, 9, 0, 12, 255, 12, 255})
	f.Add([]byte{9, 0, 1, 2, 1, 1, 200, 2, 11, 0, 0, 3, 255, 12, 250, 8, 0, 20})
	f.Add([]byte{4, 2, 0, 1, 0, 8, 5, 0, 9, 7, 0, 0, 1, 0, 10, 13, 0, 0, 0, 12, 200})
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 1<<10 {
			return
		}
		s := &h2Script{t: t, rest: script, path: "/"}
		server := &httpserver.Server{Native: httpserver.NativeFunc(s.serve)}
		s.start(server)
		for len(s.rest) > 0 {
			s.step()
		}
		for _, a := range s.asyncs {
			_ = a.Do(func(x *httpserver.Exchange) {
				if x != nil {
					x.Abort()
				}
			})
		}
		s.RunPending()
		s.end(server)
	})
}

// start begins the connection.
func (s *h2Script) start(server *httpserver.Server) {
	s.frames = newFrames()
	s.id-- // the first is 1
	server.Logger = slog.New(slog.DiscardHandler)
	config := channel.NewConfig()
	config.AllowHalfClosure = true
	config.Logger = server.Logger
	s.Channel = embedded.NewConfig(config, installer{server})
	s.feed(s.hello().take())
}

// end lets the client's time run out.
func (s *h2Script) end(server *httpserver.Server) {
	for range 100 {
		s.Advance(10 * time.Second)
	}
	if s.IsOpen() {
		s.t.Error("the connection is still open")
	}
	if n := s.Loop().Stats().Panics; n > 0 {
		s.t.Errorf("%d panics in tasks and timers", n)
	}
	s.Finish()
	_ = server.Close()
}

// handlerOf is a net/http handler that does what the letters of its path say.
func handlerOf(running *atomic.Int64) nethttp.HandlerFunc {
	return func(w nethttp.ResponseWriter, r *nethttp.Request) {
		running.Add(1)
		defer running.Add(-1)
		for _, letter := range r.URL.Path {
			switch letter {
			case 'r':
				_, _ = io.ReadAll(r.Body)
			case 'p':
				_, _ = io.ReadFull(r.Body, make([]byte, 1000))
			case 'c':
				_ = r.Body.Close()
			case 'w':
				_, _ = w.Write(make([]byte, 20_000))
			case 's':
				_, _ = io.WriteString(w, "small")
			case 'f':
				_ = nethttp.NewResponseController(w).Flush()
			case 'h':
				w.WriteHeader(204)
			case 'i':
				w.WriteHeader(103)
			case 't':
				w.Header().Set(nethttp.TrailerPrefix+"T", "1")
			case 'd':
				<-r.Context().Done()
			case 'x':
				panic("x")
			}
		}
	}
}

// The same with net/http handlers, on goroutines of their own: all of them end.
func TestH2WhateverHandlersDo(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 2))
		var running atomic.Int64
		server := newStd(handlerOf(&running))
		s := &h2Script{t: t}
		s.start(server)
		for range 80 {
			path := []byte("/")
			for range random.IntN(5) {
				path = append(path, "rpcwwwsffhitdx"[random.IntN(14)])
			}
			s.path = string(path)
			s.rest = binary.BigEndian.AppendUint64(s.rest[:0], random.Uint64())
			s.step()
			s.rest = s.rest[:0]
		}
		_ = s.CloseInbound()
		s.SetTransportWritable(true)
		await(t, "the connection ends", func() bool {
			s.Advance(time.Second)
			return !s.IsOpen()
		})
		await(t, "every handler ends", func() bool {
			s.RunPending()
			return running.Load() == 0
		})
		s.end(server)
	}
}
