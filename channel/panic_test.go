package channel_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
)

var errBoom = errors.New("boom")

// logged returns a configuration that logs into the returned buffer.
func logged() (*channel.Config, *bytes.Buffer) {
	var b bytes.Buffer
	c := channel.NewConfig()
	c.Logger = slog.New(slog.NewTextHandler(&b, nil))
	return c, &b
}

// A panic in an inbound event becomes the OnError of the handler that panicked.
func TestInboundPanicBecomesThatHandlersError(t *testing.T) {
	t.Parallel()
	j := &journal{}
	bad := &faulty{name: "bad", journal: j}
	ch := embedded.New(&spy{"a", j}, bad, &spy{"z", j})
	defer ch.Finish()
	j.take()
	if err := ch.WriteInbound("x", "y"); err != nil {
		t.Fatal(err)
	}
	// The batch goes on with the next message.
	want := "a.read(x) bad.error(channel: handler \"*channel_test.faulty\" panicked: boom) " +
		"a.read(y) bad.error(channel: handler \"*channel_test.faulty\" panicked: boom) a.complete z.complete z.Read a.Read"
	if got := j.take(); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	if !errors.Is(bad.last, errBoom) {
		t.Errorf("the panic's error is lost: %v", bad.last)
	}
	var p *channel.PanicError
	if !errors.As(bad.last, &p) || !strings.Contains(string(p.Stack), "faulty") {
		t.Error("the stack doesn't show where it panicked")
	}
	if !ch.IsOpen() {
		t.Error("the channel was closed though the handler has dealt with it")
	}
}

// faulty panics at each message.
type faulty struct {
	name string
	*journal
	last error
}

func (f *faulty) OnRead(*channel.Context, any) { panic(errBoom) }
func (f *faulty) OnError(_ *channel.Context, err error) {
	f.last = err
	f.add("%s.error(%v)", f.name, err)
}

// Whose panic it was is known however deep the event was, and on the way back.
func TestInboundPanicAttribution(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		handlers []any
		blamed   string
	}{
		{"before passing on", []any{&pass{}, reader(func(*channel.Context, any) { panic(errBoom) }), &pass{}}, "channel_test.reader"},
		{"after passing on", []any{&pass{}, reader(func(ctx *channel.Context, msg any) {
			ctx.FireRead(msg)
			panic(errBoom)
		}), &pass{}}, "channel_test.reader"},
		{"after a write", []any{&pass{}, reader(func(ctx *channel.Context, msg any) {
			ctx.Write(msg)
			panic(errBoom)
		})}, "channel_test.reader"},
		{"after an outbound panic", []any{writer(func(*channel.Context, any) channel.Future { panic("other") }),
			reader(func(ctx *channel.Context, msg any) {
				ctx.Write(msg)
				panic(errBoom)
			})}, "channel_test.reader"},
		{"after other events", []any{&pass{}, reader(func(ctx *channel.Context, msg any) {
			ctx.FireReadComplete()
			ctx.FireWritability(true)
			ctx.FireEvent(1)
			ctx.Flush()
			ctx.Read()
			_ = ctx.Pipeline().AddLast("", adder(func(*channel.Context) {}))
			panic(errBoom)
		}), &pass{}, eventer(func(*channel.Context, any) {})}, "channel_test.reader"},
		{"as a removed handler", []any{&pass{}, reader(func(ctx *channel.Context, msg any) {
			_ = ctx.Pipeline().Remove(ctx.Name())
			panic(errBoom)
		}), &pass{}}, "channel_test.reader"},
		{"in a func of Contain", []any{reader(func(ctx *channel.Context, msg any) {
			ctx.Contain(func() { panic(errBoom) })
		})}, "channel_test.reader"},
		{"behind Deliver", []any{&pass{}, reader(func(ctx *channel.Context, msg any) { ctx.Deliver(msg) }),
			completer(func(*channel.Context) {}), &faultyRead{}}, "*channel_test.faultyRead"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c, _ := logged()
			var got error
			c.UnhandledError = func(_ *channel.Channel, err error) { got = err }
			c.UnhandledMessage = func(*channel.Channel, any) {}
			ch := embedded.NewConfig(c, row.handlers...)
			defer ch.Finish()
			_ = ch.WriteInbound("x")
			var p *channel.PanicError
			if !errors.As(got, &p) || p.Handler != row.blamed || p.Value != errBoom {
				t.Errorf("blamed %+v, want %s", got, row.blamed)
			}
		})
	}
}

type faultyRead struct{}

func (*faultyRead) OnRead(*channel.Context, any) { panic(errBoom) }

// The error of a handler without OnError goes to the handlers behind it; not to those
// before, which have done their part.
func TestInboundPanicGoesOnFromWhereItHappened(t *testing.T) {
	t.Parallel()
	var caught []string
	note := func(name string) catcher {
		return func(ctx *channel.Context, err error) { caught = append(caught, name) }
	}
	for _, leave := range []bool{false, true} {
		caught = nil
		bad := reader(func(ctx *channel.Context, msg any) {
			if leave {
				_ = ctx.Pipeline().Remove(ctx.Name())
			}
			panic(errBoom)
		})
		ch := embedded.New(note("before"), bad, note("behind"), note("last"))
		_ = ch.WriteInbound("x")
		if got := strings.Join(caught, " "); got != "behind" {
			t.Errorf("leave=%v: caught by %q", leave, got)
		}
		ch.Finish()
	}
}

func TestEveryInboundEventIsContained(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"registered", "active", "read", "complete", "event", "writable",
		"shutdown", "inactive", "unregistered", "added", "removed"} {
		t.Run(event, func(t *testing.T) {
			t.Parallel()
			c, _ := logged()
			c.AllowHalfClosure = true
			c.WriteBufferHigh = 1
			var got []error
			c.UnhandledError = func(_ *channel.Channel, err error) { got = append(got, err) }
			ch := embedded.NewConfig(c, &exploder{event})
			_ = ch.WriteInbound("x")
			ch.FireEvent("e")
			ch.SetTransportWritable(false)
			ch.WriteAndFlush(buffer.CopyString("1234"))
			ch.RunPending()
			_ = ch.CloseInbound()
			ch.Finish()
			if len(got) == 0 || !errors.Is(got[0], errBoom) {
				t.Errorf("the tail got %v", got)
			}
		})
	}
}

// exploder panics at one kind of event.
type exploder struct{ event string }

func (e *exploder) at(event string) {
	if e.event == event {
		panic(errBoom)
	}
}

func (e *exploder) OnRegistered(*channel.Context)                  { e.at("registered") }
func (e *exploder) OnActive(*channel.Context)                      { e.at("active") }
func (e *exploder) OnRead(*channel.Context, any)                   { e.at("read") }
func (e *exploder) OnReadComplete(*channel.Context)                { e.at("complete") }
func (e *exploder) OnEvent(*channel.Context, any)                  { e.at("event") }
func (e *exploder) OnWritability(*channel.Context, bool)           { e.at("writable") }
func (e *exploder) OnShutdown(*channel.Context, channel.Direction) { e.at("shutdown") }
func (e *exploder) OnInactive(*channel.Context)                    { e.at("inactive") }
func (e *exploder) OnUnregistered(*channel.Context)                { e.at("unregistered") }
func (e *exploder) Added(*channel.Context)                         { e.at("added") }
func (e *exploder) Removed(*channel.Context)                       { e.at("removed") }

// A second panic, in OnError, closes the channel.
func TestPanicInOnErrorClosesTheChannel(t *testing.T) {
	t.Parallel()
	c, log := logged()
	ch := embedded.NewConfig(c, &faultyRead{}, catcher(func(*channel.Context, error) { panic("again") }))
	defer ch.Finish()
	_ = ch.WriteInbound("x")
	if ch.IsOpen() {
		t.Error("the channel is still open")
	}
	if !strings.Contains(log.String(), "handler=channel_test.catcher") || !strings.Contains(log.String(), "panic=again") {
		t.Errorf("the log names the wrong handler: %.300s", log)
	}
}

// An outbound panic is logged, its message disposed of, its future failed, and the channel
// closed; the caller never sees it.
func TestOutboundPanic(t *testing.T) {
	t.Parallel()
	for _, from := range []string{"channel", "handler", "goroutine"} {
		t.Run(from, func(t *testing.T) {
			t.Parallel()
			c, log := logged()
			bad := writer(func(*channel.Context, any) channel.Future { panic(errBoom) })
			var f channel.Future
			went := false
			ch := embedded.NewConfig(c, bad, &pass{}, reader(func(ctx *channel.Context, msg any) {
				f = ctx.Write(msg)
				went = true
			}))
			defer ch.Finish()
			msg := &tracked{}
			switch from {
			case "channel":
				f, went = ch.Write(msg), true
			case "handler":
				_ = ch.WriteInbound(msg)
			case "goroutine":
				done := make(chan channel.Future)
				go func() { done <- ch.Channel.Write(msg) }()
				f, went = <-done, true
			}
			ch.RunPending()
			if !went || !errors.Is(f.Err(), errBoom) {
				t.Errorf("future: %v", f.Err())
			}
			if msg.closes != 1 {
				t.Errorf("the message was closed %d times", msg.closes)
			}
			if ch.IsOpen() || !strings.Contains(log.String(), "outbound handler panicked") {
				t.Errorf("open %v, log %.100q", ch.IsOpen(), log)
			}
		})
	}
}

// A message that had reached the queue is the queue's, and is disposed of once.
func TestOutboundPanicAfterTheMessageWasPassedOn(t *testing.T) {
	t.Parallel()
	c, _ := logged()
	bad := writer(func(ctx *channel.Context, msg any) channel.Future {
		ctx.Write(msg)
		panic(errBoom)
	})
	ch := embedded.NewConfig(c, bad)
	defer ch.Finish()
	msg := &tracked{}
	if err := ch.Write(msg).Err(); !errors.Is(err, errBoom) {
		t.Error(err)
	}
	if msg.closes != 1 {
		t.Errorf("the message was closed %d times", msg.closes)
	}
}

// With small buffers the queue has copied the message and closed it, and its memory may be
// another's by the time of the panic.
func TestOutboundPanicAfterTheBufferWasMerged(t *testing.T) {
	defer buffer.SetLeakLevel(buffer.CurrentLeakLevel())
	buffer.SetLeakLevel(buffer.Disabled) // closed structs are only used again below Advanced
	cache := buffer.NewPooled(buffer.PooledOptions{}).NewCache()
	cache.Bind()
	defer cache.Unbind()
	c, _ := logged()
	var other *buffer.Buffer
	bad := writer(func(ctx *channel.Context, msg any) channel.Future {
		ctx.Write(msg)
		other = cache.Allocate(64)
		other.WriteUint8(1)
		panic(errBoom)
	})
	r := newRig(t, c, bad)
	r.ch.Pipeline().Context("channel_test.writer").Write(cache.Allocate(256))
	msg := cache.Allocate(64)
	msg.WriteUint8(7)
	_ = r.ch.Write(msg)
	if msg != other {
		t.Fatal("the closed buffer was not used again: the test tests nothing")
	}
	if other.IsClosed() || other.ReadUint8() != 1 {
		t.Error("another's buffer was closed")
	}
	other.Close()
}

// What panics inside an outbound run is an outbound panic wherever it started; an inbound
// event that comes within one, such as Added, stays inbound.
func TestPanicNesting(t *testing.T) {
	t.Parallel()
	t.Run("Added within Write", func(t *testing.T) {
		t.Parallel()
		at := &tail{}
		ch := newRig(t, at.config(), writer(func(ctx *channel.Context, msg any) channel.Future {
			_ = ctx.Pipeline().AddLast("", adder(func(*channel.Context) { panic(errBoom) }))
			return ctx.Write(msg)
		})).ch
		if err := ch.Write(buffer.CopyString("x")).Err(); err != nil || !ch.IsOpen() {
			t.Errorf("open %v, %v", ch.IsOpen(), err)
		}
		if len(at.errors) != 1 || !errors.Is(at.errors[0], errBoom) {
			t.Errorf("the tail got %v", at.errors)
		}
	})
	t.Run("Write within an event within Write", func(t *testing.T) {
		t.Parallel()
		c, _ := logged()
		depth := 0
		var inner channel.Future
		ch := newRig(t, c,
			writer(func(ctx *channel.Context, msg any) channel.Future {
				if depth++; depth == 2 {
					panic(errBoom)
				}
				ctx.Channel().FireEvent("again")
				return ctx.Write(msg)
			}),
			eventer(func(ctx *channel.Context, event any) { inner = ctx.Write(buffer.CopyString("inner")) }),
		).ch
		outer := ch.Write(buffer.CopyString("outer"))
		if !errors.Is(inner.Err(), errBoom) || !errors.Is(outer.Err(), channel.ErrClosed) {
			t.Errorf("inner %v, outer %v", inner.Err(), outer.Err())
		}
	})
	t.Run("Flush within Write", func(t *testing.T) {
		t.Parallel()
		c, _ := logged()
		ch := newRig(t, c,
			flusher(func(*channel.Context) { panic(errBoom) }),
			writer(func(ctx *channel.Context, msg any) channel.Future {
				ctx.Flush()
				return ctx.Write(msg)
			}),
		).ch
		msg := buffer.CopyString("x")
		if err := ch.Write(msg).Err(); !errors.Is(err, errBoom) || ch.IsOpen() || !msg.IsClosed() {
			t.Errorf("open %v, %v", ch.IsOpen(), err)
		}
	})
}

// Contain and Deliver are entries of their own: their callers go on.
func TestContainAndDeliver(t *testing.T) {
	t.Parallel()
	at := &tail{}
	steps := 0
	r := newRig(t, at.config(),
		reader(func(ctx *channel.Context, msg any) {
			ctx.Contain(func() { ctx.FireEvent(msg) })
			steps++
			ctx.Deliver(msg)
			steps++
			ctx.Deliver("fine")
			ctx.Contain(func() { panic("own") })
			steps++
		}),
		eventer(func(*channel.Context, any) { panic("event") }),
		reader(func(ctx *channel.Context, msg any) {
			if msg == "x" {
				panic("read")
			}
			ctx.FireRead(msg)
		}))
	r.batch("x")
	var values []any
	for _, err := range at.errors {
		var p *channel.PanicError
		if errors.As(err, &p) {
			values = append(values, p.Value)
		}
	}
	if steps != 3 || len(values) != 3 || values[0] != "event" || values[1] != "read" || values[2] != "own" {
		t.Errorf("%d steps, panics %v", steps, values)
	}
	if len(at.msgs) != 1 || at.msgs[0] != "fine" {
		t.Errorf("messages %v", at.msgs)
	}
}

// A transport that panics when it is closed does not keep its channel from ending.
func TestPanicOfTheTransportsClose(t *testing.T) {
	t.Parallel()
	c, _ := logged()
	j := &journal{}
	r := newRig(t, c, &ending{j})
	r.room = 0
	f := r.ch.WriteAndFlush(buffer.CopyString("x"))
	r.loop.RunPending()
	r.onClose = func() { panic(errBoom) }
	r.ch.Close()
	r.loop.RunPending()
	if !f.IsFailed() || !r.ch.CloseFuture().IsDone() || j.take() != "inactive unregistered removed" {
		t.Errorf("write: %v, closed: %v", f.Err(), r.ch.CloseFuture().IsDone())
	}
}

// What takes the messages that nobody handles may panic as a handler may: the transport goes on.
func TestUnhandledMessagePanics(t *testing.T) {
	t.Parallel()
	for _, handlers := range [][]any{nil, {&pass{}}} {
		c, log := logged()
		c.UnhandledMessage = func(_ *channel.Channel, msg any) {
			channel.Dispose(msg)
			panic(errBoom)
		}
		r := newRig(t, c, handlers...)
		msg := &tracked{}
		r.batch(msg)
		if r.ch.IsOpen() || msg.closes != 1 || !strings.Contains(log.String(), "boom") {
			t.Errorf("%d handlers: open %v, message closed %d times, log %q", len(handlers), r.ch.IsOpen(), msg.closes, log)
		}
	}
}
