package offload_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/handler/offload"
	"millrace.dev/internal/allocs"
	"millrace.dev/internal/blackhole"
	"millrace.dev/loop"
)

// counting gives the numbers up to the one that it gets, and then an answer to the peer.
type counting struct{ fired atomic.Int32 }

func (c *counting) Work(call *offload.Call, n int) error {
	for i := range n {
		if err := call.Fire(i); err != nil {
			return err
		}
		c.fired.Add(1)
	}
	return call.Write(fmt.Sprint("counted to ", n))
}

func TestWorkerGivesMany(t *testing.T) {
	t.Parallel()
	pool := newPool(t, 1)
	end := &log{}
	c := &counting{}
	ch := embedded.New(offload.NewWorker[int](pool, c, offload.Options{Queue: 8}), end)
	defer ch.Finish()
	_ = ch.WriteInbound(1000)
	for c.fired.Load() < 8 {
		runtime.Gosched()
	}
	// The loop has not run: the work waits for it.
	for range 1000 {
		runtime.Gosched()
	}
	if n := c.fired.Load(); n > 8 {
		t.Errorf("%d messages are on their way, want 8 at the most", n)
	}
	until(t, ch, "the answer was sent", func() bool {
		msg := ch.ReadOutbound()
		return msg == "counted to 1000"
	})
	if got := strings.Count(end.without("complete"), " "); got != 999 {
		t.Errorf("%d messages", got+1)
	}
}

// Work that writes waits for a peer that is slow.
func TestWorkerWaitsForWritability(t *testing.T) {
	t.Parallel()
	pool := newPool(t, 1)
	config := channel.NewConfig()
	config.WriteBufferLow, config.WriteBufferHigh = 100, 1000
	var written atomic.Int32
	ch := embedded.NewConfig(config, offload.NewWorker[int](pool, flood{&written}, offload.Options{}))
	defer ch.Finish()
	ch.SetTransportWritable(false)
	_ = ch.WriteInbound(100)
	until(t, ch, "the channel is full", func() bool { return !ch.IsWritable() })
	for range 1000 {
		ch.RunPending()
		runtime.Gosched()
	}
	// What passes before the event says so is bounded by the queue.
	if n := ch.PendingBytes(); n > 1000+64*100 || written.Load() == 100 {
		t.Errorf("%d bytes pending, %d written", n, written.Load())
	}
	total := 0
	ch.SetTransportWritable(true)
	until(t, ch, "all was sent", func() bool {
		for msg := ch.ReadOutbound(); msg != nil; msg = ch.ReadOutbound() {
			total += msg.(*buffer.Buffer).Len()
			channel.Dispose(msg)
		}
		return total == 100*100
	})
}

// Work that waits for the peer goes on when its handler, which would tell it, is removed.
func TestWorkerGoesOnWhenItsHandlerIsRemoved(t *testing.T) {
	t.Parallel()
	pool := newPool(t, 1)
	config := channel.NewConfig()
	config.WriteBufferLow, config.WriteBufferHigh = 100, 1000
	var written atomic.Int32
	h := offload.NewWorker[int](pool, flood{&written}, offload.Options{Queue: 4})
	ch := embedded.NewConfig(config, h)
	defer ch.Finish()
	ch.SetTransportWritable(false)
	_ = ch.WriteInbound(100)
	until(t, ch, "the channel is full", func() bool { return !ch.IsWritable() })
	if err := ch.Pipeline().RemoveHandler(h); err != nil {
		t.Fatal(err)
	}
	ch.SetTransportWritable(true)
	total := 0
	until(t, ch, "all was sent", func() bool {
		for msg := ch.ReadOutbound(); msg != nil; msg = ch.ReadOutbound() {
			total += msg.(*buffer.Buffer).Len()
			channel.Dispose(msg)
		}
		return total == 100*100
	})
}

// flood writes as many buffers of 100 bytes as it is told.
type flood struct{ written *atomic.Int32 }

func (f flood) Work(call *offload.Call, n int) error {
	for range n {
		if err := call.Write(buffer.Wrap(make([]byte, 100))); err != nil {
			return err
		}
		f.written.Add(1)
	}
	return nil
}

// Work that waits for room is told when the channel has closed.
func TestWorkerEndsWithTheChannel(t *testing.T) {
	t.Parallel()
	pool := newPool(t, 1)
	failed := make(chan error, 1)
	ch := embedded.New(offload.NewWorker[int](pool, endless{failed}, offload.Options{Queue: 4}))
	_ = ch.WriteInbound(1)
	ch.Close()
	ch.RunPending()
	if err := <-failed; err == nil {
		t.Error("no error")
	}
	ch.Finish()
}

// endless fires until it can't.
type endless struct{ failed chan error }

func (e endless) Work(call *offload.Call, _ int) error {
	for {
		if err := call.Fire(buffer.CopyString("x")); err != nil {
			<-call.Context().Done()
			if call.Channel().IsOpen() {
				e.failed <- nil
			}
			e.failed <- err
			return err
		}
	}
}

// startOnLoop sends 1000 numbers through a channel of the loop, and says what was wrong with
// what came back.
func startOnLoop(l *loop.Loop, pool *offload.Pool, done chan<- string) {
	tr := &blackhole.Transport{}
	ch := channel.New(l, tr, nil, nil)
	next := 0
	end := check(func(n int) {
		if n != 2*next || !l.InLoop() {
			done <- fmt.Sprintf("%d came when %d was due, on the loop: %v", n, 2*next, l.InLoop())
			ch.Close()
			return
		}
		if next++; next == 1000 {
			ch.Close()
			done <- ""
		}
	})
	_ = ch.Pipeline().AddLast("", offload.New(pool, double, offload.Options{}))
	_ = ch.Pipeline().AddLast("", end)
	ch.Register()
	for i := 0; i < 1000; i += 10 {
		_ = l.Execute(func() {
			tr.Driver.BeginBatch()
			for n := range 10 {
				tr.Driver.Read(i + n)
			}
			tr.Driver.EndBatch()
		})
	}
}

type check func(n int)

func (c check) OnRead(_ *channel.Context, msg any) { c(msg.(int)) }

// A message costs no allocation of the handler's own.
func TestAllocations(t *testing.T) {
	allocs.Need(t)
	pool := newPool(t, 1)
	results := 0
	ch := embedded.New(offload.New(pool, func(_ context.Context, p *int) (any, error) { return p, nil }, offload.Options{}),
		counter{&results})
	defer ch.Finish()
	h := ch.Pipeline().Context(ch.Pipeline().Names()[0])
	read := h.Handler().(channel.ReadHandler)
	n := 7
	once := func() {
		want := results + 3
		for range 3 {
			read.OnRead(h, &n)
		}
		for results < want {
			ch.RunPending()
			runtime.Gosched()
		}
	}
	for range 10 {
		once()
	}
	if got := testing.AllocsPerRun(100, once); got > 0 {
		t.Errorf("%v allocations for 3 messages", got)
	}
}

type counter struct{ n *int }

func (c counter) OnRead(*channel.Context, any) { *c.n++ }

func Example() {
	pool := offload.NewPool(offload.PoolOptions{Workers: 4})
	defer func() { _ = pool.Close(context.Background()) }()
	// In a real program: a query of a database.
	look := func(ctx context.Context, name string) (any, error) { return "hello " + name, nil }
	done := make(chan struct{})
	ch := embedded.New(offload.New(pool, look, offload.Options{}), print(func(msg any) {
		fmt.Println(msg)
		close(done)
	}))
	defer ch.Finish()
	_ = ch.WriteInbound("ada")
	for open := true; open; {
		ch.RunPending()
		select {
		case <-done:
			open = false
		default:
			runtime.Gosched()
		}
	}
	// Output: hello ada
}

type print func(msg any)

func (p print) OnRead(_ *channel.Context, msg any) { p(msg) }
