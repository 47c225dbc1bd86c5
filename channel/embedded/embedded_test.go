package embedded_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

// echo writes back what it reads.
type echo struct{}

func (echo) OnRead(ctx *channel.Context, msg any) { ctx.Write(msg) }
func (echo) OnReadComplete(ctx *channel.Context)  { ctx.Flush() }

func TestMessages(t *testing.T) {
	t.Parallel()
	ch := embedded.New(echo{})
	if err := ch.WriteInbound(1, 2, 3); err != nil {
		t.Fatal(err)
	}
	for want := 1; want <= 3; want++ {
		if got := ch.ReadOutbound(); got != want {
			t.Errorf("got %v, want %d", got, want)
		}
	}
	if ch.ReadOutbound() != nil || ch.ReadInbound() != nil {
		t.Error("more came out than went in")
	}
	if n := ch.Finish(); n != 0 || ch.IsOpen() {
		t.Errorf("%d messages left", n)
	}
	late := buffer.CopyString("late")
	if err := ch.WriteInbound(late); err != nil || !late.IsClosed() {
		t.Errorf("input of a finished channel: %v", err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	ch := embedded.New()
	ch.Pipeline().Context("") // none
	if err := ch.Err(); err != nil {
		t.Error(err)
	}
	ch.FailInbound(boom)
	if err := ch.Err(); err != boom || ch.IsOpen() {
		t.Errorf("%v, open %v", err, ch.IsOpen())
	}
	if err := ch.Err(); err != nil {
		t.Errorf("told twice: %v", err)
	}
	if err := ch.WriteOutbound(buffer.CopyString("x")); !errors.Is(err, channel.ErrClosed) {
		t.Error(err)
	}
	ch.Finish()
}

func TestInputWaitsUntilItIsRead(t *testing.T) {
	t.Parallel()
	config := channel.NewConfig()
	config.AutoRead = false
	ch := embedded.NewConfig(config)
	defer ch.Finish()
	_ = ch.WriteInbound("a", "b")
	_ = ch.CloseInbound()
	if ch.Reading() || ch.ReadInbound() != nil {
		t.Error("read without being asked")
	}
	ch.Channel.Read()
	ch.RunPending()
	if ch.ReadInbound() != "a" || ch.ReadInbound() != "b" || !ch.IsOpen() {
		t.Error("the messages have not come")
	}
	ch.Channel.Read()
	ch.RunPending()
	if ch.IsOpen() {
		t.Error("the end of the input has not come")
	}
}

func TestTransportThatRefuses(t *testing.T) {
	t.Parallel()
	ch := embedded.New()
	defer ch.Finish()
	ch.SetTransportWritable(false)
	f := ch.WriteAndFlush("x")
	ch.RunPending()
	if f.IsDone() || ch.ReadOutbound() != nil {
		t.Error("sent though it refuses")
	}
	if blocked, _ := ch.OutputBlocked(); !blocked {
		t.Error("not blocked")
	}
	ch.SetTransportWritable(true)
	if !f.IsSuccess() || ch.ReadOutbound() != "x" {
		t.Error("not sent")
	}
	ch.Shutdown(channel.Outbound)
	if !ch.OutboundShutdown() {
		t.Error("the output was not shut down")
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	ch := embedded.New()
	defer ch.Finish()
	var at []time.Duration
	for _, d := range []time.Duration{time.Minute, time.Second} {
		ch.Loop().Schedule(d, func() { at = append(at, ch.Loop().Now()) })
	}
	ch.Advance(2 * time.Minute)
	if len(at) != 2 || at[0] != time.Second || at[1] != time.Minute || ch.Loop().Now() != 2*time.Minute {
		t.Errorf("timers fired at %v, it is %v", at, ch.Loop().Now())
	}
}

func TestWhatIsNoHandlerPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	embedded.New(42)
}

// A handler with a timer is tested without waiting.
func Example() {
	ch := embedded.New(&greeter{})
	defer ch.Finish()
	fmt.Println(ch.ReadOutbound())
	ch.Advance(3 * time.Second)
	fmt.Println(ch.ReadOutbound())
	// Output:
	// <nil>
	// hello
}

// greeter says hello three seconds after the connection was made.
type greeter struct{}

func (*greeter) OnActive(ctx *channel.Context) {
	ctx.Loop().Schedule(3*time.Second, func() { ctx.WriteAndFlush("hello") })
}

// watcher notes whether it was told of the connection, and of its own end.
type watcher struct{ active, removed bool }

func (w *watcher) OnActive(*channel.Context) { w.active = true }
func (w *watcher) Removed(*channel.Context)  { w.removed = true }

func TestNewInit(t *testing.T) {
	t.Parallel()
	w := &watcher{}
	ch, err := embedded.NewInit(nil, func(ch *channel.Channel) error {
		if ch.IsActive() {
			t.Error("active before it has its handlers")
		}
		return ch.Pipeline().AddLast("watcher", w)
	})
	if err != nil {
		t.Fatal(err)
	}
	if ch.Finish(); !w.active || !w.removed {
		t.Errorf("the handler was told: %+v", *w)
	}
	w = &watcher{}
	failure := errors.New("test")
	_, err = embedded.NewInit(nil, func(ch *channel.Channel) error {
		return errors.Join(ch.Pipeline().AddLast("watcher", w), failure)
	})
	if !errors.Is(err, failure) || w.active || !w.removed {
		t.Errorf("Init failed: %v, and the handler was told: %+v", err, *w)
	}
}
