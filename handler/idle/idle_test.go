package idle_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/handler/idle"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

// recorder notes events with the second at which they came.
type recorder struct {
	got []string
	on  func(ctx *channel.Context)
}

func (r *recorder) OnEvent(ctx *channel.Context, event any) {
	e := event.(idle.Event)
	s := fmt.Sprintf("%v@%v", e.Kind, ctx.Loop().Now().Seconds())
	if e.First {
		s += "!"
	}
	r.got = append(r.got, s)
	if r.on != nil {
		r.on(ctx)
	}
}

func (r *recorder) take() string {
	s := strings.Join(r.got, " ")
	r.got = nil
	return s
}

func expect(t *testing.T, r *recorder, want string) {
	t.Helper()
	if got := r.take(); got != want {
		t.Errorf("events %q, want %q", got, want)
	}
}

// toSecond moves the clock to a second, without passing it.
func toSecond(ch *embedded.Channel, s int) {
	ch.Advance(time.Duration(s)*time.Second - ch.Loop().Now())
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		o    idle.Options
		want string
	}{
		{idle.Options{Reader: 10 * time.Second}, "reader@18! reader@28 reader@38"},
		{idle.Options{Writer: 10 * time.Second}, "writer@15! writer@25 writer@35"},
		{idle.Options{All: 10 * time.Second}, "all@18! all@28 all@38"},
		{idle.Options{Reader: 20 * time.Second, Writer: 10 * time.Second, All: 15 * time.Second},
			"writer@15! all@23! writer@25 reader@28! writer@35 all@38"},
		{idle.Options{}, ""},
		{idle.Options{Reader: math.MaxInt64, Writer: 10 * time.Second, All: math.MaxInt64 - 1}, "writer@15! writer@25 writer@35"},
	} {
		r := &recorder{}
		ch := embedded.New(idle.New(row.o), r)
		toSecond(ch, 5)
		ch.WriteAndFlush("x")
		ch.RunPending()
		toSecond(ch, 8)
		_ = ch.WriteInbound("y")
		toSecond(ch, 39)
		expect(t, r, row.want)
		ch.Finish()
	}
}

// An event comes exactly when the time is over, and activity puts it off.
func TestTimesAreExact(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	ch := embedded.New(idle.New(idle.Options{Reader: time.Second}), r)
	defer ch.Finish()
	for range 100 {
		ch.Advance(time.Second - time.Millisecond)
		_ = ch.WriteInbound("x")
	}
	expect(t, r, "")
	ch.Advance(time.Second - time.Millisecond)
	expect(t, r, "")
	ch.Advance(time.Millisecond)
	if got := r.take(); !strings.HasSuffix(got, "!") {
		t.Errorf("events %q", got)
	}
	_ = ch.WriteInbound("x") // in the moment of the event: the next one is a first again
	ch.Advance(time.Second)
	if got := r.take(); !strings.HasSuffix(got, "!") {
		t.Errorf("events %q", got)
	}
}

// A write that is not flushed is no activity.
func TestOnlyFlushesCount(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	ch := embedded.New(idle.New(idle.Options{Writer: 10 * time.Second}), r)
	defer ch.Finish()
	toSecond(ch, 5)
	ch.Write("x")
	toSecond(ch, 12)
	expect(t, r, "writer@10!")
}

// A peer that takes what was sent slowly keeps the channel busy; one that takes nothing does
// not.
func TestSlowPeers(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	ch := embedded.New(idle.New(idle.Options{Writer: 10 * time.Second}), r)
	defer ch.Finish()
	ch.SetTransportWritable(false)
	ch.WriteAndFlush("a")
	ch.RunPending()
	toSecond(ch, 9)
	ch.SetTransportWritable(true)
	toSecond(ch, 18)
	expect(t, r, "")
	toSecond(ch, 20)
	expect(t, r, "writer@19!")
	ch.SetTransportWritable(false)
	ch.WriteAndFlush("b")
	ch.RunPending()
	toSecond(ch, 41)
	expect(t, r, "writer@30! writer@40")
}

func TestEnds(t *testing.T) {
	t.Parallel()
	o := idle.Options{Reader: time.Second, Writer: time.Second, All: time.Second}
	t.Run("close", func(t *testing.T) {
		t.Parallel()
		r := &recorder{}
		ch := embedded.New(idle.New(o), r)
		ch.Close()
		ch.Advance(time.Minute)
		expect(t, r, "")
		ch.Finish()
	})
	t.Run("closed by an event", func(t *testing.T) {
		t.Parallel()
		r := &recorder{on: func(ctx *channel.Context) { ctx.Close() }}
		ch := embedded.New(idle.New(o), r)
		ch.Advance(time.Minute)
		if len(r.got) == 0 || ch.IsOpen() || slices.ContainsFunc(r.got, func(s string) bool { return !strings.Contains(s, "@1!") }) {
			t.Errorf("events %q, open %v", r.got, ch.IsOpen())
		}
		ch.Finish()
	})
	t.Run("removed by an event", func(t *testing.T) {
		t.Parallel()
		h := idle.New(o)
		r := &recorder{on: func(ctx *channel.Context) { _ = ctx.Pipeline().RemoveHandler(h) }}
		ch := embedded.New(h, r)
		defer ch.Finish()
		ch.Advance(time.Minute)
		expect(t, r, "reader@1!")
	})
	t.Run("added late", func(t *testing.T) {
		t.Parallel()
		r := &recorder{}
		ch := embedded.New()
		defer ch.Finish()
		ch.Advance(5 * time.Second)
		_ = ch.Pipeline().AddLast("", idle.New(idle.Options{All: time.Second}))
		_ = ch.Pipeline().AddLast("", r)
		ch.Advance(time.Second)
		expect(t, r, "all@6!")
	})
	t.Run("panic", func(t *testing.T) {
		t.Parallel()
		r := &recorder{on: func(*channel.Context) { panic("contained") }}
		ch := embedded.New(idle.New(idle.Options{All: time.Second}), r)
		defer ch.Finish()
		ch.Advance(time.Second)
		if err := ch.Err(); err == nil || !strings.Contains(err.Error(), "recorder") {
			t.Errorf("the panic became %v", err)
		}
	})
}

// What it costs: little memory, one timer, and nothing for a message but storing the time.
func TestCosts(t *testing.T) {
	if n := reflect.TypeFor[idle.Handler]().Size(); n > 200 {
		t.Errorf("%d bytes a channel", n)
	}
	h := idle.New(idle.Options{Reader: time.Hour, Writer: time.Hour, All: time.Hour})
	ch := embedded.New(h, &discard{})
	defer ch.Finish()
	ctx := ch.Pipeline().ContextOf(h)
	msg := &struct{ int }{}
	if n := testing.AllocsPerRun(100, func() {
		h.OnRead(ctx, msg)
		h.Flush(ctx)
	}); n != 0 {
		t.Errorf("%v allocations a message", n)
	}
	before := ch.Loop().Stats().Fired
	for range 1000 {
		_ = ch.WriteInbound(msg)
		ch.Flush()
		ch.Advance(time.Second)
	}
	if n := ch.Loop().Stats().Fired - before; n > 1 {
		t.Errorf("the timer has fired %d times in 1000 s", n)
	}
}

type discard struct{}

func (*discard) OnRead(_ *channel.Context, msg any) { channel.Dispose(msg) }

// heartbeat writes when nothing was written for a while, and gives up a peer that is silent.
type heartbeat struct{}

func (heartbeat) OnEvent(ctx *channel.Context, event any) {
	switch event {
	case idle.Event{Kind: idle.Writer, First: true}, idle.Event{Kind: idle.Writer}:
		fmt.Println("ping at", ctx.Loop().Now())
		ctx.WriteAndFlush(buffer.CopyString("ping"))
	case idle.Event{Kind: idle.Reader, First: true}:
		fmt.Println("closed at", ctx.Loop().Now())
		ctx.Close()
	default:
		ctx.FireEvent(event)
	}
}

func Example() {
	ch := embedded.New(idle.New(idle.Options{Reader: 50 * time.Second, Writer: 20 * time.Second}), heartbeat{})
	defer ch.Finish()
	ch.Advance(time.Minute)
	// Output:
	// ping at 20s
	// ping at 40s
	// closed at 50s
}
