package httpserver_test

import (
	"errors"
	"log/slog"
	"strings"
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
		s.get(s.id, "/")
	case 2:
		s.id += 2
		s.head(s.id, false, ":method=POST", "expect="+[]string{"", "100-continue"}[arg>>4&1])
	case 3:
		s.id += 2
		s.head(s.id, false, ":method=POST", "content-length=1000000")
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
		s := &h2Script{t: t, frames: newFrames(), rest: script}
		s.id--
		server := &httpserver.Server{Native: httpserver.NativeFunc(s.serve), Logger: slog.New(slog.DiscardHandler)}
		config := channel.NewConfig()
		config.AllowHalfClosure = true
		config.Logger = server.Logger
		s.Channel = embedded.NewConfig(config, installer{server})
		s.feed(s.hello().take())
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
		for range 100 {
			s.Advance(10 * time.Second)
		}
		if s.IsOpen() {
			t.Error("the connection is still open")
		}
		if n := s.Loop().Stats().Panics; n > 0 {
			t.Errorf("%d panics in tasks and timers", n)
		}
		s.Finish()
		_ = server.Close()
	})
}
