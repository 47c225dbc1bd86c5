package conformance

import (
	"errors"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

var panicCases = []testCase{
	{"inbound", panicInbound},
	{"inbound, nobody takes it", panicUnhandled},
	{"outbound", panicOutbound},
	{"outbound, at the start", panicAtStart},
	{"in a write listener", panicInListener},
	{"in OnError", panicInOnError},
	{"over a buffer closed after its write", both(closedAfterWrite)},
	{"over a buffer closed while it waits", both(closedWhileItWaits)},
}

// closedAfterWrite closes what it has written: the channel ends, and only that.
func closedAfterWrite(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	a.probe.takeErr, b.probe.takeErr = true, true
	var first, second channel.Future
	a.probe.on["OnRead"] = func(ctx *channel.Context) {
		first = ctx.Write(buffer.Wrap(make([]byte, 1000)))
		mine := buffer.Wrap(make([]byte, 1000))
		second = ctx.Write(mine)
		mine.Close()
		ctx.Flush()
	}
	p.connect()
	b.ch.WriteAndFlush(buffer.CopyString("x"))
	a.probe.awaitEnd()
	b.probe.awaitEnd()
	if err := e.wait(second); !errors.Is(err, buffer.ErrClosed) {
		e.Errorf("the write ended with %v", err)
	}
	_ = e.wait(first) // it has an end, too
	e.barrier()
}

// closedWhileItWaits closes what waits behind something that the transport has taken a part of.
func closedWhileItWaits(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	b.config = autoReadOff
	b.probe.discard = true
	a.probe.takeErr, b.probe.takeErr = true, true
	p.connect()
	_, before := e.fill(a)
	mine := buffer.Wrap(make([]byte, 1<<20))
	f := a.ch.WriteAndFlush(mine)
	e.onLoop(a.ch, mine.Close)
	b.ch.SetAutoRead(true)
	a.probe.awaitEnd()
	b.probe.awaitEnd()
	_ = e.wait(before) // it may have left, or not
	if err := e.wait(f); !errors.Is(err, buffer.ErrClosed) {
		e.Errorf("the write ended with %v", err)
	}
}

// recovered checks that the probe's error is the panic with the value.
func (e *env) recovered(p *probe, value any) {
	e.Helper()
	p.awaitEvent("OnError")
	errs := p.errors()
	var panicked *channel.PanicError
	if len(errs) != 1 || !errors.As(errs[0], &panicked) || panicked.Value != value || panicked.Handler != "probe" {
		e.Errorf("errors %v, want the panic %v", errs, value)
	}
}

// panicInbound panics in one event after the other; the handler gets its own panic as
// OnError, and its channel lives.
func panicInbound(e *env) {
	for _, event := range []string{"Added", "OnRegistered", "OnActive", "OnRead", "OnReadComplete",
		"OnEvent", "OnWritability", "OnShutdown", "OnInactive", "OnUnregistered", "Removed"} {
		e.Run(event, func(t *testing.T) {
			t.Parallel()
			panicInEvent(newEnv(t, e.maker), event)
		})
	}
}

func panicInEvent(e *env, event string) {
	p := e.newPair()
	a, b := p.server, p.client
	a.config, b.config = halfClosure, halfClosure
	a.probe.takeErr = true
	a.probe.on[event] = func(*channel.Context) {
		if a.probe.seen(event) == 1 {
			panic(event)
		}
	}
	p.connect()
	a.ch.FireEvent("event")
	a.ch.WriteAndFlush(buffer.Wrap(make([]byte, 100<<10)))
	b.probe.awaitBytes(100 << 10)
	e.must(b.ch.WriteAndFlush(buffer.CopyString("1")))
	a.probe.awaitBytes(1)
	e.must(b.ch.WriteAndFlush(buffer.CopyString("2")))
	a.probe.awaitBytes(2)
	e.must(b.ch.Shutdown(channel.Outbound))
	a.probe.awaitEvent("OnShutdown inbound")
	e.must(a.ch.WriteAndFlush(buffer.CopyString("3")))
	b.probe.awaitBytes(100<<10 + 1)
	if !a.ch.IsActive() {
		e.Error("the channel has closed though the panic was handled")
	}
	e.must(a.ch.Close())
	a.probe.awaitEnd()
	if event != "Removed" { // then there is no handler any more
		e.recovered(a.probe, event)
	}
	e.barrier()
}

func panicUnhandled(e *env) {
	p := e.newPair()
	p.server.probe.on["OnRead"] = func(*channel.Context) { panic("unhandled") }
	p.connect()
	p.client.ch.WriteAndFlush(buffer.CopyString("x"))
	p.server.probe.awaitEnd()
	e.recovered(p.server.probe, "unhandled")
	p.client.probe.awaitEnd()
	e.barrier()
}

// panicOutbound panics in one operation after the other: the caller sees a failed future,
// and the channel closes.
func panicOutbound(e *env) {
	for _, c := range []struct {
		name string
		call func(ch *channel.Channel) channel.Future
	}{
		{"Write", func(ch *channel.Channel) channel.Future { return ch.WriteAndFlush(buffer.CopyString("x")) }},
		{"Flush", func(ch *channel.Channel) channel.Future { ch.Flush(); return channel.Future{} }},
		{"Read", func(ch *channel.Channel) channel.Future { ch.Read(); return channel.Future{} }},
		{"Shutdown", func(ch *channel.Channel) channel.Future { return ch.Shutdown(channel.Outbound) }},
		{"Close", func(ch *channel.Channel) channel.Future { return ch.Close() }},
		{"Deregister", func(ch *channel.Channel) channel.Future { return ch.Deregister() }},
		{"SendEvent", func(ch *channel.Channel) channel.Future { return ch.SendEvent("x") }},
		{"Disconnect", func(ch *channel.Channel) channel.Future { return ch.Disconnect() }},
	} {
		e.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t, e.maker)
			p := e.newPair()
			p.connect()
			e.onLoop(p.client.ch, func() {
				p.client.probe.on[c.name] = func(*channel.Context) { panic(c.name) }
			})
			f := c.call(p.client.ch)
			var panicked *channel.PanicError
			switch err := e.wait(f); {
			case f == (channel.Future{}):
			case !errors.As(err, &panicked) || panicked.Value != c.name:
				e.Errorf("the future: %v, want the panic", err)
			}
			p.client.probe.awaitEnd()
			p.server.probe.awaitEnd()
			if errs := p.client.probe.errors(); len(errs) != 0 {
				e.Errorf("errors %v", errs)
			}
		})
	}
}

// panicAtStart panics in the operations that come before there is a connection.
func panicAtStart(e *env) {
	for _, operation := range []string{"Register", "Connect"} {
		p := e.newPair()
		p.client.probe.on[operation] = func(*channel.Context) { panic(operation) }
		_, err := p.start(p.listen()).Wait(e.ctx)
		var panicked *channel.PanicError
		if !errors.As(err, &panicked) || panicked.Value != operation {
			e.Errorf("%s: the connect ended with %v", operation, err)
		}
		p.client.probe.awaitEnd()
	}
}

func panicInListener(e *env) {
	p := e.newPair().connect()
	p.client.ch.WriteAndFlush(buffer.CopyString("x")).OnComplete(func(channel.Future) { panic("listener") })
	e.must(p.client.ch.WriteAndFlush(buffer.CopyString("y")))
	p.server.probe.awaitBytes(2)
	if !p.client.ch.IsActive() {
		e.Error("the channel has closed")
	}
}

func panicInOnError(e *env) {
	p := e.newPair()
	p.server.probe.on["OnRead"] = func(*channel.Context) { panic("first") }
	p.server.probe.on["OnError"] = func(*channel.Context) { panic("second") }
	p.connect()
	p.client.ch.WriteAndFlush(buffer.CopyString("x"))
	p.server.probe.awaitEnd()
	p.client.probe.awaitEnd()
	e.barrier()
}
