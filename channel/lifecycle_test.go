package channel_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
)

// Close from inside any callback: the events that end a channel come once, after the
// callback has returned, and nothing comes after them.
func TestCloseFromEveryCallback(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"registered", "active", "read", "complete", "event", "writable",
		"shutdown", "error", "Write", "Flush", "Read", "SendEvent", "added", "removed", "inactive", "unregistered", "listener"} {
		t.Run(event, func(t *testing.T) {
			t.Parallel()
			c, log := logged()
			c.AllowHalfClosure = true
			c.WriteBufferHigh = 1
			h := &closing{at: event}
			j := &journal{}
			r := newUnregistered(t, c, &ending{j}, h)
			r.active = true
			r.ch.Register()
			r.loop.RunPending()
			if r.ch.IsOpen() {
				r.batch(buffer.CopyString("in"))
				r.ch.FireEvent(1)
				r.ch.SendEvent(2)
				r.ch.WriteAndFlush(buffer.CopyString("out")).OnComplete(func(channel.Future) { h.close("listener", h.ctx) })
				r.loop.RunPending()
			}
			if r.ch.IsOpen() {
				r.driver.Error(errBoom)
				r.driver.InputClosed()
			}
			if event == "removed" {
				_ = r.ch.Pipeline().RemoveHandler(h)
			}
			r.ch.Close()
			r.loop.RunPending()
			if !h.done && event != "Read" {
				t.Error("the callback was never made")
			}
			if r.ch.IsOpen() || !r.closed {
				t.Errorf("open %v, transport closed %v", r.ch.IsOpen(), r.closed)
			}
			want := "inactive unregistered removed"
			if event == "registered" || event == "added" {
				want = "unregistered removed" // it was never active
			}
			if event == "added" {
				want = "removed" // nor registered
			}
			if got := j.take(); got != want {
				t.Errorf("end events %q, want %q", got, want)
			}
			if strings.Contains(log.String(), "panic") {
				t.Errorf("log: %s", log)
			}
		})
	}
}

// ending notes the events of a channel's end.
type ending struct{ *journal }

func (e *ending) OnInactive(ctx *channel.Context) {
	e.add("inactive")
	ctx.FireInactive()
}
func (e *ending) OnUnregistered(ctx *channel.Context) {
	e.add("unregistered")
	ctx.FireUnregistered()
}
func (e *ending) Removed(*channel.Context) { e.add("removed") }

// closing closes its channel at one kind of event.
type closing struct {
	at   string
	done bool
	ctx  *channel.Context
}

func (c *closing) close(event string, ctx *channel.Context) {
	if c.at == event && !c.done {
		c.done = true
		ctx.Channel().Close()
	}
}

func (c *closing) OnRegistered(ctx *channel.Context) {
	c.close("registered", ctx)
	ctx.FireRegistered()
}
func (c *closing) OnActive(ctx *channel.Context) { c.close("active", ctx); ctx.FireActive() }
func (c *closing) OnRead(ctx *channel.Context, msg any) {
	c.close("read", ctx)
	channel.Dispose(msg)
}
func (c *closing) OnReadComplete(ctx *channel.Context) {
	c.close("complete", ctx)
	ctx.FireReadComplete()
}
func (c *closing) OnEvent(ctx *channel.Context, event any) { c.close("event", ctx) }
func (c *closing) OnWritability(ctx *channel.Context, writable bool) {
	c.close("writable", ctx)
	ctx.FireWritability(writable)
}
func (c *closing) OnShutdown(ctx *channel.Context, d channel.Direction) {
	c.close("shutdown", ctx)
	ctx.FireShutdown(d)
}
func (c *closing) OnInactive(ctx *channel.Context) { c.close("inactive", ctx); ctx.FireInactive() }
func (c *closing) OnUnregistered(ctx *channel.Context) {
	c.close("unregistered", ctx)
	ctx.FireUnregistered()
}
func (c *closing) OnError(ctx *channel.Context, err error) { c.close("error", ctx) }
func (c *closing) Read(ctx *channel.Context)               { c.close("Read", ctx); ctx.Read() }
func (c *closing) Write(ctx *channel.Context, msg any) channel.Future {
	c.close("Write", ctx)
	return ctx.Write(msg)
}
func (c *closing) Flush(ctx *channel.Context) { c.close("Flush", ctx); ctx.Flush() }
func (c *closing) SendEvent(ctx *channel.Context, event any) channel.Future {
	c.close("SendEvent", ctx)
	return ctx.SendEvent(event)
}
func (c *closing) Added(ctx *channel.Context) {
	c.ctx = ctx
	c.close("added", ctx)
}
func (c *closing) Removed(ctx *channel.Context) { c.close("removed", ctx) }

func TestRegisterAndDeregister(t *testing.T) {
	t.Parallel()
	j := &journal{}
	r := newUnregistered(t, channel.NewConfig(), &ending{j})
	if err := r.ch.Bind(nil).Err(); err != channel.ErrNotRegistered {
		t.Error(err)
	}
	if err := r.ch.Connect(nil, nil).Err(); err != channel.ErrNotRegistered {
		t.Error(err)
	}
	r.active = true
	if r.ch.IsRegistered() || r.ch.Register().Err() != nil || !r.ch.IsRegistered() {
		t.Error("not registered")
	}
	if err := r.ch.Register().Err(); err != channel.ErrRegistered {
		t.Error(err)
	}
	if err := r.ch.Deregister().Err(); err != nil || r.registered != 0 || r.reading {
		t.Errorf("%v, registered %d times, reading %v", err, r.registered, r.reading)
	}
	f := r.ch.WriteAndFlush(buffer.CopyString("later"))
	r.loop.RunPending()
	if len(r.sent) != 0 || !r.ch.IsOpen() {
		t.Errorf("sent %q", r.sent)
	}
	if err := r.ch.Register().Err(); err != nil || !r.reading {
		t.Errorf("%v, reading %v", err, r.reading)
	}
	r.loop.RunPending()
	if string(r.sent) != "later" || !f.IsSuccess() {
		t.Errorf("sent %q", r.sent)
	}
	r.ch.Close()
	r.loop.RunPending()
	if got := j.take(); got != "unregistered inactive unregistered removed" {
		t.Errorf("events %q", got)
	}
	if err := r.ch.Register().Err(); err != channel.ErrClosed {
		t.Error(err)
	}
}

// refusing is a transport that can't be registered.
type refusing struct{ *rig }

func (refusing) Register(channel.Driver) error { return errBoom }

func TestRegisterThatFails(t *testing.T) {
	t.Parallel()
	r := newUnregistered(t, channel.NewConfig())
	j := &journal{}
	ch := channel.New(r.loop.Loop(), refusing{r}, nil, r.ch)
	_ = ch.Pipeline().AddLast("", &ending{j})
	if err := ch.Register().Err(); !errors.Is(err, errBoom) {
		t.Error(err)
	}
	if got := j.take(); ch.IsOpen() || got != "removed" || ch.Parent() != r.ch {
		t.Errorf("open %v, events %q", ch.IsOpen(), got)
	}
}

// dialing is a transport whose connect the test ends.
type dialing struct {
	*rig
	err error
}

func (d *dialing) Connect(_, _ net.Addr) error { return d.err }

func TestConnect(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		end  func(d *dialing, ch *channel.Channel, f channel.Future)
		err  error
		want string
	}{
		{"succeeds", func(d *dialing, ch *channel.Channel, f channel.Future) {
			d.active = true
			d.driver.ConnectDone(nil)
		}, nil, "active"},
		{"is refused", func(d *dialing, _ *channel.Channel, _ channel.Future) { d.driver.ConnectDone(errBoom) },
			errBoom, "error unregistered removed"},
		{"takes too long", func(d *dialing, _ *channel.Channel, _ channel.Future) { d.loop.Advance(time.Second) },
			channel.ErrConnectTimeout, "error unregistered removed"},
		{"is cancelled", func(_ *dialing, _ *channel.Channel, f channel.Future) { f.Cancel() },
			context.Canceled, "error unregistered removed"},
		{"is closed", func(_ *dialing, ch *channel.Channel, _ channel.Future) { ch.Close() },
			channel.ErrClosed, "unregistered removed"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := channel.NewConfig()
			c.ConnectTimeout = time.Second
			d := &dialing{rig: newUnregistered(t, c)}
			j := &journal{}
			ch := channel.New(d.loop.Loop(), d, c, nil)
			_ = ch.Pipeline().AddLast("", &starting{ending{j}})
			ch.Register()
			f := ch.Connect(nil, nil)
			if err := ch.Connect(nil, nil).Err(); err != channel.ErrConnectPending {
				t.Error(err)
			}
			d.loop.Advance(time.Second - time.Millisecond)
			if f.IsDone() {
				t.Fatalf("done before anything has happened: %v", f.Err())
			}
			row.end(d, ch, f)
			d.loop.RunPending()
			if !f.IsDone() || !errors.Is(f.Err(), row.err) {
				t.Errorf("future: %v, want %v", f.Err(), row.err)
			}
			if got := j.take(); strings.ReplaceAll(got, "error ", "") != strings.ReplaceAll(row.want, "error ", "") {
				t.Errorf("events %q, want %q", got, row.want)
			}
			if ch.IsOpen() != (row.err == nil) || ch.IsActive() != (row.err == nil) {
				t.Errorf("open %v, active %v", ch.IsOpen(), ch.IsActive())
			}
			if n := d.loop.Advance(time.Hour); n != 0 {
				t.Errorf("%d timers are left", n)
			}
			ch.Close()
		})
	}
}

type starting struct{ ending }

func (s *starting) OnActive(*channel.Context) { s.add("active") }

// An I/O error reaches the handlers, then the channel closes, and its writes fail with it.
func TestFail(t *testing.T) {
	t.Parallel()
	at := &tail{}
	r := newRig(t, at.config())
	r.driver.Fail(errBoom)
	r.driver.Fail(errBoom)
	if r.ch.IsOpen() || len(at.errors) != 1 || at.errors[0] != errBoom {
		t.Errorf("open %v, errors %v", r.ch.IsOpen(), at.errors)
	}
}

// What nobody handles is logged, and an error closes the channel.
func TestUnhandled(t *testing.T) {
	t.Parallel()
	c, log := logged()
	r := newRig(t, c, &pass{})
	msg := &tracked{}
	r.batch(msg)
	if msg.closes != 1 || !strings.Contains(log.String(), "unhandled") || !strings.Contains(log.String(), "channel_test.pass") {
		t.Errorf("closed %d times, log %q", msg.closes, log)
	}
	event := &tracked{}
	r.ch.FireEvent(event)
	if event.closes != 1 {
		t.Errorf("the event was closed %d times", event.closes)
	}
	sent := &tracked{}
	if err := r.ch.SendEvent(sent).Err(); err != channel.ErrUnsupportedEvent || sent.closes != 1 {
		t.Errorf("%v, closed %d times", err, sent.closes)
	}
	r.driver.Error(errBoom)
	if r.ch.IsOpen() || !strings.Contains(log.String(), "boom") {
		t.Errorf("open %v, log %q", r.ch.IsOpen(), log)
	}
}

// lastWord writes something about an error, and passes it on.
type lastWord struct{}

func (lastWord) OnError(ctx *channel.Context, err error) {
	ctx.WriteAndFlush(buffer.CopyString("sorry"))
	ctx.FireError(err)
}

// What a handler has said about an error is sent before the channel closes for it.
func TestLastWordBeforeAnUnhandledError(t *testing.T) {
	t.Parallel()
	c, _ := logged()
	r := newRig(t, c, lastWord{})
	r.driver.Error(errBoom)
	if got := string(r.sent); got != "sorry" || r.ch.IsOpen() {
		t.Errorf("open %t, sent %q", r.ch.IsOpen(), got)
	}
}

// unreachable is what a keep-alive ends with.
var unreachable = func() error {
	if runtime.GOOS == "windows" {
		return syscall.Errno(10060)
	}
	return syscall.ETIMEDOUT
}()

// A peer that went away, in whatever way, is nothing to be warned of.
func TestLostConnectionsAreOrdinary(t *testing.T) {
	t.Parallel()
	for _, err := range []error{syscall.ECONNRESET, syscall.EPIPE, unreachable, io.ErrUnexpectedEOF, net.ErrClosed} {
		c, log := logged()
		r := newRig(t, c)
		r.driver.Fail(&net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", err)})
		if r.ch.IsOpen() || log.Len() != 0 {
			t.Errorf("%v: open %v, log %q", err, r.ch.IsOpen(), log)
		}
	}
}

func TestEmbeddedFinishDisposes(t *testing.T) {
	t.Parallel()
	ch := embedded.NewConfig(manualRead())
	var msgs []*tracked
	add := func() *tracked {
		msgs = append(msgs, &tracked{})
		return msgs[len(msgs)-1]
	}
	ch.Read()
	_ = ch.WriteInbound(add(), add())
	_ = ch.WriteInbound(add()) // nobody asks for it
	_ = ch.WriteOutbound(add(), add())
	if n := ch.Finish(); n != 5 {
		t.Errorf("%d messages left, want 5", n)
	}
	for i, m := range msgs {
		if m.closes != 1 {
			t.Errorf("message %d was closed %d times", i, m.closes)
		}
	}
}
