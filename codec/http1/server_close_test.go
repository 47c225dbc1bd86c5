package http1

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
)

// Nothing behind a request that says close is interpreted, and the peer, which may still
// be sending, is waited for.
func TestServerIgnoresWhatFollowsClose(t *testing.T) {
	t.Parallel()
	s := serve(t, ServerOptions{}, hello)
	s.in(get("Host: a", "Connection: close") + follower)
	s.expectLog("1 GET /")
	if !s.IsOpen() || !s.OutboundShutdown() {
		t.Errorf("open %v, output ended %v", s.IsOpen(), s.OutboundShutdown())
	}
	if s.CloseInbound(); s.IsOpen() {
		t.Error("still open after the peer's end")
	}
}

// Every malformed request is answered once, with its status, after what came before it;
// then the codec waits for the peer and interprets nothing.
func TestServerRefusesBadRequests(t *testing.T) {
	t.Parallel()
	for _, row := range badRequests() {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, ServerOptions{}, nil)
			s.app.answer = func(ctx *channel.Context, r *http.Request) {
				if r.End {
					hello(ctx, r)
				}
			}
			s.in(follower + row.input + follower)
			out, before := strings.CutPrefix(s.out(), hiAnswer)
			status := ""
			if len(out) > 12 {
				status = out[9:12]
			}
			if !before || status == "" || !strings.Contains(row.want, status) {
				t.Errorf("sent %q, want %s", out, row.want)
			}
			if strings.Count(out, "HTTP/1.1") != 1 || !strings.Contains(out, closeLine) {
				t.Errorf("sent %q, want one answer that closes", out)
			}
			log := s.app.take()
			if row.body {
				if !strings.Contains(log, "2 error: http1: ") {
					t.Errorf("the handler was not told about the content: %s", log)
				}
			} else if log != "1 GET /next" {
				t.Errorf("handler saw %s", log)
			}
			if s.IsOpen() && !s.OutboundShutdown() {
				t.Error("the connection goes on")
			}
			if s.IsOpen() {
				s.in(follower)
				s.expectLog("")
				s.CloseInbound()
			}
			if !s.Reading() { // too much has come to see it
				s.Advance(DefaultLingerTime)
			}
			if s.IsOpen() {
				t.Error("open after the peer's end")
			}
		})
	}
}

// An error answer waits for the answers before it.
func TestServerRefusesInTurn(t *testing.T) {
	t.Parallel()
	s := serve(t, ServerOptions{}, nil)
	s.in(follower + "BAD\r\n\r\n" + follower)
	s.expectLog("1 GET /next")
	s.expectOut("")
	s.WriteAndFlush(answer(&http.Request{ID: 1}, 200, "hi"))
	s.RunPending()
	if out := s.out(); !strings.HasPrefix(out, hiAnswer+"HTTP/1.1 400 Bad Request\r\n") {
		t.Errorf("sent %q", out)
	}
}

func TestServerLingers(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *server){
		"until the time is over": func(s *server) {
			s.Advance(DefaultLingerTime - 100*time.Millisecond)
			if !s.IsOpen() {
				s.t.Error("closed too early")
			}
			s.Advance(200 * time.Millisecond)
		},
		"though much has come": func(s *server) {
			for range 8 {
				if !s.Reading() {
					s.t.Error("reads too little")
				}
				s.in(strings.Repeat("x", 32<<10))
			}
			if !s.IsOpen() || s.Reading() {
				s.t.Error("closed at once, or still reading")
			}
			s.Advance(DefaultLingerTime + 100*time.Millisecond)
		},
		"until the peer has ended": func(s *server) { s.CloseInbound() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, auto := range []bool{true, false} {
				s := serve(t, ServerOptions{}, hello)
				if !auto {
					s.SetAutoRead(false)
					s.Read()
				}
				s.in("BAD\r\n\r\n")
				if !s.IsOpen() || !s.OutboundShutdown() || !strings.HasPrefix(s.out(), "HTTP/1.1 400 ") {
					t.Fatal("no error answer, or no lingering")
				}
				if end(s); s.IsOpen() {
					t.Error("still open")
				}
			}
		})
	}
}

// However a connection ends behind its answers, a client that takes them slowly gets all of them.
func TestServerSendsAllBeforeTheEnd(t *testing.T) {
	t.Parallel()
	closing := get("Host: a", "Connection: close")
	for name, row := range map[string]struct {
		input string
		end   func(s *server)
	}{
		"the peer has ended":                    {follower, func(s *server) { s.CloseInbound() }},
		"the peer has ended, surplus":           {closing + follower, func(s *server) { s.CloseInbound() }},
		"the peer has ended, malformed":         {"BAD\r\n\r\n", func(s *server) { s.CloseInbound() }},
		"the linger time is over":               {closing + follower, func(s *server) { s.Advance(5 * DefaultLingerTime) }},
		"the linger time is over, malformed":    {"BAD\r\n\r\n", func(s *server) { s.Advance(5 * DefaultLingerTime) }},
		"the server drains":                     {follower, func(s *server) { s.codec.Drain() }},
		"the server drains behind content":      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n", func(s *server) { s.codec.Drain(); s.in("x") }},
		"the server drains and the peer, too":   {follower, func(s *server) { s.codec.Drain(); s.CloseInbound() }},
		"the last answer and the peer, at once": {closing, func(s *server) { s.CloseInbound() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, ServerOptions{}, hello)
			s.SetTransportWritable(false)
			s.in(row.input)
			s.Flush()
			s.RunPending()
			row.end(s)
			s.RunPending()
			if !s.IsOpen() {
				t.Fatal("closed before the answer was sent")
			}
			s.SetTransportWritable(true)
			s.RunPending()
			if out := s.out(); !strings.HasPrefix(out, "HTTP/1.1 ") || strings.Count(out, "HTTP/1.1 ") != 1 {
				t.Errorf("sent %q", out)
			}
			s.Advance(DefaultLingerTime - time.Millisecond)
			if lingers := strings.Contains(name, "linger"); s.IsOpen() != lingers {
				t.Errorf("open: %v", s.IsOpen())
			}
			if s.Advance(100 * time.Millisecond); s.IsOpen() {
				t.Error("stays open")
			}
		})
	}
}

func TestServerPeerEnds(t *testing.T) {
	t.Parallel()
	t.Run("idle", func(t *testing.T) {
		t.Parallel()
		s := serve(t, ServerOptions{}, hello)
		s.in(follower)
		s.out()
		if s.CloseInbound(); s.IsOpen() {
			t.Error("open")
		}
	})
	t.Run("before the answer", func(t *testing.T) {
		t.Parallel()
		s := serve(t, ServerOptions{}, nil)
		s.in(follower)
		s.CloseInbound()
		if !s.IsOpen() {
			t.Fatal("closed before the answer")
		}
		s.WriteAndFlush(answer(&http.Request{ID: 1}, 200, "hi"))
		s.RunPending()
		s.expectOut("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi")
		if s.IsOpen() {
			t.Error("open after the answer")
		}
	})
	t.Run("in a head", func(t *testing.T) {
		t.Parallel()
		s := serve(t, ServerOptions{}, hello)
		s.in("GET / HTTP/1.1\r\nHos")
		s.CloseInbound()
		s.expectLog("")
		s.expectOut("")
		if s.IsOpen() {
			t.Error("open")
		}
	})
}

// Content that was cut short is never taken for whole, and no answer to it is sent.
func TestServerPeerEndsInContent(t *testing.T) {
	t.Parallel()
	const head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"
	const cut = "1 error: http1: connection ended inside a message"
	answerEnd := func(ctx *channel.Context, c *http.Content) {
		if f := ctx.Write(answer(&http.Request{ID: c.ID}, 200, "hi")); c.Err != nil && !errors.Is(f.Err(), ErrRefused) {
			panic(fmt.Sprintf("answer to a cut request: %v", f.Err()))
		}
		if c.Err != nil && !errors.Is(c.Err, io.ErrUnexpectedEOF) {
			panic(c.Err)
		}
		c.Close()
	}
	for name, input := range map[string]string{"in content": head + "hel", "in chunked content": post("5\r\nhel")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, ServerOptions{}, nil)
			s.in(input)
			s.app.take()
			s.app.content = answerEnd
			s.CloseInbound()
			s.expectLog(cut)
			s.expectOut("")
			if s.IsOpen() {
				t.Error("open")
			}
		})
		t.Run(name+", reset", func(t *testing.T) {
			t.Parallel()
			s := serve(t, ServerOptions{}, nil)
			s.in(input)
			s.app.take()
			s.app.content = answerEnd
			s.FailInbound(io.ErrClosedPipe)
			s.expectLog("error: " + io.ErrClosedPipe.Error() + "; " + cut)
			s.expectOut("")
		})
	}
	t.Run("in content behind a request that is not answered", func(t *testing.T) {
		t.Parallel()
		s := serve(t, ServerOptions{}, nil)
		s.in(follower + head + "hel")
		s.CloseInbound()
		s.expectLog(`1 GET /next; 2 POST /; 2 "hel"; ` + strings.Replace(cut, "1", "2", 1))
		s.WriteAndFlush(answer(&http.Request{ID: 1}, 200, "hi"))
		s.expectOut(hiAnswer) // and then the connection is closed
		if s.IsOpen() {
			t.Error("open")
		}
	})
	t.Run("in content, while the answer is streamed", func(t *testing.T) {
		t.Parallel()
		s := serve(t, ServerOptions{}, func(ctx *channel.Context, r *http.Request) {
			resp := r.Respond(200)
			resp.End = false
			ctx.Write(resp)
		})
		s.app.content = func(ctx *channel.Context, c *http.Content) { ctx.Write(c) }
		s.in(head + "hel")
		s.expectOut("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n")
		s.CloseInbound()
		s.expectOut("") // in particular no last chunk
		if s.IsOpen() {
			t.Error("open")
		}
	})
}

// An answer that ends before its declared length is cut off, never padded or passed off
// as whole.
func TestServerContentTooShort(t *testing.T) {
	t.Parallel()
	s := serve(t, ServerOptions{}, nil)
	s.in(follower)
	resp := http.NewResponse(200)
	resp.End, resp.ContentLength = false, 5
	s.Write(resp)
	if f := s.WriteAndFlush(http.NewContent(buffer.CopyString("ab"), true)); !errors.Is(f.Err(), ErrContentShort) {
		t.Errorf("%v", f.Err())
	}
	s.RunPending()
	s.expectOut("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
	if !s.OutboundShutdown() {
		t.Error("the connection goes on")
	}
}

func TestServerDrain(t *testing.T) {
	t.Parallel()
	t.Run("idle", func(t *testing.T) {
		t.Parallel()
		s := serve(t, ServerOptions{}, hello)
		s.codec.Drain()
		if s.RunPending(); s.IsOpen() {
			t.Error("open")
		}
	})
	t.Run("busy", func(t *testing.T) {
		t.Parallel()
		s := serve(t, ServerOptions{}, nil)
		s.in(follower + follower)
		s.codec.Drain()
		for id := range 2 {
			s.WriteAndFlush(answer(&http.Request{ID: uint64(id + 1)}, 200, "hi"))
		}
		s.RunPending()
		s.expectOut(hiAnswer + "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi")
		if s.IsOpen() {
			t.Error("open")
		}
	})
	t.Run("in an answer", func(t *testing.T) {
		t.Parallel()
		s := serve(t, ServerOptions{}, func(ctx *channel.Context, r *http.Request) {
			resp := r.Respond(200)
			resp.End = false
			ctx.Write(resp)
		})
		s.app.content = func(ctx *channel.Context, c *http.Content) { ctx.Write(c) }
		s.in("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\nhalf")
		s.codec.Drain()
		s.in("done")
		s.expectOut("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n4\r\ndone\r\n0\r\n\r\n")
		if s.IsOpen() {
			t.Error("open")
		}
	})
	t.Run("in a head", func(t *testing.T) {
		t.Parallel()
		s := serve(t, ServerOptions{}, hello)
		s.in(follower[:10])
		s.codec.Drain()
		s.in(follower[10:])
		s.expectLog("1 GET /next")
		if s.IsOpen() {
			t.Error("open")
		}
	})
}

// A handler that panics loses its request, not the ones behind it.
func TestServerSurvivesPanics(t *testing.T) {
	t.Parallel()
	s := serve(t, ServerOptions{}, func(ctx *channel.Context, r *http.Request) {
		if r.ID == 1 {
			panic("first")
		}
		hello(ctx, r)
	})
	s.in(follower + follower)
	s.in(follower)
	if log := s.app.take(); !strings.HasPrefix(log, "1 GET /next; error: ") || !strings.HasSuffix(log, "; 2 GET /next; 3 GET /next") {
		t.Errorf("handler saw %s", log)
	}
	s.WriteAndFlush(answer(&http.Request{ID: 1}, 500, ""))
	s.RunPending()
	s.expectOut("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n" + hiAnswer + hiAnswer)
	if !s.Reading() {
		t.Error("not reading any more")
	}
}

// The answer went out before the content was all there, and then the server drained.
func TestServerDrainInsideContentThatWasAnswered(t *testing.T) {
	t.Parallel()
	s := serve(t, ServerOptions{}, hello)
	s.in("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab")
	s.Flush()
	s.RunPending()
	s.codec.Drain()
	s.RunPending()
	if !s.IsOpen() {
		t.Fatal("closed inside the content")
	}
	s.in("cd")
	if s.IsOpen() {
		t.Error("goes on after the content")
	}
	s.expectOut(hiAnswer)
}
