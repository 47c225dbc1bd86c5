package logging_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/handler/logging"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

// logger logs into a buffer, without times and channels.
func logger(level slog.Level) (*slog.Logger, *bytes.Buffer) {
	var b bytes.Buffer
	return slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == "channel" {
				return slog.Attr{}
			}
			return a
		},
	})), &b
}

func lines(b *bytes.Buffer) string {
	s := strings.ReplaceAll(strings.TrimSpace(b.String()), "\n", "; ")
	b.Reset()
	return s
}

func TestEveryEventIsLogged(t *testing.T) {
	t.Parallel()
	l, b := logger(slog.LevelDebug)
	config := channel.NewConfig()
	config.AllowHalfClosure = true
	config.WriteBufferLow, config.WriteBufferHigh = 1, 3
	ch := embedded.NewConfig(config, logging.New(logging.Options{Logger: l}))
	step := func(what, want string) {
		t.Helper()
		ch.RunPending()
		if got := lines(b); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", what, got, want)
		}
	}
	step("start", `msg="handler added"; msg=register; msg=registered; msg=active; msg=read`)
	_ = ch.WriteInbound(buffer.CopyString("hello"), 42)
	step("input", `msg=received bytes=5; msg=received type=int; msg="read complete"; msg=read`)
	ch.SetTransportWritable(false)
	_ = ch.WriteOutbound(buffer.CopyString("hello"))
	step("output", `msg=write bytes=5; msg=flush; msg=writability writable=false pending=5`)
	ch.SetTransportWritable(true)
	step("writable", `msg=writability writable=true pending=0`)
	ch.FireEvent("in")
	ch.SendEvent("out")
	step("events", `msg=event type=string event=in; msg="send event" type=string event=out`)
	addr := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}
	ch.Bind(addr)
	ch.Connect(addr, nil)
	ch.Deregister()
	ch.Register()
	step("operations", `msg=bind local=127.0.0.1:80; msg=connect remote=127.0.0.1:80; msg=deregister; msg=unregistered; `+
		`msg=register; msg=registered; msg=read`)
	_ = ch.CloseInbound()
	step("half closed", `msg="direction ended" direction=inbound`)
	ch.Shutdown(channel.Outbound)
	step("closed", `msg=shutdown direction=outbound; msg="direction ended" direction=outbound; `+
		`msg=inactive; msg=unregistered; msg="handler removed"`)
	ch.Finish()

	ch = embedded.New(logging.New(logging.Options{Logger: l}))
	b.Reset()
	ch.FailInbound(errors.New("boom"))
	step("error", `msg=error error=boom; msg=inactive; msg=unregistered; msg="handler removed"`)
	ch.Finish()

	ch = embedded.New(logging.New(logging.Options{Logger: l}))
	b.Reset()
	ch.Disconnect()
	step("disconnect", `msg=disconnect; msg=inactive; msg=unregistered; msg="handler removed"`)
	ch.Finish()
	ch = embedded.New(logging.New(logging.Options{Logger: l}))
	b.Reset()
	ch.Close()
	step("close", `msg=close; msg=inactive; msg=unregistered; msg="handler removed"`)
	ch.Finish()
}

// secret chooses what stands in the log.
type secret struct{}

func (secret) LogValue() slog.Value { return slog.StringValue("***") }

func TestMessages(t *testing.T) {
	t.Parallel()
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	composite := buffer.Compose(buffer.CopyString("he"), buffer.CopyString("l"), buffer.CopyString("lo\r\n\x00\xff"))
	for _, row := range []struct {
		msg  any
		dump int
		want string
	}{
		{buffer.CopyString("hello"), 0, `bytes=5`},
		{buffer.New(0), 8, `bytes=0`},
		{buffer.CopyString("hi"), 8, `bytes=2 dump="68 69 |hi|"`},
		{composite, 9, `bytes=9 dump="68 65 6c 6c 6f 0d 0a 00 ff |hello....|"`},
		{buffer.Compose(buffer.CopyString("he"), buffer.CopyString("llo")), 3, `bytes=5 dump="68 65 6c … |hel|"`},
		{&channel.FileRegion{File: file, Count: 7}, 8, `type="file region" bytes=7`},
		{secret{}, 8, `type=logging_test.secret message=***`},
		{struct{}{}, 8, `type="struct {}"`},
	} {
		l, b := logger(slog.LevelDebug)
		ch := embedded.New(logging.New(logging.Options{Logger: l, Dump: row.dump}))
		b.Reset()
		_ = ch.WriteInbound(row.msg)
		if got, _, _ := strings.Cut(lines(b), ";"); got != "msg=received "+row.want {
			t.Errorf("got %s, want %s", got, row.want)
		}
		if msg, ok := row.msg.(*buffer.Buffer); ok && row.dump > 0 && msg.Len() > 0 && msg.ReaderIndex() != 0 {
			t.Error("the message was changed")
		}
		ch.Finish()
	}
}

func TestLevels(t *testing.T) {
	t.Parallel()
	l, b := logger(slog.LevelInfo)
	ch := embedded.New(logging.New(logging.Options{Logger: l}), logging.New(logging.Options{Logger: l, Level: slog.LevelWarn}))
	if got := strings.Count(b.String(), "msg=active"); got != 1 {
		t.Errorf("logged %d times, want once", got)
	}
	ch.Finish()
}

// Without a logger of its own it uses the channel's.
func TestChannelLogger(t *testing.T) {
	t.Parallel()
	config := channel.NewConfig()
	l, b := logger(slog.LevelDebug)
	config.Logger = l
	ch := embedded.NewConfig(config, logging.New(logging.Options{}))
	defer ch.Finish()
	if !strings.Contains(b.String(), "msg=active") {
		t.Errorf("log %q", b)
	}
}

func TestSwitchedOffItAllocatesNothing(t *testing.T) {
	l, _ := logger(slog.LevelError)
	h := logging.New(logging.Options{Logger: l, Dump: 16})
	ch := embedded.New(h, &discard{})
	defer ch.Finish()
	ctx := ch.Pipeline().ContextOf(h)
	msg := &struct{ int }{}
	if n := testing.AllocsPerRun(100, func() {
		h.OnRead(ctx, msg)
		h.OnReadComplete(ctx)
		h.Read(ctx)
		h.Flush(ctx)
		h.OnWritability(ctx, true)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

type discard struct{}

func (*discard) OnRead(_ *channel.Context, msg any) { channel.Dispose(msg) }

func Example() {
	l := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "channel" {
				return slog.Attr{}
			}
			return a
		},
	}))
	ch := embedded.New()
	defer ch.Finish()
	_ = ch.Pipeline().AddLast("log", logging.New(logging.Options{Logger: l, Dump: 8}))
	_ = ch.WriteInbound(buffer.CopyString("hello, world"))
	_ = ch.Pipeline().Remove("log")
	// Output:
	// level=DEBUG msg="handler added"
	// level=DEBUG msg=received bytes=12 dump="68 65 6c 6c 6f 2c 20 77 … |hello, w|"
	// level=DEBUG msg="read complete"
	// level=DEBUG msg=read
	// level=DEBUG msg="handler removed"
}
