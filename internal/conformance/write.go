package conformance

import (
	"errors"
	"slices"
	"sync"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

var writeCases = []testCase{
	{"future waits for the flush", writeWaitsForFlush},
	{"futures in order", futuresInOrder},
	{"pending at close", both(pendingAtClose)},
	{"pending at reset", both(pendingAtReset)},
	{"unflushed at close", unflushedAtClose},
	{"after close", writeAfterClose},
	{"unsupported message", unsupportedMessage},
	{"flushed right before close", both(flushedBeforeClose)},
	{"listener writes", listenerWrites},
	{"progress of blocked output", progressOfBlocked},
}

func writeWaitsForFlush(e *env) {
	p := e.newPair().connect()
	f := p.client.ch.Write(buffer.CopyString("x"))
	e.barrier()
	if f.IsDone() || p.server.probe.received() != 0 {
		e.Fatal("sent without a flush")
	}
	p.client.ch.Flush()
	e.must(f)
	p.server.probe.awaitBytes(1)
}

func futuresInOrder(e *env) {
	const n = 200
	p := e.newPair()
	p.server.config = autoReadOff
	p.server.probe.discard = true
	p.connect()
	e.fill(p.client)
	var mu sync.Mutex
	var order []int
	var last channel.Future
	for i := range n {
		last = p.client.ch.Write(buffer.Wrap(make([]byte, 40<<10)))
		last.OnComplete(func(channel.Future) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, i)
		})
	}
	p.client.ch.Flush()
	e.barrier()
	if last.IsDone() {
		e.Errorf("the last write is done though the peer reads nothing")
	}
	p.server.ch.SetAutoRead(true)
	e.must(last)
	p.client.probe.await("all listeners", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(order) == n || !p.client.ch.IsOpen()
	})
	mu.Lock()
	defer mu.Unlock()
	if !slices.IsSorted(order) || len(order) != n {
		e.Errorf("%d listeners in the order %v", len(order), order)
	}
}

func pendingAtClose(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	b.config = autoReadOff
	p.connect()
	b.probe.discard = true
	first := a.ch.Write(buffer.Wrap(make([]byte, 1<<10)))
	size, sent := e.fill(a)
	last := a.ch.WriteAndFlush(buffer.CopyString("last"))
	e.must(first)
	e.must(a.ch.Close())
	for _, f := range []channel.Future{sent, last} {
		if err := e.wait(f); !errors.Is(err, channel.ErrClosed) {
			e.Errorf("the write failed with %v, want ErrClosed", err)
		}
	}
	e.onLoop(a.ch, func() {
		if n := a.ch.PendingBytes(); n != 0 {
			e.Errorf("%d bytes are still pending", n)
		}
	})
	b.ch.SetAutoRead(true)
	b.probe.awaitEnd() // by the end of input or by a reset
	if n := b.probe.received(); n >= size {
		e.Errorf("the peer received %d bytes", n)
	}
}

func pendingAtReset(e *env, end string) {
	if e.maker.NoReset {
		e.Skip("has no way to reset a connection")
	}
	p := e.newPair()
	a, b := p.ends(end)
	b.config = autoReadOff
	a.probe.on["OnError"] = func(ctx *channel.Context) { ctx.Close() } // as many do
	p.connect()
	first := a.ch.Write(buffer.Wrap(make([]byte, 1<<10)))
	_, sent := e.fill(a)
	last := a.ch.WriteAndFlush(buffer.CopyString("last"))
	e.must(first)
	e.onLoop(a.ch, func() {})
	e.must(b.ch.Close()) // with unread input
	for _, f := range []channel.Future{sent, last} {
		if err := e.wait(f); !isLost(err) {
			e.Errorf("the write failed with %v, want the loss of the connection", err)
		}
	}
	a.probe.awaitEnd()
	if errs := a.probe.errors(); len(errs) != 1 || !isLost(errs[0]) {
		e.Errorf("errors %v, want the loss of the connection once", errs)
	}
}

func unflushedAtClose(e *env) {
	p := e.newPair().connect()
	f := p.client.ch.Write(buffer.CopyString("never sent"))
	e.must(p.client.ch.Close())
	if err := e.wait(f); !errors.Is(err, channel.ErrClosed) {
		e.Errorf("the write failed with %v, want ErrClosed", err)
	}
	p.server.probe.awaitEnd()
	if got := p.server.probe.bytes(); len(got) != 0 {
		e.Errorf("the peer received %q", got)
	}
}

func writeAfterClose(e *env) {
	p := e.newPair().connect()
	e.must(p.client.ch.Close())
	b := buffer.CopyString("too late")
	if err := e.wait(p.client.ch.WriteAndFlush(b)); !errors.Is(err, channel.ErrClosed) {
		e.Errorf("the write failed with %v, want ErrClosed", err)
	}
	if !b.IsClosed() {
		e.Error("the message was not closed")
	}
	p.client.ch.Flush()
	e.barrier()
}

type unknownMessage struct{ closed chan struct{} }

func (m *unknownMessage) Close() { close(m.closed) }

func unsupportedMessage(e *env) {
	p := e.newPair().connect()
	m := &unknownMessage{make(chan struct{})}
	if err := e.wait(p.client.ch.WriteAndFlush(m)); !errors.Is(err, channel.ErrUnsupportedMessage) {
		e.Errorf("the write failed with %v, want ErrUnsupportedMessage", err)
	}
	<-m.closed
	e.must(p.client.ch.WriteAndFlush(buffer.CopyString("x"))) // the channel lives
	p.server.probe.awaitBytes(1)
}

// flushedBeforeClose: what was flushed leaves although the channel is closed at once.
func flushedBeforeClose(e *env, end string) {
	p := e.newPair().connect()
	a, b := p.ends(end)
	var f channel.Future
	e.onLoop(a.ch, func() {
		a.ch.Write(buffer.CopyString("good"))
		f = a.ch.WriteAndFlush(buffer.CopyString("bye"))
		a.ch.Close()
	})
	b.probe.awaitEnd()
	if got := string(b.probe.bytes()); got != "goodbye" {
		e.Errorf("the peer received %q", got)
	}
	if err := e.wait(f); err != nil && !(e.maker.LateWrites && errors.Is(err, channel.ErrClosed)) {
		e.Errorf("the write failed with %v", err)
	}
}

// listenerWrites answers from the listeners of writes, one after the other.
func listenerWrites(e *env) {
	const n = 1000
	p := e.newPair().connect()
	ch := p.client.ch
	left := n
	var next func(channel.Future)
	next = func(f channel.Future) {
		if left--; left > 0 && f.IsSuccess() {
			ch.WriteAndFlush(buffer.CopyString("x")).OnComplete(next)
		}
	}
	ch.WriteAndFlush(buffer.CopyString("x")).OnComplete(next)
	p.server.probe.awaitBytes(n)
}

// progressOfBlocked: OutputBlocked tells a peer that reads from one that doesn't.
func progressOfBlocked(e *env) {
	p := e.newPair()
	p.server.config = autoReadOff
	p.server.probe.discard = true
	p.connect()
	ch := p.client.ch
	_, sent := e.fill(p.client)
	state := func() (blocked bool, since, now time.Duration) {
		e.onLoop(ch, func() {
			blocked, since = ch.OutputBlocked()
			now = ch.Loop().Now()
		})
		return blocked, since, now
	}
	blocked, first, _ := state()
	if !blocked {
		e.Fatal("not blocked by a peer that reads nothing")
	}
	if !poll(func() bool { _, _, now := state(); return now > first }) {
		e.Fatal("the loop's clock stands still")
	}
	if _, since, _ := state(); since != first {
		e.Errorf("took something at %v, after %v, though the peer reads nothing", since, first)
	}
	for since := first; since == first; blocked, since, _ = state() {
		batches := p.server.probe.seen("OnReadComplete")
		p.server.ch.Read()
		p.server.probe.awaitEvents("OnReadComplete", batches+1)
		e.barrier()
	}
	if !blocked {
		e.Fatalf("no progress was seen before all of %d bytes had left", p.server.probe.received())
	}
	p.server.ch.SetAutoRead(true)
	e.must(sent)
	if blocked, _, _ := state(); blocked {
		e.Error("blocked though everything was sent")
	}
}
