package channel_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/future"
	"millrace.dev/loop"
)

// elsewhere calls f on a goroutine that isn't the loop's.
func elsewhere[T any](f func() T) T {
	done := make(chan T)
	go func() { done <- f() }()
	return <-done
}

// What is cancelled while it is queued is not carried out.
func TestCancelOfWhatIsQueued(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(ch *channel.Channel, msg *tracked) channel.Future{
		"Write":         func(ch *channel.Channel, msg *tracked) channel.Future { return ch.Write(msg) },
		"WriteAndFlush": func(ch *channel.Channel, msg *tracked) channel.Future { return ch.WriteAndFlush(msg) },
		"SendEvent":     func(ch *channel.Channel, msg *tracked) channel.Future { return ch.SendEvent(msg) },
		"Close":         func(ch *channel.Channel, msg *tracked) channel.Future { msg.closes++; return ch.Close() },
		"Shutdown": func(ch *channel.Channel, msg *tracked) channel.Future {
			msg.closes++
			return ch.Shutdown(channel.Outbound)
		},
		"Deregister": func(ch *channel.Channel, msg *tracked) channel.Future { msg.closes++; return ch.Deregister() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ch := embedded.New()
			defer ch.Finish()
			msg := &tracked{}
			f := elsewhere(func() channel.Future { return call(ch.Channel, msg) })
			if !f.Cancel() || !f.IsCancelled() {
				t.Errorf("not cancelled: %v", f.Err())
			}
			ch.Flush()
			ch.RunPending()
			if msg.closes != 1 || ch.ReadOutbound() != nil {
				t.Errorf("the message was closed %d times", msg.closes)
			}
			if !ch.IsActive() || !ch.IsRegistered() || ch.OutputClosed() {
				t.Error("it was carried out")
			}
		})
	}
}

// Once an operation is under way its future says what becomes of it, and not that it was
// cancelled.
func TestCancelOfWhatHasBegun(t *testing.T) {
	t.Parallel()
	ch := embedded.New()
	defer ch.Finish()
	ch.SetTransportWritable(false)
	f := elsewhere(func() channel.Future { return ch.Channel.WriteAndFlush("sent") })
	s := elsewhere(func() channel.Future { return ch.Shutdown(channel.Outbound) })
	ch.RunPending()
	for _, f := range []channel.Future{f, s} {
		if f.IsDone() || f.Cancel() {
			t.Errorf("taken back: %v", f.Err())
		}
	}
	ch.SetTransportWritable(true)
	if !f.IsSuccess() || !s.IsSuccess() || ch.ReadOutbound() != "sent" || !ch.OutboundShutdown() {
		t.Errorf("write: %v, shutdown: %v", f.Err(), s.Err())
	}
}

// The future of a connect can be cancelled at any time, and takes the channel with it.
func TestCancelOfAConnectFromElsewhere(t *testing.T) {
	t.Parallel()
	for _, begun := range []bool{false, true} {
		r := newUnregistered(t, channel.NewConfig())
		r.ch.Register()
		f := elsewhere(func() channel.Future { return r.ch.Connect(nil, nil) })
		if begun {
			r.loop.RunPending()
		}
		if !f.Cancel() {
			t.Errorf("begun %v: not cancelled: %v", begun, f.Err())
		}
		r.loop.RunPending()
		if !f.IsCancelled() || r.ch.IsOpen() {
			t.Errorf("begun %v: %v, open %v", begun, f.Err(), r.ch.IsOpen())
		}
	}
}

// Writing a buffer that is closed ends the channel, as a handler's mistake does, and doesn't
// panic into the caller's face or leave its future without an end.
func TestWriteOfAClosedBuffer(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(ch *channel.Channel, b *buffer.Buffer) channel.Future{
		"on the loop": func(ch *channel.Channel, b *buffer.Buffer) channel.Future { return ch.Write(b) },
		"elsewhere": func(ch *channel.Channel, b *buffer.Buffer) channel.Future {
			return elsewhere(func() channel.Future { return ch.Write(b) })
		},
	} {
		for _, handlers := range [][]any{nil, {&pass{}}} {
			c, log := logged()
			r := newRig(t, c, handlers...)
			b := buffer.CopyString("x")
			b.Close()
			f := write(r.ch, b)
			r.loop.RunPending()
			if !errors.Is(f.Err(), buffer.ErrClosed) || r.ch.IsOpen() || log.Len() == 0 {
				t.Errorf("%s, %d handlers: %v, open %v", name, len(handlers), f.Err(), r.ch.IsOpen())
			}
			if f := r.ch.Write(buffer.CopyString("y")); !errors.Is(f.Err(), channel.ErrClosed) {
				t.Errorf("later: %v", f.Err())
			}
		}
	}
}

func TestWriteOfAnImpossibleRegion(t *testing.T) {
	t.Parallel()
	for _, region := range []channel.FileRegion{{Count: -1}, {Offset: -1, Count: 1}} {
		r := newRig(t, channel.NewConfig())
		m := region
		f := r.ch.WriteAndFlush(&m)
		r.loop.RunPending()
		if !errors.Is(f.Err(), channel.ErrUnsupportedMessage) || !m.IsClosed() || r.ch.PendingBytes() != 0 {
			t.Errorf("%d bytes at %d: %v, closed %v, %d bytes pending", region.Count, region.Offset, f.Err(), m.IsClosed(), r.ch.PendingBytes())
		}
	}
}

// faultyTransport panics where it should connect.
type faultyTransport struct{ *rig }

func (f faultyTransport) MessageSize(any) (int64, bool) { panic(errBoom) }

// An operation that panics before it reaches a handler has no caller to see it.
func TestPanicOfAQueuedOperation(t *testing.T) {
	t.Parallel()
	c, _ := logged()
	m, err := loop.NewManual(loop.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	r := &rig{t: t, loop: m, room: -1, active: true}
	ch := channel.New(m.Loop(), faultyTransport{r}, c, nil)
	ch.Register()
	msg := &tracked{}
	f := elsewhere(func() channel.Future { return ch.Write(msg) })
	m.RunPending()
	if !errors.Is(f.Err(), errBoom) || msg.closes != 1 || ch.IsOpen() {
		t.Errorf("%v, message closed %d times, open %v", f.Err(), msg.closes, ch.IsOpen())
	}
}

// A deregistered channel hears of its loop's end too: nobody could close it any more.
func TestDeregisteredChannelEndsWithItsLoop(t *testing.T) {
	t.Parallel()
	g, err := loop.NewGroup(loop.Options{Loops: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var rigs []*rig
	for range 3 {
		r := &rig{t: t, room: -1, maxRuns: 8, active: true}
		r.ch = channel.New(g.Next(), r, channel.NewConfig(), nil)
		rigs = append(rigs, r)
		for _, f := range []channel.Future{r.ch.Register(), r.ch.Deregister()} {
			if _, err := f.Wait(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	again, closed := rigs[1].ch, rigs[2].ch
	if _, err := again.Register().Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Deregister().Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := closed.Close().Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if n := handles(t, g); n != 2 {
		t.Errorf("the loop has %d handles, want one for each channel that is deregistered", n)
	}
	if _, err := g.Shutdown(0, time.Minute).Wait(ctx); err != nil {
		t.Fatal(err)
	}
	for i, r := range rigs {
		if r.ch.IsOpen() || !r.closed || !r.ch.CloseFuture().IsDone() {
			t.Errorf("channel %d is open", i)
		}
	}
}

func handles(t *testing.T, g *loop.Group) int {
	t.Helper()
	p := future.NewPromise[int](nil)
	l := g.Loops()[0]
	if err := l.Execute(func() { p.TrySucceed(l.Stats().Handles) }); err != nil {
		t.Fatal(err)
	}
	n, err := p.Future().Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A handler that closes a deregistered channel returns before the last events come, as in any
// other state.
func TestCloseWhileDeregistered(t *testing.T) {
	t.Parallel()
	j := &journal{}
	ch := embedded.New(&ending{j}, onEvent(func(ctx *channel.Context, _ any) {
		ctx.Close()
		j.add("returned")
	}))
	defer ch.Finish()
	ch.Deregister()
	ch.FireEvent("close")
	ch.RunPending()
	if got := j.take(); got != "unregistered returned inactive removed" {
		t.Errorf("events %q", got)
	}
}

type onEvent func(ctx *channel.Context, event any)

func (f onEvent) OnEvent(ctx *channel.Context, event any) { f(ctx, event) }
