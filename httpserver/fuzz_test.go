package httpserver_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec/http"
	"millrace.dev/httpserver"
)

// fuzzed answers in every way that depends on what the client sends.
func fuzzed(x *httpserver.Exchange) bool {
	switch r := x.Request(); {
	case len(r.Target)%5 == 0:
		x.Respond(200, "text/plain", r.Path())
	case len(r.Target)%5 == 1:
		x.Collect(64, func(x *httpserver.Exchange, body *buffer.Buffer, err error) {
			if err != nil {
				x.Respond(413, "text/plain", []byte(err.Error()))
				return
			}
			x.RespondBuffer(200, "text/plain", body)
		})
	case len(r.Target)%5 == 2:
		x.Start(http.NewResponse(200))
		x.OnBody(func(x *httpserver.Exchange, data *buffer.Buffer, end bool, err error) {
			if data != nil {
				x.Write(data)
			}
			switch {
			case end:
				x.End(nil)
			case err != nil:
				x.Abort()
			}
		})
	case len(r.Target)%5 == 3:
		x.PauseBody()
		x.Respond(200, "text/plain", nil)
	default:
		panic(r.Method)
	}
	return true
}

// Whatever a client sends, in whatever pieces: nothing panics but the handler, no buffer is
// leaked (TestMain looks), and the connection ends when the client's time is up.
func FuzzClient(f *testing.F) {
	f.Add([]byte(getLine+post5+chunked5), uint8(3))
	f.Add([]byte("POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 99\r\n\r\nabc"), uint8(200))
	f.Add([]byte("GET /abcd HTTP/1.1\r\nHost: x\r\n\r\nGET /ab HTTP/1.0\r\n\r\nrest"), uint8(1))
	f.Add([]byte("CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n\x00\x01"), uint8(7))
	f.Fuzz(func(t *testing.T, input []byte, piece uint8) {
		s := &httpserver.Server{Native: httpserver.NativeFunc(fuzzed), Logger: slog.New(slog.DiscardHandler)}
		config := channel.NewConfig()
		config.AllowHalfClosure = true
		config.Logger = s.Logger
		ch := embedded.NewConfig(config, installer{s})
		for len(input) > 0 {
			n := min(int(piece)+1, len(input))
			err := ch.WriteInbound(buffer.Copy(input[:n]))
			var panicked *channel.PanicError
			if errors.As(err, &panicked) {
				t.Fatalf("%v\n%s", err, panicked.Stack)
			}
			input = input[n:]
		}
		ch.Advance(time.Hour)
		if ch.IsOpen() {
			t.Error("the connection is still open")
		}
		ch.Finish()
		_ = s.Close()
	})
}
