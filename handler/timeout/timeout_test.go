package timeout_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"reflect"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/handler/timeout"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

const limit = 10 * time.Second

// expectOpen moves the clock on and fails unless the channel stays open.
func expectOpen(t *testing.T, ch *embedded.Channel, d time.Duration) {
	t.Helper()
	ch.Advance(d)
	if err := ch.Err(); err != nil || !ch.IsOpen() {
		t.Fatalf("after %v: open %v, error %v", ch.Loop().Now(), ch.IsOpen(), err)
	}
}

// expectEnd moves the clock one step on and fails unless the channel ends with the error.
func expectEnd(t *testing.T, ch *embedded.Channel, want error) {
	t.Helper()
	ch.Advance(time.Millisecond)
	if err := ch.Err(); err != want || ch.IsOpen() {
		t.Errorf("at %v: open %v, error %v, want %v", ch.Loop().Now(), ch.IsOpen(), err, want)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	ch := embedded.New(timeout.NewRead(limit))
	defer ch.Finish()
	for range 20 {
		expectOpen(t, ch, limit-time.Millisecond)
		_ = ch.WriteInbound("x")
	}
	expectOpen(t, ch, limit-time.Millisecond)
	expectEnd(t, ch, timeout.ErrRead)
}

// While reading is stopped the peer can't be late; the time counts from when it goes on.
func TestReadWhileReadingIsStopped(t *testing.T) {
	t.Parallel()
	ch := embedded.New(timeout.NewRead(limit))
	defer ch.Finish()
	expectOpen(t, ch, limit-time.Millisecond)
	ch.SetAutoRead(false)
	expectOpen(t, ch, 10*limit)
	ch.SetAutoRead(true)
	expectOpen(t, ch, limit-time.Millisecond)
	expectEnd(t, ch, timeout.ErrRead)
}

func TestReadOnDemand(t *testing.T) {
	t.Parallel()
	config := channel.NewConfig()
	config.AutoRead = false
	ch := embedded.NewConfig(config, timeout.NewRead(limit))
	defer ch.Finish()
	expectOpen(t, ch, 10*limit)
	ch.Channel.Read()
	expectOpen(t, ch, limit/2)
	_ = ch.WriteInbound("x")
	expectOpen(t, ch, 10*limit) // the batch has come, and nobody has asked for another
	ch.Channel.Read()
	expectOpen(t, ch, limit-time.Millisecond)
	expectEnd(t, ch, timeout.ErrRead)
}

func TestReadAddedLate(t *testing.T) {
	t.Parallel()
	ch := embedded.New()
	defer ch.Finish()
	expectOpen(t, ch, 10*limit)
	_ = ch.Pipeline().AddLast("", timeout.NewRead(limit))
	expectOpen(t, ch, limit-time.Millisecond)
	expectEnd(t, ch, timeout.ErrRead)
}

// What counts is that the peer takes something, not that a message is done.
func TestWriteCountsProgress(t *testing.T) {
	t.Parallel()
	ch := embedded.New(timeout.NewWrite(limit))
	defer ch.Finish()
	ch.SetTransportWritable(false)
	for range 100 {
		ch.Write("x")
	}
	ch.Flush()
	ch.RunPending()
	for range 5 {
		expectOpen(t, ch, limit-time.Millisecond)
		ch.SetTransportWritable(true)
		ch.SetTransportWritable(false)
		ch.WriteAndFlush("y")
		ch.RunPending()
	}
	expectOpen(t, ch, limit-time.Millisecond)
	expectEnd(t, ch, timeout.ErrWrite)
}

// Time without anything to send does not count, nor does what is not flushed.
func TestWriteOnlyCountsWhileSomethingWaits(t *testing.T) {
	t.Parallel()
	ch := embedded.New(timeout.NewWrite(limit))
	defer ch.Finish()
	expectOpen(t, ch, 10*limit)
	ch.WriteAndFlush("x")
	ch.RunPending()
	expectOpen(t, ch, limit/2)
	ch.SetTransportWritable(false)
	ch.Write("y")
	expectOpen(t, ch, 10*limit)
	ch.Flush()
	ch.RunPending()
	expectOpen(t, ch, limit-time.Millisecond)
	expectEnd(t, ch, timeout.ErrWrite)
}

// A flush that finds the timer set, from one before, gets its whole time.
func TestWriteGetsItsWholeTime(t *testing.T) {
	t.Parallel()
	ch := embedded.New(timeout.NewWrite(limit))
	defer ch.Finish()
	ch.WriteAndFlush("x")
	ch.RunPending()
	expectOpen(t, ch, limit-time.Second)
	ch.SetTransportWritable(false)
	f := ch.WriteAndFlush("y")
	ch.RunPending()
	expectOpen(t, ch, limit-time.Millisecond)
	expectEnd(t, ch, timeout.ErrWrite)
	if !errors.Is(f.Err(), channel.ErrClosed) {
		t.Errorf("the write: %v", f.Err())
	}
}

func TestEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(ch *embedded.Channel){
		"close": func(ch *embedded.Channel) { ch.Close() },
		"removal": func(ch *embedded.Channel) {
			for _, name := range ch.Pipeline().Names() {
				_ = ch.Pipeline().Remove(name)
			}
		},
	} {
		ch := embedded.New(timeout.NewRead(limit), timeout.NewWrite(limit))
		ch.SetTransportWritable(false)
		ch.WriteAndFlush("x")
		ch.RunPending()
		if n := ch.Loop().Stats().Timers; n != 2 {
			t.Errorf("%s: %d timers", name, n)
		}
		end(ch)
		ch.RunPending()
		if n := ch.Loop().Stats().Timers; n != 0 {
			t.Errorf("%s: %d timers are left", name, n)
		}
		ch.Advance(10 * limit)
		if err := ch.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		ch.Finish()
	}
}

// A handler that keeps its channel alive has the last word only until OnError returns.
func TestPanicInOnError(t *testing.T) {
	t.Parallel()
	config := channel.NewConfig()
	config.Logger = slog.New(slog.DiscardHandler)
	ch := embedded.NewConfig(config, timeout.NewRead(limit), &panicker{})
	defer ch.Finish()
	ch.Advance(limit)
	if ch.IsOpen() {
		t.Error("the channel is open")
	}
}

type panicker struct{}

func (*panicker) OnError(*channel.Context, error) { panic("contained") }

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, err := range []error{timeout.ErrRead, timeout.ErrWrite} {
		var ne net.Error
		if !errors.As(err, &ne) || !ne.Timeout() || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%v is not what a deadline gives", err)
		}
	}
	if errors.Is(timeout.ErrRead, timeout.ErrWrite) {
		t.Error("the errors are the same")
	}
}

func TestZeroPanics(t *testing.T) {
	t.Parallel()
	for _, f := range []func(){func() { timeout.NewRead(0) }, func() { timeout.NewWrite(-1) }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("accepted")
				}
			}()
			f()
		}()
	}
}

func TestCosts(t *testing.T) {
	for _, typ := range []reflect.Type{reflect.TypeFor[timeout.Read](), reflect.TypeFor[timeout.Write]()} {
		if typ.Size() > 96 {
			t.Errorf("%v takes %d bytes a channel", typ, typ.Size())
		}
	}
	r, w := timeout.NewRead(time.Hour), timeout.NewWrite(time.Hour)
	ch := embedded.New(r, w, &discard{})
	defer ch.Finish()
	rc, wc := ch.Pipeline().ContextOf(r), ch.Pipeline().ContextOf(w)
	msg := &struct{ int }{}
	if n := testing.AllocsPerRun(100, func() {
		r.OnRead(rc, msg)
		r.Read(rc)
		w.Flush(wc)
	}); n != 0 {
		t.Errorf("%v allocations a message", n)
	}
	before := ch.Loop().Stats().Fired
	for range 1000 {
		_ = ch.WriteInbound(msg)
		ch.Flush()
		ch.Advance(time.Second)
	}
	if n := ch.Loop().Stats().Fired - before; n > 2 {
		t.Errorf("timers have fired %d times in 1000 s", n)
	}
}

type discard struct{}

func (*discard) OnRead(_ *channel.Context, msg any) { channel.Dispose(msg) }

func Example() {
	ch := embedded.New(timeout.NewRead(30*time.Second), timeout.NewWrite(10*time.Second))
	defer ch.Finish()
	ch.SetTransportWritable(false) // the peer reads nothing
	ch.WriteAndFlush(buffer.CopyString("hello"))
	ch.Advance(time.Minute)
	fmt.Println(ch.Err())
	fmt.Println("open:", ch.IsOpen())
	// Output:
	// timeout: write: the peer took nothing in time
	// open: false
}
