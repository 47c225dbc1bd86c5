package http1

import (
	"bufio"
	"fmt"
	"io"
	nethttp "net/http"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
)

// later is a handler that answers in an order of its own: at once, or in reverse when it is
// told to. Each answer says which request it is for.
type later struct {
	ctx     *channel.Context
	x       uint32 // a random number's state
	methods []http.Method
	waiting []*http.Response
}

func (l *later) Added(ctx *channel.Context) { l.ctx = ctx }

func (l *later) OnRead(ctx *channel.Context, msg any) {
	switch m := msg.(type) {
	case *http.Request:
		l.methods = append(l.methods, m.Method)
		resp := answer(m, 200, fmt.Sprintf("answer %d", m.ID))
		if m.Method == http.MethodConnect { // no tunnels here
			resp.Status = 403
		}
		if l.x = l.x*1664525 + 1013904223; l.x>>31 == 0 {
			ctx.WriteAndFlush(resp)
		} else {
			l.waiting = append(l.waiting, resp)
		}
		m.Close()
	case *http.Content:
		m.Close()
	}
}

// answer writes what waits, the newest first, until nothing more comes of it.
func (l *later) answer(run func()) {
	for len(l.waiting) > 0 {
		n := len(l.waiting) - 1
		resp := l.waiting[n]
		l.waiting = l.waiting[:n]
		l.ctx.WriteAndFlush(resp)
		run()
	}
}

// FuzzServerCodec says that whatever comes in, in whatever pieces, and in whatever order it
// is answered, net/http's client reads answers in the order of the requests, one for each,
// possibly an error behind them, and nothing else.
func FuzzServerCodec(f *testing.F) {
	for i, row := range goodRequests() {
		f.Add([]byte(row.input+follower+row.input), uint16(i))
	}
	for i, row := range badRequests() {
		if len(row.input) < 4000 {
			f.Add([]byte(follower+row.input+follower), uint16(i))
		}
	}
	f.Fuzz(func(t *testing.T, input []byte, seed uint16) {
		s := serve(t, ServerOptions{MaxInFlight: 3}, nil)
		l := &later{x: uint32(seed)}
		if err := s.Pipeline().Replace(s.Pipeline().ContextOf(s.app).Name(), "later", l); err != nil {
			t.Fatal(err)
		}
		var sent strings.Builder
		for x := uint32(seed) + 1; len(input) > 0; {
			x = x*1664525 + 1013904223
			n := min(len(input), int(x>>24)%97+1)
			_ = s.WriteInbound(buffer.Copy(input[:n])) // an error is for the answers to say
			input = input[n:]
			if x>>22&3 == 0 {
				l.answer(s.RunPending)
			}
			sent.WriteString(s.out())
		}
		l.answer(s.RunPending)
		_ = s.CloseInbound()
		l.answer(s.RunPending)
		sent.WriteString(s.out())
		checkAnswers(t, sent.String(), l.methods)
		if s.IsOpen() {
			t.Fatal("open, though the client has ended and everything is answered")
		}
	})
}

func checkAnswers(t *testing.T, sent string, methods []http.Method) {
	in := bufio.NewReader(strings.NewReader(strings.ReplaceAll(sent, continueHead, "")))
	refused := false
	for i := 0; ; i++ {
		if _, err := in.Peek(1); err == io.EOF {
			if i < len(methods)-1 && !refused { // the last may have been cut short
				t.Fatalf("%d answers to %d requests in %q", i, len(methods), sent)
			}
			return
		}
		method := http.MethodGet
		if i < len(methods) {
			method = methods[i]
		}
		resp, err := nethttp.ReadResponse(in, &nethttp.Request{Method: string(method)})
		if err != nil || refused {
			t.Fatalf("answer %d: %v, refused before: %v, in %q", i, err, refused, sent)
		}
		data, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatalf("answer %d: %v in %q", i, err, sent)
		}
		want := fmt.Sprintf("answer %d", i+1)
		if refused = string(data) != want && method != http.MethodHead; refused && (resp.StatusCode < 400 || !resp.Close) {
			t.Fatalf("answer %d: %d %q in %q", i, resp.StatusCode, data, sent)
		}
	}
}
