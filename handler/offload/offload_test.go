package offload_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/future"
	"millrace.dev/handler/offload"
	"millrace.dev/loop"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

const patience = time.Minute

func newPool(t testing.TB, workers int) *offload.Pool {
	p := offload.NewPool(offload.PoolOptions{Workers: workers})
	t.Cleanup(func() { closePool(t, p) })
	return p
}

func closePool(t testing.TB, p *offload.Pool) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.Close(ctx); err != nil {
		t.Errorf("the pool does not end: %v", err)
	}
}

// until runs the channel's loop until cond is true.
func until(t testing.TB, ch *embedded.Channel, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; runtime.Gosched() {
		ch.RunPending()
		if cond() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// log notes what reaches the end of a pipeline.
type log struct{ got []string }

func (l *log) OnRead(_ *channel.Context, msg any) {
	l.got = append(l.got, fmt.Sprint(msg))
	channel.Dispose(msg)
}
func (l *log) OnReadComplete(*channel.Context) { l.got = append(l.got, "complete") }
func (l *log) OnEvent(_ *channel.Context, event any) {
	l.got = append(l.got, fmt.Sprint("event ", event))
}
func (l *log) OnShutdown(_ *channel.Context, d channel.Direction) {
	l.got = append(l.got, fmt.Sprint("ended ", d))
}
func (l *log) OnError(_ *channel.Context, err error) {
	l.got = append(l.got, fmt.Sprintf("<%v>", err))
}

// without returns what was noted, but for what comes at times of its own.
func (l *log) without(skip string) string {
	var got []string
	for _, s := range l.got {
		if s != skip {
			got = append(got, s)
		}
	}
	return strings.Join(got, " ")
}

// double doubles numbers.
func double(_ context.Context, n int) (any, error) { return 2 * n, nil }

func TestResultsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	pool := newPool(t, 4)
	var all []*embedded.Channel
	var ends []*log
	for range 8 {
		end := &log{}
		ends = append(ends, end)
		all = append(all, embedded.New(offload.New(pool, double, offload.Options{Queue: 1000}), end))
	}
	for i := range 500 {
		for _, ch := range all {
			_ = ch.WriteInbound(i)
		}
	}
	for c, ch := range all {
		until(t, ch, "all results have come", func() bool { return strings.Count(ends[c].without("complete"), " ") == 499 })
		n := 0
		for _, s := range ends[c].got {
			if s == "complete" {
				continue
			}
			if s != fmt.Sprint(2*n) {
				t.Fatalf("channel %d: %s came when %d was due", c, s, 2*n)
			}
			n++
		}
		ch.Finish()
	}
}

// Results that come while the loop is busy arrive together.
func TestResultsComeInBatches(t *testing.T) {
	t.Parallel()
	pool := newPool(t, 1)
	end := &log{}
	ch := embedded.New(offload.New(pool, double, offload.Options{}), end)
	defer ch.Finish()
	_ = ch.WriteInbound(1, 2, 3, 4, 5) // one read batch
	for pool.Stats().Idle != 1 || pool.Stats().Waiting != 0 {
		runtime.Gosched()
	}
	until(t, ch, "the results have come", func() bool { return len(end.got) >= 6 })
	// The first may have come while the others were at work.
	if got := end.without("complete"); got != "2 4 6 8 10" || end.got[len(end.got)-1] != "complete" {
		t.Errorf("got %q", end.got)
	}
	before := ch.Loop().Stats().Tasks
	end.got = nil
	block := make(chan struct{})
	blocked := offload.New(pool, func(_ context.Context, s string) (any, error) { <-block; return s, nil }, offload.Options{})
	_ = ch.Pipeline().AddFirst("", blocked)
	_ = ch.WriteInbound("a", "b", "c", "d", "e")
	close(block)
	for pool.Stats().Idle != 1 || pool.Stats().Waiting != 0 { // the loop does not run meanwhile
		runtime.Gosched()
	}
	ch.RunPending()
	if got := strings.Join(end.got, " "); got != "a b c d e complete" {
		t.Errorf("got %q", got)
	}
	if n := ch.Loop().Stats().Tasks - before; n != 1 {
		t.Errorf("%d tasks brought them", n)
	}
}

// What is not worked on keeps its place among what is.
func TestOtherEventsKeepTheirPlaces(t *testing.T) {
	t.Parallel()
	pool := newPool(t, 2)
	config := channel.NewConfig()
	config.AllowHalfClosure = true
	end := &log{}
	block := make(chan struct{})
	ch := embedded.NewConfig(config, offload.New(pool, func(_ context.Context, n int) (any, error) {
		<-block
		return n, nil
	}, offload.Options{}), end)
	defer ch.Finish()
	_ = ch.WriteInbound("first")
	ch.FireEvent("one")
	_ = ch.WriteInbound(1, "second")
	ch.FireEvent("two")
	_ = ch.WriteInbound(2)
	_ = ch.CloseInbound()
	if got := end.without("complete"); got != "first event one" {
		t.Errorf("before the work is done: %q", got)
	}
	close(block)
	until(t, ch, "the end has come", func() bool { return strings.HasSuffix(end.without("complete"), "ended inbound") })
	if got := end.without("complete"); got != "first event one 1 second event two 2 ended inbound" {
		t.Errorf("got %q", got)
	}
	ch.FireEvent("three")
	if got := end.got[len(end.got)-1]; got != "event three" {
		t.Errorf("an event after all: %q", got)
	}
}

// When too many messages wait the channel stops reading, until half of them are done.
func TestBackPressure(t *testing.T) {
	t.Parallel()
	pool := newPool(t, 1)
	step := make(chan struct{})
	end := &log{}
	ch := embedded.New(offload.New(pool, func(_ context.Context, n int) (any, error) {
		<-step
		return n, nil
	}, offload.Options{Queue: 4}), end)
	defer ch.Finish()
	for i := range 3 {
		_ = ch.WriteInbound(i)
		if !ch.Reading() {
			t.Fatalf("stopped after %d messages", i+1)
		}
	}
	_ = ch.WriteInbound(3)
	if ch.Reading() {
		t.Fatal("reads on")
	}
	_ = ch.WriteInbound(4) // stays in the transport
	step <- struct{}{}
	until(t, ch, "one is done", func() bool { return end.without("complete") == "0" })
	if ch.Reading() {
		t.Error("reads on though only one is done")
	}
	step <- struct{}{}
	until(t, ch, "two are done", func() bool { return end.without("complete") == "0 1" })
	until(t, ch, "it reads on", ch.Reading)
	close(step)
	until(t, ch, "all are done", func() bool { return end.without("complete") == "0 1 2 3 4" })
}

// Work that gives nothing makes a channel that reads on demand read on.
func TestReadOnDemand(t *testing.T) {
	t.Parallel()
	pool := newPool(t, 1)
	config := channel.NewConfig()
	config.AutoRead = false
	end := &log{}
	ch := embedded.NewConfig(config, offload.New(pool, func(_ context.Context, n int) (any, error) {
		if n == 0 {
			return nil, nil
		}
		return n, nil
	}, offload.Options{}), end)
	defer ch.Finish()
	ch.Channel.Read()
	_ = ch.WriteInbound(0)
	until(t, ch, "it reads on", ch.Reading)
	_ = ch.WriteInbound(1)
	until(t, ch, "the result has come", func() bool { return end.without("complete") == "1" })
	if ch.Reading() {
		t.Error("reads on though a message has come")
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	pool := newPool(t, 1)
	boom := errors.New("boom")
	end := &log{}
	ch := embedded.New(offload.New(pool, func(_ context.Context, s string) (any, error) {
		switch s {
		case "error":
			return nil, boom
		case "both":
			return "half", boom
		case "panic":
			panic(boom)
		case "goexit":
			runtime.Goexit()
		}
		return s, nil
	}, offload.Options{}), end)
	defer ch.Finish()
	_ = ch.WriteInbound("a", "error", "b", "both", "panic", "c", "goexit", "d")
	until(t, ch, "all are done", func() bool { return strings.HasSuffix(end.without("complete"), " d") })
	want := "a <boom> b half <boom> <offload: the work panicked: boom> c <offload: the work has ended its goroutine> d"
	if got := end.without("complete"); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	err := error(&offload.PanicError{Value: boom})
	if !errors.Is(err, boom) || errors.Unwrap(&offload.PanicError{Value: 1}) != nil {
		t.Error("a panic's error is lost")
	}
}

// A handler behind that panics does not keep the other results from coming.
func TestPanicBehind(t *testing.T) {
	t.Parallel()
	pool := newPool(t, 1)
	end := &log{}
	ch := embedded.New(offload.New(pool, double, offload.Options{}), panicker{}, end)
	defer ch.Finish()
	_ = ch.WriteInbound(1, 2, 3)
	until(t, ch, "the last has come", func() bool { return strings.HasSuffix(end.without("complete"), "6") })
	if got := end.without("complete"); got != `2 <channel: handler "offload_test.panicker" panicked: four> 6` {
		t.Errorf("got %q", got)
	}
}

type panicker struct{}

func (panicker) OnRead(ctx *channel.Context, msg any) {
	if msg == 4 {
		panic("four")
	}
	ctx.FireRead(msg)
}

func TestCloseCancelsTheWork(t *testing.T) {
	t.Parallel()
	for _, drop := range []bool{false, true} {
		pool := newPool(t, 1)
		started := make(chan struct{}, 1)
		var worked, cancelled atomic.Int32
		result := buffer.CopyString("result")
		ch := embedded.New(offload.New(pool, func(ctx context.Context, b *buffer.Buffer) (any, error) {
			defer b.Close()
			worked.Add(1)
			if string(b.Bytes()) == "first" {
				started <- struct{}{}
				<-ctx.Done()
				if context.Cause(ctx) != ctx.Err() {
					cancelled.Add(1)
				}
				return result, nil
			}
			if ctx.Err() != nil {
				cancelled.Add(1)
			}
			return nil, nil
		}, offload.Options{DropOnClose: drop}))
		_ = ch.WriteInbound(buffer.CopyString("first"), buffer.CopyString("second"), buffer.CopyString("third"))
		<-started
		ch.Close()
		ch.RunPending()
		for pool.Stats().Idle != 1 {
			runtime.Gosched()
		}
		ch.RunPending()
		want := int32(3)
		if drop {
			want = 1
		}
		if worked.Load() != want || cancelled.Load() != want || !result.IsClosed() {
			t.Errorf("drop %v: %d worked on, %d of them cancelled, want %d; result closed %v",
				drop, worked.Load(), cancelled.Load(), want, result.IsClosed())
		}
		ch.Finish()
	}
}

// From a channel that stays open, what was handed over is still worked on.
func TestRemoval(t *testing.T) {
	t.Parallel()
	pool := newPool(t, 1)
	step := make(chan struct{})
	var ended atomic.Bool
	h := offload.New(pool, func(ctx context.Context, n int) (any, error) {
		select {
		case <-step:
		case <-ctx.Done():
			ended.Store(true)
		}
		return n, nil
	}, offload.Options{Queue: 2})
	end := &log{}
	ch := embedded.New(h, end)
	_ = ch.WriteInbound(1, 2, 3)
	if ch.Reading() {
		t.Fatal("reads on")
	}
	_ = ch.Pipeline().RemoveHandler(h)
	if !ch.Reading() {
		t.Error("the Read that was held is lost")
	}
	step <- struct{}{}
	until(t, ch, "the first has come", func() bool { return end.without("complete") == "1" })
	ch.Close()
	until(t, ch, "the work is cancelled", ended.Load)
	ch.Finish()
}

func TestPoolClose(t *testing.T) {
	t.Parallel()
	pool := offload.NewPool(offload.PoolOptions{Workers: 2})
	block := make(chan struct{})
	end := &log{}
	ch := embedded.New(offload.New(pool, func(_ context.Context, b *buffer.Buffer) (any, error) {
		<-block
		return b, nil
	}, offload.Options{}), end)
	defer ch.Finish()
	_ = ch.WriteInbound(buffer.CopyString("a"), buffer.CopyString("b"))
	expired, cancel := context.WithCancel(context.Background())
	cancel()
	if err := pool.Close(expired); !errors.Is(err, context.Canceled) {
		t.Errorf("closed while work is under way: %v", err)
	}
	late := buffer.CopyString("late")
	_ = ch.WriteInbound(late)
	if got := end.without("complete"); got != "<"+offload.ErrPoolClosed.Error()+">" || !late.IsClosed() {
		t.Errorf("got %q, closed %v", got, late.IsClosed())
	}
	close(block)
	closePool(t, pool)
	until(t, ch, "the results have come", func() bool { return len(strings.Split(end.without("complete"), "0x")) == 3 })
	if s := pool.Stats(); s.Workers != 0 {
		t.Errorf("%+v", s)
	}
	empty := offload.NewPool(offload.PoolOptions{})
	closePool(t, empty)
	closePool(t, empty)
}

// One worker serves many channels in turn.
func TestFairness(t *testing.T) {
	t.Parallel()
	pool := newPool(t, 1)
	var mu sync.Mutex
	var order []string
	block := make(chan struct{})
	serve := func(name string) *embedded.Channel {
		return embedded.New(offload.New(pool, func(context.Context, int) (any, error) {
			<-block
			mu.Lock()
			defer mu.Unlock()
			order = append(order, name)
			return nil, nil
		}, offload.Options{Queue: 1000}))
	}
	busy, other := serve("busy"), serve("other")
	for i := range 200 {
		_ = busy.WriteInbound(i)
	}
	_ = other.WriteInbound(1)
	close(block)
	until(t, busy, "all are done", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(order) == 201
	})
	at := 0
	for order[at] != "other" {
		at++
	}
	if at > 16 {
		t.Errorf("the other channel came after %d messages of the busy one", at)
	}
	busy.Finish()
	other.Finish()
}

// A loop that has ended takes no results; they are disposed of.
func TestLoopThatHasEnded(t *testing.T) {
	t.Parallel()
	pool := newPool(t, 1)
	block := make(chan struct{})
	result := buffer.CopyString("result")
	ch := embedded.New(offload.New(pool, func(context.Context, int) (any, error) {
		<-block
		return result, nil
	}, offload.Options{}))
	_ = ch.WriteInbound(1)
	ch.Finish()
	close(block)
	closePool(t, pool)
	if !result.IsClosed() {
		t.Error("the result was not closed")
	}
}

// On real loops, with the race detector watching.
func TestOnARealLoop(t *testing.T) {
	t.Parallel()
	pool := newPool(t, 4)
	g, err := loop.NewGroup(loop.Options{Loops: 2})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	done := make(chan string, 4)
	for range 4 {
		l := g.Next()
		_ = l.Execute(func() { startOnLoop(l, pool, done) })
	}
	for range 4 {
		select {
		case err := <-done:
			if err != "" {
				t.Error(err)
			}
		case <-ctx.Done():
			t.Fatal("timed out")
		}
	}
	blocked := make(chan error)
	_ = g.Next().Execute(func() { blocked <- offload.NewPool(offload.PoolOptions{}).Close(ctx) })
	if err := <-blocked; err != future.ErrBlockingOnLoop {
		t.Errorf("Close on a loop: %v", err)
	}
	if _, err := g.Shutdown(0, time.Second).Wait(ctx); err != nil {
		t.Error(err)
	}
}
