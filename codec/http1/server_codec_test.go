package http1

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec/http"
)

// app is a handler that keeps a log of what it reads and answers through answer, if set.
type app struct {
	log     []string
	ctx     *channel.Context
	answer  func(ctx *channel.Context, r *http.Request)
	content func(ctx *channel.Context, c *http.Content)
	reading bool // the read batch has not ended
}

func (a *app) Added(ctx *channel.Context) { a.ctx = ctx }

func (a *app) OnRead(ctx *channel.Context, msg any) {
	a.reading = true
	switch m := msg.(type) {
	case *http.Request:
		a.log = append(a.log, fmt.Sprintf("%d %s %s", m.ID, m.Method, m.Target))
		if a.answer != nil {
			a.answer(ctx, m)
		}
		m.Close()
	case *http.Content:
		entry := fmt.Sprintf("%d", m.ID)
		if m.Data != nil {
			entry += fmt.Sprintf(" %q", m.Data.Bytes())
		}
		if m.End {
			entry += " end"
		}
		if m.Err != nil {
			entry += " error: " + m.Err.Error()
		}
		a.log = append(a.log, entry)
		if a.content != nil {
			a.content(ctx, m)
			return
		}
		m.Close()
	case *buffer.Buffer:
		a.log = append(a.log, fmt.Sprintf("raw %q", m.Bytes()))
		m.Close()
	}
}

func (a *app) OnReadComplete(ctx *channel.Context) {
	a.reading = false
	ctx.Flush()
}

func (a *app) OnError(_ *channel.Context, err error) { a.log = append(a.log, "error: "+err.Error()) }

func (a *app) take() string {
	log := strings.Join(a.log, "; ")
	a.log = nil
	return log
}

// answer returns an answer with a status and a body.
func answer(r *http.Request, status int, body string) *http.Response {
	resp := r.Respond(status)
	if body != "" {
		resp.Body = buffer.CopyString(body)
	}
	return resp
}

// hello answers every request at once.
func hello(ctx *channel.Context, r *http.Request) { ctx.Write(answer(r, 200, "hi")) }

type server struct {
	*embedded.Channel
	t     *testing.T
	codec *ServerCodec
	app   *app
}

// serve returns a server's channel with a fixed date.
func serve(t *testing.T, o ServerOptions, answer func(*channel.Context, *http.Request)) *server {
	t.Helper()
	if o.Date == nil {
		o.Date = http.NewDate(func() time.Time { return time.Unix(784111777, 0) })
	}
	config := channel.NewConfig()
	config.AllowHalfClosure = true
	s := &server{t: t, codec: NewServerCodec(o), app: &app{answer: answer}}
	s.Channel = embedded.NewConfig(config, s.codec, s.app)
	t.Cleanup(func() { s.Finish() })
	return s
}

// in passes bytes in as one read batch.
func (s *server) in(text string) {
	s.t.Helper()
	if err := s.WriteInbound(buffer.CopyString(text)); err != nil {
		s.t.Errorf("input %.60q: %v", text, err)
	}
}

// out returns everything that was sent since, without the Date lines.
func (s *server) out() string { return sentBytes(s.Channel) }

func sentBytes(ch *embedded.Channel) string {
	var b strings.Builder
	for msg := ch.ReadOutbound(); msg != nil; msg = ch.ReadOutbound() {
		switch m := msg.(type) {
		case *buffer.Buffer:
			b.Write(m.Bytes())
			m.Close()
		case *channel.FileRegion:
			fmt.Fprintf(&b, "<file %d+%d>", m.Offset, m.Count)
			m.Close()
		}
	}
	return strings.ReplaceAll(b.String(), dateLine, "")
}

const dateLine = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"

func (s *server) expectOut(want string) {
	s.t.Helper()
	if got := s.out(); got != want {
		s.t.Errorf("sent %q, want %q", got, want)
	}
}

func (s *server) expectLog(want string) {
	s.t.Helper()
	if got := s.app.take(); got != want {
		s.t.Errorf("handler saw %q, want %q", got, want)
	}
	if s.app.reading && s.IsOpen() {
		s.t.Error("the handler was not told of the end of a read batch")
	}
}

const hiAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

func TestServerAnswers(t *testing.T) {
	t.Parallel()
	s := serve(t, ServerOptions{}, hello)
	s.in(follower)
	s.expectLog("1 GET /next")
	s.expectOut(hiAnswer)
	s.in(follower + follower + follower)
	s.expectLog("2 GET /next; 3 GET /next; 4 GET /next")
	s.expectOut(hiAnswer + hiAnswer + hiAnswer)
	if !s.IsOpen() {
		t.Error("the connection was closed")
	}
}

func TestServerWritesADate(t *testing.T) {
	t.Parallel()
	s := serve(t, ServerOptions{}, hello)
	s.in(follower)
	b := s.ReadOutbound().(*buffer.Buffer)
	defer b.Close()
	if !strings.Contains(string(b.Bytes()), dateLine) {
		t.Errorf("no Date in %q", b.Bytes())
	}
}

// Answers leave in the order of the requests, whatever the order of the writes.
func TestServerOrdersAnswers(t *testing.T) {
	t.Parallel()
	s := serve(t, ServerOptions{}, nil)
	s.in(follower + follower + follower)
	s.expectLog("1 GET /next; 2 GET /next; 3 GET /next")
	write := func(id uint64, body string) channel.Future {
		r := http.NewResponse(200)
		r.ID, r.Body = id, buffer.CopyString(body)
		return s.WriteAndFlush(r)
	}
	third := write(3, "c")
	// The second one is streamed.
	r := http.NewResponse(200)
	r.ID, r.End = 2, false
	second := s.WriteAndFlush(r)
	for i, piece := range []string{"b1", "b2"} {
		c := http.NewContent(buffer.CopyString(piece), i == 1)
		c.ID = 2
		second = s.WriteAndFlush(c)
	}
	s.RunPending()
	s.expectOut("")
	if third.IsDone() || second.IsDone() || s.PendingBytes() == 0 {
		t.Errorf("held answers: done %v and %v, pending %d", third.IsDone(), second.IsDone(), s.PendingBytes())
	}
	first := write(0, "a")
	s.RunPending()
	s.expectOut("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na" +
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nb1\r\n2\r\nb2\r\n0\r\n\r\n" +
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nc")
	if !first.IsSuccess() || !second.IsSuccess() || !third.IsSuccess() || s.PendingBytes() != 0 {
		t.Errorf("first %v, second %v, third %v, pending %d", first.Err(), second.Err(), third.Err(), s.PendingBytes())
	}
	if late := write(2, "again"); !errors.Is(late.Err(), ErrNotAwaited) {
		t.Errorf("second answer to a request: %v", late.Err())
	}
	if early := write(4, "early"); !errors.Is(early.Err(), ErrNotAwaited) {
		t.Errorf("answer to no request: %v", early.Err())
	}
	if raw := s.WriteAndFlush(buffer.CopyString("raw")); !errors.Is(raw.Err(), ErrNotHTTP) {
		t.Errorf("raw bytes: %v", raw.Err())
	}
}

// A client that pipelines is held to the pace of the answers.
func TestServerBoundsRequestsInFlight(t *testing.T) {
	t.Parallel()
	s := serve(t, ServerOptions{MaxInFlight: 2}, nil)
	s.in(strings.Repeat(follower, 5))
	s.expectLog("1 GET /next; 2 GET /next")
	if s.Reading() {
		t.Error("still reading above the limit")
	}
	for id := range 5 {
		s.WriteAndFlush(answer(&http.Request{ID: uint64(id + 1)}, 200, "hi"))
		s.RunPending()
		want := ""
		if next := id + 3; next <= 5 {
			want = fmt.Sprintf("%d GET /next", next)
		}
		s.expectLog(want)
		s.expectOut(hiAnswer)
	}
	if !s.Reading() || s.codec.InFlight() != 0 {
		t.Errorf("reading %v, in flight %d", s.Reading(), s.codec.InFlight())
	}
	s.in(follower)
	s.expectLog("6 GET /next")
}

// A client that never reads its answers is not read from either.
func TestServerStopsForAClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 40<<10)
	s := serve(t, ServerOptions{}, func(ctx *channel.Context, r *http.Request) { ctx.Write(answer(r, 200, large)) })
	s.SetTransportWritable(false)
	for range 20 {
		s.in(follower + follower)
	}
	if n, limit := s.PendingBytes(), int64(s.Config().WriteBufferHigh+len(large)+200); n > limit || s.Reading() {
		t.Errorf("%d bytes wait, want at most %d; reading %v", n, limit, s.Reading())
	}
	s.SetTransportWritable(true)
	if got := strings.Count(s.out(), "HTTP/1.1 200 OK"); got != 40 || !s.Reading() {
		t.Errorf("%d answers in the end, reading %v", got, s.Reading())
	}
}

// The same when handlers answer at once: nothing waits.
func TestServerLimitDoesNotStopPromptHandlers(t *testing.T) {
	t.Parallel()
	s := serve(t, ServerOptions{MaxInFlight: 1}, hello)
	s.in(strings.Repeat(follower, 5))
	s.expectOut(strings.Repeat(hiAnswer, 5))
}

// A fixed answer says the same as the ordinary one, whatever the request is.
func TestServerFixedAnswers(t *testing.T) {
	t.Parallel()
	fixed, err := http.NewFixed(200, []byte("hi"), "A", "b")
	if err != nil {
		t.Fatal(err)
	}
	const head = "HTTP/1.1 200 OK\r\nA: b\r\n"
	for _, row := range []struct{ name, input, want string }{
		{"ordinary", follower + follower, head + "Content-Length: 2\r\n\r\nhi" + head + "Content-Length: 2\r\n\r\nhi"},
		{"HEAD", "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", head + "Content-Length: 2\r\n\r\n"},
		{"close", get("Host: a", "Connection: close"), head + "Connection: close\r\nContent-Length: 2\r\n\r\nhi"},
		{"1.0", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", head + "Connection: keep-alive\r\nContent-Length: 2\r\n\r\nhi"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, ServerOptions{}, func(ctx *channel.Context, r *http.Request) { ctx.Write(r.RespondFixed(fixed)) })
			s.in(row.input)
			s.expectOut(row.want)
		})
	}
	t.Run("with a field", func(t *testing.T) {
		t.Parallel()
		s := serve(t, ServerOptions{}, func(ctx *channel.Context, r *http.Request) {
			resp := r.RespondFixed(fixed)
			resp.Header.Add("C", "d")
			ctx.Write(resp)
		})
		s.in(follower)
		s.expectOut("HTTP/1.1 200 OK\r\nC: d\r\nA: b\r\nContent-Length: 2\r\n\r\nhi")
	})
}

func TestServerKeepAlive(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, input, head string
		open              bool
	}{
		{"1.1", get("Host: a"), "", true},
		{"1.1 close", get("Host: a", "Connection: close"), "Connection: close\r\n", false},
		{"1.0", "GET / HTTP/1.0\r\n\r\n", "Connection: close\r\n", false},
		{"1.0 keep-alive", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "Connection: keep-alive\r\n", true},
		{"1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", "", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, ServerOptions{}, hello)
			s.in(row.input)
			s.expectOut("HTTP/1.1 200 OK\r\n" + row.head + "Content-Length: 2\r\n\r\nhi")
			if s.IsOpen() != row.open {
				t.Errorf("open %v", s.IsOpen())
			}
		})
	}
}

func TestServerSendsFiles(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, method  string
		count, length int64
		want          string
	}{
		{"declared", "GET", 4, 4, "Content-Length: 4\r\n\r\n<file 1+4>"},
		{"chunked", "GET", 4, -1, "Transfer-Encoding: chunked\r\n\r\n4\r\n<file 1+4>\r\n0\r\n\r\n"},
		{"empty", "GET", 0, 0, "Content-Length: 0\r\n\r\n"},
		{"HEAD", "HEAD", 4, 4, "Content-Length: 4\r\n\r\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, []byte("water"), 0o600); err != nil {
				t.Fatal(err)
			}
			file, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			s := serve(t, ServerOptions{}, func(ctx *channel.Context, r *http.Request) {
				resp := r.Respond(200)
				resp.End, resp.ContentLength = false, row.length
				ctx.Write(resp)
				ctx.Write(http.NewFileContent(file, 1, row.count, true))
			})
			s.in(row.method + " / HTTP/1.1\r\nHost: a\r\n\r\n")
			s.expectOut("HTTP/1.1 200 OK\r\n" + row.want)
			if err := file.Close(); !errors.Is(err, os.ErrClosed) {
				t.Errorf("the file was left open: %v", err)
			}
			if s.codec.InFlight() != 0 || !s.IsOpen() {
				t.Error("not finished")
			}
		})
	}
}

// answerWhenDone makes the handler answer when all content has come.
func answerWhenDone(s *server) {
	s.app.content = func(ctx *channel.Context, c *http.Content) {
		if c.End {
			ctx.WriteAndFlush(answer(&http.Request{ID: c.ID}, 200, "hi"))
		}
		c.Close()
	}
}

func TestServerExpectContinue(t *testing.T) {
	t.Parallel()
	const head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
	t.Run("automatic", func(t *testing.T) {
		t.Parallel()
		s := serve(t, ServerOptions{}, nil)
		answerWhenDone(s)
		s.in(head)
		s.expectOut(continueHead)
		s.in("ab")
		s.expectOut(hiAnswer)
		s.in(head + "ab") // the client didn't wait
		s.expectOut(hiAnswer)
	})
	t.Run("in its turn", func(t *testing.T) {
		t.Parallel()
		s := serve(t, ServerOptions{}, nil)
		s.in(follower + head)
		s.expectOut("")
		s.WriteAndFlush(answer(&http.Request{ID: 1}, 200, "hi"))
		s.RunPending()
		s.expectOut(hiAnswer + continueHead)
	})
	t.Run("refused at once", func(t *testing.T) {
		t.Parallel()
		s := serve(t, ServerOptions{}, func(ctx *channel.Context, r *http.Request) { ctx.Write(answer(r, 413, "")) })
		s.in(head)
		s.expectOut("HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		if !s.OutboundShutdown() {
			t.Error("the connection goes on, though nobody knows whether the content comes")
		}
	})
	t.Run("streamed answer", func(t *testing.T) {
		t.Parallel()
		s := serve(t, ServerOptions{}, func(ctx *channel.Context, r *http.Request) {
			resp := r.Respond(200)
			resp.End = false
			ctx.Write(resp)
		})
		s.app.content = func(ctx *channel.Context, c *http.Content) { ctx.Write(c) }
		s.in(head)
		s.expectOut(continueHead + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		s.in("ab")
		s.expectOut("2\r\nab\r\n0\r\n\r\n")
	})
	t.Run("manual", func(t *testing.T) {
		t.Parallel()
		s := serve(t, ServerOptions{ManualContinue: true}, nil)
		answerWhenDone(s)
		s.in(head)
		s.expectOut("")
		s.WriteAndFlush(http.NewResponse(100))
		s.WriteAndFlush(http.NewResponse(100)) // once is enough
		s.RunPending()
		s.expectOut(continueHead)
		s.in("ab")
		s.expectOut(hiAnswer)
	})
}

func TestServerUnusualExpectations(t *testing.T) {
	t.Parallel()
	t.Run("HTTP/1.0", func(t *testing.T) {
		t.Parallel()
		s := serve(t, ServerOptions{}, nil)
		answerWhenDone(s)
		s.in("POST / HTTP/1.0\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
		s.expectOut("")
		s.in("ab")
		s.expectOut("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi")
	})
	t.Run("unknown", func(t *testing.T) {
		t.Parallel()
		s := serve(t, ServerOptions{}, hello)
		s.in("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: miracles\r\n\r\n")
		s.expectLog("")
		if out := s.out(); !strings.HasPrefix(out, "HTTP/1.1 417 Expectation Failed\r\n") || !strings.Contains(out, closeLine) {
			t.Errorf("sent %q", out)
		}
	})
}

func TestServerBodies(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 5000)
	for _, row := range []struct {
		name, input, want string
		answer            func(ctx *channel.Context, r *http.Request)
	}{
		{"HEAD", "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", hello},
		{"large", follower, "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + large, func(ctx *channel.Context, r *http.Request) {
			ctx.Write(answer(r, 200, large))
		}},
		{"HEAD, large", "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n", func(ctx *channel.Context, r *http.Request) {
			ctx.Write(answer(r, 200, large))
		}},
		{"chunked, large", follower, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1388\r\n" + large + "\r\n0\r\nA: b\r\n\r\n",
			func(ctx *channel.Context, r *http.Request) {
				resp := r.Respond(200)
				resp.End = false
				ctx.Write(resp)
				c := http.NewContent(buffer.CopyString(large), true)
				c.AddTrailer("A", "b")
				ctx.Write(c)
			}},
		{"to HTTP/1.0, length unknown", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nab",
			func(ctx *channel.Context, r *http.Request) {
				resp := r.Respond(200)
				resp.End = false
				ctx.Write(resp)
				ctx.Write(http.NewContent(buffer.CopyString("a"), false))
				ctx.Write(http.NewContent(buffer.CopyString("b"), true))
			}},
		{"declared and streamed", follower, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", func(ctx *channel.Context, r *http.Request) {
			resp := r.Respond(200)
			resp.End, resp.ContentLength = false, 3
			ctx.Write(resp)
			ctx.Write(http.NewContent(buffer.CopyString("ab"), false))
			if f := ctx.Write(http.NewContent(buffer.CopyString("cd"), false)); !errors.Is(f.Err(), ErrContentLong) {
				panic(f.Err())
			}
			ctx.Write(http.NewContent(buffer.CopyString("c"), false))
			ctx.Write(http.NewContent(nil, true))
		}},
		{"no content", follower, "HTTP/1.1 204 No Content\r\n\r\n", func(ctx *channel.Context, r *http.Request) { ctx.Write(r.Respond(204)) }},
		{"a fault of the handler", follower, "HTTP/1.1 500 Internal Server Error\r\nContent-Type: text/plain; charset=utf-8\r\n" +
			"Connection: close\r\nContent-Length: 26\r\n\r\n500 Internal Server Error\n", func(ctx *channel.Context, r *http.Request) {
			resp := r.Respond(200)
			resp.Header.Add("A", "b\r\nInjected: yes")
			if f := ctx.Write(resp); !errors.Is(f.Err(), http.ErrInvalidField) {
				panic(f.Err())
			}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, ServerOptions{}, row.answer)
			s.in(row.input)
			s.expectOut(row.want)
			if err := s.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

// An answer with a head that was put together before leaves as one built from scratch does,
// in turn or before its turn, whatever the request allows; its content may change once it
// was written.
func TestServerRespondHead(t *testing.T) {
	t.Parallel()
	head, err := http.NewFixedHead(200, "A", "b")
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range []string{follower, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.0\r\n\r\n", closingRequest} {
		for _, size := range []int{0, 2, inlineBody, inlineBody + 1} {
			content := []byte(strings.Repeat("x", size))
			answers := [2]string{}
			for i := range answers {
				s := serve(t, ServerOptions{}, func(ctx *channel.Context, r *http.Request) {
					if i == 0 {
						kept := append([]byte(nil), content...)
						ctx.Write(r.RespondHead(head, kept))
						clear(kept)
						return
					}
					resp := answer(r, 200, string(content))
					resp.Header.Add("A", "b")
					ctx.Write(resp)
				})
				s.in(request)
				s.Flush()
				s.RunPending()
				answers[i] = s.out()
			}
			if answers[0] != answers[1] {
				t.Errorf("%.20q, %d bytes: %.200q, want %.200q", request, size, answers[0], answers[1])
			}
		}
	}
	s := serve(t, ServerOptions{}, nil)
	s.in(follower + follower)
	content := []byte("two")
	s.Write((&http.Request{ID: 2}).RespondHead(head, content))
	clear(content)
	s.Write((&http.Request{ID: 1}).RespondHead(head, []byte("one")))
	s.Flush()
	s.RunPending()
	s.expectOut("HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 3\r\n\r\none" + "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 3\r\n\r\ntwo")
}

const closingRequest = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
