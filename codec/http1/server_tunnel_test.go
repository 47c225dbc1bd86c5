package http1

import (
	"errors"
	"fmt"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
)

const (
	upgradeRequest = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"
	connectRequest = "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n"
)

func TestServerTunnels(t *testing.T) {
	t.Parallel()
	accept := func(ctx *channel.Context, r *http.Request) {
		status := 200
		if r.Upgrade {
			status = 101
		}
		resp := r.Respond(status)
		if r.Upgrade {
			resp.Header.Add("Upgrade", "echo")
		}
		ctx.Write(resp)
	}
	const switched = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: upgrade\r\n\r\n"
	for name, row := range map[string]struct{ input, log, out string }{
		"upgrade": {upgradeRequest, "1 GET /", switched},
		"CONNECT": {connectRequest, "1 CONNECT a:80", "HTTP/1.1 200 OK\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, ServerOptions{}, accept)
			s.in(row.input + "\x00early")
			s.in("late")
			s.expectLog(row.log + `; raw "\x00early"; raw "late"`)
			s.WriteOutbound(buffer.CopyString("raw"))
			s.expectOut(row.out + "raw")
		})
		t.Run(name+", answered later", func(t *testing.T) {
			t.Parallel()
			s := serve(t, ServerOptions{}, nil)
			s.in(row.input + "early" + follower)
			s.expectLog(row.log)
			r := &http.Request{ID: 1, Upgrade: name == "upgrade"}
			accept(s.app.ctx, r)
			s.Flush()
			s.RunPending()
			s.in("late")
			s.expectLog(fmt.Sprintf("raw %q; raw \"late\"", "early"+follower))
			s.expectOut(row.out)
		})
		t.Run(name+", codec removed", func(t *testing.T) {
			t.Parallel()
			s := serve(t, ServerOptions{}, nil)
			s.app.answer = func(ctx *channel.Context, r *http.Request) {
				accept(ctx, r)
				if err := ctx.Pipeline().RemoveHandler(s.codec); err != nil {
					t.Error(err)
				}
			}
			s.in(row.input + "early")
			s.expectLog(row.log + `; raw "early"`)
		})
	}
}

func TestServerRefusedTunnels(t *testing.T) {
	t.Parallel()
	t.Run("upgrade refused", func(t *testing.T) {
		t.Parallel()
		s := serve(t, ServerOptions{}, nil)
		s.in(upgradeRequest + follower)
		s.expectLog("1 GET /")
		s.WriteAndFlush(answer(&http.Request{ID: 1}, 200, "hi"))
		s.RunPending()
		s.expectLog("2 GET /next") // it was HTTP all along
		s.expectOut(hiAnswer)
	})
	t.Run("CONNECT refused", func(t *testing.T) {
		t.Parallel()
		s := serve(t, ServerOptions{}, func(ctx *channel.Context, r *http.Request) { ctx.Write(answer(r, 403, "")) })
		s.in(connectRequest + follower)
		s.expectLog("1 CONNECT a:80")
		s.expectOut("HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
	})
	t.Run("101 that nobody asked for", func(t *testing.T) {
		t.Parallel()
		s := serve(t, ServerOptions{}, nil)
		s.in(follower)
		r := http.NewResponse(101)
		r.Header.Add("Upgrade", "echo")
		if f := s.Write(r); !errors.Is(f.Err(), ErrSwitch) {
			t.Errorf("%v", f.Err())
		}
	})
}

func TestServerCodecRemovedInsideAHead(t *testing.T) {
	t.Parallel()
	s := serve(t, ServerOptions{}, hello)
	s.in(follower + "GET /half HTTP/1.1\r\nHo")
	s.expectLog("1 GET /next")
	if err := s.Pipeline().RemoveHandler(s.codec); err != nil {
		t.Fatal(err)
	}
	s.in("st: x")
	s.expectLog(`raw "GET /half HTTP/1.1\r\nHo"; raw "st: x"`)
}

func TestServerCodecRemovedReleasesTheReadThatItHolds(t *testing.T) {
	t.Parallel()
	s := serve(t, ServerOptions{MaxInFlight: 1}, nil)
	s.in(follower + follower) // the second one waits, and so does input
	if s.Reading() {
		t.Fatal("reads above the bound")
	}
	if err := s.Pipeline().RemoveHandler(s.codec); err != nil {
		t.Fatal(err)
	}
	s.RunPending()
	if !s.Reading() {
		t.Error("does not read")
	}
}
