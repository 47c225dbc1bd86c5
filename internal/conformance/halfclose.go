package conformance

import (
	"bytes"
	"errors"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

var halfCloseCases = []testCase{
	{"allowed", both(halfCloseAllowed)},
	{"not allowed", both(halfCloseNotAllowed)},
	{"after pending writes", both(shutdownAfterPending)},
	{"unflushed writes fail", shutdownUnflushed},
	{"inbound", both(shutdownInbound)},
	{"both directions close", both(shutdownBoth)},
	{"peer's end while writes pend", both(endWhilePending)},
	{"twice", shutdownTwice},
	{"inside a write listener", both(shutdownInsideListener)},
	{"before there is a connection", shutdownUnconnected},
	{"reset after the peer's end", both(resetAfterEnd)},
}

// halfCloseAllowed answers after the peer has ended its direction.
func halfCloseAllowed(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	a.config, b.config = halfClosure, halfClosure
	p.connect()
	answer := pattern(1 << 20)
	e.must(b.ch.WriteAndFlush(buffer.CopyString("question")))
	e.must(b.ch.Shutdown(channel.Outbound))
	b.probe.awaitEvent("OnShutdown outbound")
	a.probe.awaitEvent("OnShutdown inbound")
	if got := string(a.probe.bytes()); got != "question" {
		e.Errorf("before the end: %q", got)
	}
	if !a.ch.IsActive() || !b.ch.IsActive() {
		e.Fatal("closed, though only one direction has ended")
	}
	e.must(a.ch.WriteAndFlush(buffer.Copy(answer)))
	e.must(a.ch.Shutdown(channel.Outbound))
	b.probe.awaitEnd()
	a.probe.awaitEnd()
	if !bytes.Equal(b.probe.bytes(), answer) {
		e.Errorf("the answer came as %d bytes that differ", len(b.probe.bytes()))
	}
	for _, s := range []*side{a, b} {
		if in, out := s.probe.seen("OnShutdown inbound"), s.probe.seen("OnShutdown outbound"); in+out > 2 || out != 1 {
			e.Errorf("OnShutdown came %d times for inbound, %d for outbound", in, out)
		}
		if errs := s.probe.errors(); len(errs) != 0 {
			e.Errorf("errors %v", errs)
		}
	}
}

func halfCloseNotAllowed(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	b.config = halfClosure
	p.connect()
	e.must(b.ch.WriteAndFlush(buffer.CopyString("bye")))
	e.must(b.ch.Shutdown(channel.Outbound))
	a.probe.awaitEnd()
	if got := string(a.probe.bytes()); got != "bye" {
		e.Errorf("before the end: %q", got)
	}
	if n := a.probe.seen("OnShutdown"); n != 0 {
		e.Errorf("%d × OnShutdown", n)
	}
	b.probe.awaitEnd()
}

// shutdownAfterPending: the end takes its turn behind what was flushed.
func shutdownAfterPending(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	a.config = halfClosure
	b.config = func(c *channel.Config) { halfClosure(c); autoReadOff(c) }
	b.probe.discard = true
	p.connect()
	size, sent := e.fill(a)
	shut := a.ch.Shutdown(channel.Outbound)
	if err := e.wait(a.ch.WriteAndFlush(buffer.CopyString("late"))); !errors.Is(err, channel.ErrOutputShutdown) {
		e.Errorf("a write after Shutdown failed with %v, want ErrOutputShutdown", err)
	}
	e.barrier()
	if shut.IsDone() || sent.IsDone() {
		e.Error("done though the peer reads nothing")
	}
	b.ch.SetAutoRead(true)
	e.must(sent)
	e.must(shut)
	b.probe.awaitEvent("OnShutdown inbound")
	if n := b.probe.received(); n != size {
		e.Errorf("%d bytes before the end, want %d", n, size)
	}
	e.must(b.ch.WriteAndFlush(buffer.CopyString("thanks")))
	a.probe.awaitBytes(6)
	e.must(b.ch.Close()) // it has no other way to hear of the end
	a.probe.awaitEnd()
}

func shutdownUnflushed(e *env) {
	p := e.newPair()
	p.server.config, p.client.config = halfClosure, halfClosure
	p.connect()
	e.onLoop(p.client.ch, func() {
		ch := p.client.ch
		ch.Write(buffer.CopyString("flushed"))
		ch.Flush()
		f := ch.Write(buffer.CopyString("not flushed"))
		shut := ch.Shutdown(channel.Outbound)
		ch.Flush() // too late
		if !errors.Is(f.Err(), channel.ErrOutputShutdown) && shut.IsDone() {
			e.Errorf("the unflushed write: %v, want ErrOutputShutdown", f.Err())
		}
		f.OnComplete(func(f channel.Future) {
			if !errors.Is(f.Err(), channel.ErrOutputShutdown) {
				e.Errorf("the unflushed write: %v, want ErrOutputShutdown", f.Err())
			}
		})
	})
	p.server.probe.awaitEvent("OnShutdown inbound")
	if got := string(p.server.probe.bytes()); got != "flushed" {
		e.Errorf("got %q", got)
	}
}

// shutdownInbound ends reading for good, and leaves writing alone.
func shutdownInbound(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	a.config, b.config = halfClosure, halfClosure
	p.connect()
	e.must(a.ch.Shutdown(channel.Inbound))
	a.probe.awaitEvent("OnShutdown inbound")
	e.must(a.ch.Shutdown(channel.Inbound))
	a.ch.Read()
	a.ch.SetAutoRead(false)
	a.ch.SetAutoRead(true)
	e.must(b.ch.WriteAndFlush(buffer.CopyString("unheard")))
	e.must(a.ch.WriteAndFlush(buffer.CopyString("heard")))
	b.probe.awaitBytes(5)
	e.barrier()
	if n := a.probe.seen("OnRead"); n != 0 {
		e.Errorf("%d × OnRead after the input was shut down", n)
	}
	if n := a.probe.seen("OnShutdown"); n != 1 {
		e.Errorf("%d × OnShutdown", n)
	}
	e.must(a.ch.Shutdown(channel.Outbound))
	a.probe.awaitEnd()
}

// shutdownBoth closes a channel whose two directions were shut down from this end.
func shutdownBoth(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	a.config, b.config = halfClosure, halfClosure
	p.connect()
	e.must(a.ch.Shutdown(channel.Outbound))
	e.must(a.ch.Shutdown(channel.Inbound))
	a.probe.awaitEnd()
	b.probe.awaitEvent("OnShutdown inbound")
	e.must(b.ch.Close())
}

// endWhilePending goes on sending to a peer that has ended its own direction.
func endWhilePending(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	a.config = halfClosure
	b.config = func(c *channel.Config) { halfClosure(c); autoReadOff(c) }
	b.probe.discard = true
	p.connect()
	size, sent := e.fill(a)
	e.must(b.ch.Shutdown(channel.Outbound))
	a.probe.awaitEvent("OnShutdown inbound")
	if sent.IsDone() {
		e.Errorf("the write is done: %v", sent.Err())
	}
	b.ch.SetAutoRead(true)
	e.must(sent)
	b.probe.awaitBytes(size)
}

func shutdownTwice(e *env) {
	p := e.newPair()
	p.server.config = func(c *channel.Config) { halfClosure(c); autoReadOff(c) }
	p.client.config = halfClosure
	p.connect()
	p.server.probe.discard = true
	_, sent := e.fill(p.client)
	first := p.client.ch.Shutdown(channel.Outbound)
	second := p.client.ch.Shutdown(channel.Outbound)
	p.server.ch.SetAutoRead(true)
	for _, f := range []channel.Future{sent, first, second, p.client.ch.Shutdown(channel.Outbound)} {
		e.must(f)
	}
	p.client.probe.awaitEvent("OnShutdown outbound")
	e.barrier()
	if n := p.client.probe.seen("OnShutdown outbound"); n != 1 {
		e.Errorf("%d × OnShutdown(Outbound)", n)
	}
}

// shutdownInsideListener comes while the transport is taking the flushed messages: those
// behind the one whose listener it is still go first, in order.
func shutdownInsideListener(e *env, end string) {
	const size = 300 * 1000
	p := e.newPair()
	a, b := p.ends(end)
	a.config, b.config = halfClosure, halfClosure
	p.connect()
	want := pattern(size)
	shut := make(chan channel.Future, 1)
	e.onLoop(a.ch, func() {
		for rest := want; len(rest) > 0; rest = rest[1000:] {
			f := a.ch.Write(buffer.Copy(rest[:1000]))
			if len(rest) == size {
				f.OnComplete(func(channel.Future) { shut <- a.ch.Shutdown(channel.Outbound) })
			}
		}
		a.ch.Flush()
	})
	e.must(<-shut)
	b.probe.awaitEvent("OnShutdown inbound")
	if got := b.probe.bytes(); !bytes.Equal(got, want) {
		e.Errorf("%d bytes before the end, or in another order", len(got))
	}
	e.must(b.ch.Close())
	a.probe.awaitEnd()
}

func shutdownUnconnected(e *env) {
	p := e.newPair()
	addr := p.listen()
	ch, err := e.newClient(p.client).CreateUnregistered()
	if err != nil {
		e.Fatal(err)
	}
	e.must(ch.Register())
	for _, d := range []channel.Direction{channel.Inbound, channel.Outbound} {
		if err := e.wait(ch.Shutdown(d)); !errors.Is(err, channel.ErrNotConnected) {
			e.Errorf("Shutdown(%v): %v, want ErrNotConnected", d, err)
		}
	}
	e.must(ch.Connect(addr, nil)) // it did no harm
}

// resetAfterEnd: a connection whose peer has ended its direction still hears of a reset.
func resetAfterEnd(e *env, end string) {
	if e.maker.ResetByUnread || e.maker.NoReset {
		e.Skip("needs a reset of a connection with nothing unread")
	}
	p := e.newPair()
	a, b := p.ends(end)
	a.config, b.config = halfClosure, halfClosure
	a.probe.takeErr = true
	p.connect()
	e.must(b.ch.Shutdown(channel.Outbound))
	a.probe.awaitEvent("OnShutdown inbound")
	e.barrier()
	e.abort(b, a)
	if e.maker.ReadsAhead {
		// Nothing is read any more, so that only a write can find out.
		noticed := poll(func() bool {
			a.ch.WriteAndFlush(buffer.CopyString("hello?"))
			e.barrier()
			return a.probe.seen("OnError") > 0
		})
		if !noticed {
			e.Fatal("writes to a connection that was reset go on")
		}
	}
	a.probe.awaitEnd()
	if errs := a.probe.errors(); len(errs) != 1 || !isLost(errs[0]) {
		e.Errorf("errors %v, want the loss of the connection", errs)
	}
}
