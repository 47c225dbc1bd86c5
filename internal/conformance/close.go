package conformance

import (
	"errors"
	"sync"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

var closeCases = []testCase{
	{"inside a callback", closeInsideCallbacks},
	{"inside a write listener", both(closeInsideListener)},
	{"inside a connect listener", closeInsideConnectListener},
	{"from many goroutines", closeFromMany},
	{"while both send", both(closeWhileBothSend)},
	{"never registered", closeUnregistered},
	{"of a listener", closeListener},
	{"of a listener with connections to accept", closeListenerWithBacklog},
	{"disconnect", disconnect},
}

// closingCallbacks are the callbacks that close the channel, with what brings each about.
// The channel is that of a's probe.
var closingCallbacks = []struct {
	name string
	// cause is called when both are connected; nil if connecting is cause enough.
	cause func(e *env, a, b *side)
}{
	{"Added", nil},
	{"OnRegistered", nil},
	{"OnActive", nil},
	{"Register", nil},
	{"Read", nil},
	{"OnRead", func(_ *env, _, b *side) { b.ch.WriteAndFlush(buffer.CopyString("x")) }},
	{"OnReadComplete", func(_ *env, _, b *side) { b.ch.WriteAndFlush(buffer.CopyString("x")) }},
	{"OnEvent", func(_ *env, a, _ *side) { a.ch.FireEvent("close") }},
	{"OnWritability", func(_ *env, a, _ *side) { a.ch.Write(buffer.Wrap(make([]byte, 1<<20))) }},
	{"OnShutdown", func(_ *env, _, b *side) { b.ch.Shutdown(channel.Outbound) }},
	{"OnError", func(e *env, a, _ *side) {
		e.onLoop(a.ch, func() { a.probe.on["OnEvent"] = func(*channel.Context) { panic("for the probe") } })
		a.ch.FireEvent("panic")
	}},
	{"OnInactive", func(_ *env, a, _ *side) { a.ch.Close() }},
	{"OnUnregistered", func(_ *env, a, _ *side) { a.ch.Close() }},
	{"Removed", func(_ *env, a, _ *side) { a.ch.Close() }},
	{"Close", func(_ *env, a, _ *side) { a.ch.Close() }},
	{"Write", func(_ *env, a, _ *side) { a.ch.WriteAndFlush(buffer.CopyString("x")) }},
	{"Flush", func(_ *env, a, _ *side) { a.ch.WriteAndFlush(buffer.CopyString("x")) }},
	{"Shutdown", func(_ *env, a, _ *side) { a.ch.Shutdown(channel.Outbound) }},
	{"Deregister", func(_ *env, a, _ *side) { a.ch.Deregister() }},
}

func closeInsideCallbacks(e *env) {
	for _, callback := range closingCallbacks {
		for _, end := range []string{"server", "client"} {
			e.Run(callback.name+" of the "+end, func(t *testing.T) {
				t.Parallel()
				closeInside(newEnv(t, e.maker), end, callback.name, callback.cause)
			})
		}
	}
}

func closeInside(e *env, end, callback string, cause func(e *env, a, b *side)) {
	p := e.newPair()
	a, b := p.ends(end)
	a.config, b.config = halfClosure, halfClosure
	a.probe.takeErr = true
	arm := func() {
		once := false
		a.probe.on[callback] = func(ctx *channel.Context) {
			if !once { // closing comes by some of them again
				once = true
				ctx.Write(buffer.CopyString("pending"))
				ctx.Close()
				ctx.Write(buffer.CopyString("too late"))
				ctx.Flush()
			}
		}
	}
	if cause == nil {
		arm()
		p.start(p.listen())
	} else {
		p.connect()
		e.onLoop(a.ch, arm)
		cause(e, a, b)
	}
	a.probe.awaitEnd()
	if n := a.probe.seen("OnUnregistered"); n != a.probe.seen("OnRegistered") {
		e.Errorf("events %q", a.probe.list())
	}
	if n := a.probe.seen("OnInactive"); n != a.probe.seen("OnActive") {
		e.Errorf("events %q", a.probe.list())
	}
	if list := a.probe.list(); list[len(list)-1] != "Removed" {
		e.Errorf("events after Removed: %q", list)
	}
	for _, err := range a.probe.errors() {
		var panicked *channel.PanicError
		if !errors.As(err, &panicked) || callback != "OnError" {
			e.Errorf("error %v", err)
		}
	}
	a.ch = a.probe.channel()
	e.must(a.ch.CloseFuture())
	if b.probe.seen("OnActive") > 0 {
		b.probe.channel().Close()
		b.probe.awaitEnd()
	}
}

func closeInsideListener(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	b.config = autoReadOff
	p.connect()
	b.probe.discard = true
	e.fill(a)
	first := a.ch.Write(buffer.CopyString("first"))
	first.OnComplete(func(channel.Future) { a.ch.Close() })
	behind := a.ch.WriteAndFlush(buffer.Wrap(make([]byte, 8<<20)))
	b.ch.SetAutoRead(true)
	e.must(first)
	if err := e.wait(behind); err != nil && !errors.Is(err, channel.ErrClosed) {
		e.Errorf("the write behind it, which may have left with it: %v, want ErrClosed", err)
	}
	a.probe.awaitEnd()
	b.ch.SetAutoRead(true)
	b.probe.awaitEnd()
}

func closeInsideConnectListener(e *env) {
	p := e.newPair()
	addr := p.listen()
	ch, err := e.newClient(p.client).CreateUnregistered()
	if err != nil {
		e.Fatal(err)
	}
	e.must(ch.Register())
	e.onLoop(ch, func() { // from elsewhere the listener could come too late
		ch.Connect(addr, nil).OnComplete(func(channel.Future) { ch.Close() })
	})
	p.client.probe.awaitEnd()
	if n := p.client.probe.seen("OnActive") + p.client.probe.seen("OnInactive"); n != 0 {
		e.Errorf("events %q", p.client.probe.list())
	}
	p.server.probe.awaitEnd()
}

func closeFromMany(e *env) {
	p := e.newPair().connect()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			p.client.ch.WriteAndFlush(buffer.CopyString("x"))
			e.must(p.client.ch.Close())
			e.must(p.client.ch.CloseFuture())
		})
	}
	wg.Wait()
	p.client.probe.awaitEnd()
	p.server.probe.awaitEnd()
	for _, event := range []string{"OnInactive", "OnUnregistered", "Removed"} {
		if n := p.client.probe.seen(event); n != 1 {
			e.Errorf("%d × %s", n, event)
		}
	}
}

// closeWhileBothSend closes in the middle of traffic in both directions.
func closeWhileBothSend(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	for _, s := range []*side{a, b} {
		s.probe.echo, s.probe.discard, s.probe.takeErr = true, true, true
	}
	p.connect()
	for range 64 {
		a.ch.WriteAndFlush(buffer.Wrap(make([]byte, 8<<10)))
		b.ch.WriteAndFlush(buffer.Wrap(make([]byte, 8<<10)))
	}
	b.probe.awaitBytes(1 << 20)
	e.must(a.ch.Close())
	a.probe.awaitEnd()
	b.probe.awaitEnd()
	e.barrier()
}

func closeUnregistered(e *env) {
	p := e.newPair()
	ch, err := e.newClient(p.client).CreateUnregistered()
	if err != nil {
		e.Fatal(err)
	}
	f := ch.WriteAndFlush(buffer.CopyString("x"))
	e.must(ch.Close())
	if err := e.wait(f); !errors.Is(err, channel.ErrClosed) {
		e.Errorf("the write: %v", err)
	}
	if err := e.wait(ch.Register()); !errors.Is(err, channel.ErrClosed) {
		e.Errorf("Register of a closed channel: %v", err)
	}
	p.client.probe.awaitEnd()
	if n := p.client.probe.seen("OnUnregistered") + p.client.probe.seen("OnInactive"); n != 0 {
		e.Errorf("events %q", p.client.probe.list())
	}
}

func closeListener(e *env) {
	p := e.newPair().connect()
	l := p.server.ch.Parent()
	addr := l.LocalAddr()
	e.must(l.Close())
	e.must(p.client.ch.WriteAndFlush(buffer.CopyString("x"))) // what was accepted lives
	p.server.probe.awaitBytes(1)
	again := e.newPair()
	if _, err := again.start(addr).Wait(e.ctx); err == nil {
		e.Error("connected to a closed listener")
	}
	again.client.probe.awaitEnd()
	l = channel.New(e.serverGroup.Next(), e.transport.NewListener(), config(autoReadOff), nil)
	e.must(l.Register())
	e.must(l.Bind(addr)) // the address is free
}

// closeListenerWithBacklog: who is connected but not accepted loses the connection.
func closeListenerWithBacklog(e *env) {
	p := e.newPair()
	p.client.probe.takeErr = true
	l := channel.New(e.serverGroup.Next(), e.transport.NewListener(), config(autoReadOff), nil)
	e.must(l.Register())
	e.must(l.Bind(e.maker.Addr(e.T)))
	if _, err := p.start(l.LocalAddr()).Wait(e.ctx); err != nil {
		e.Fatal(err)
	}
	e.must(l.Close())
	p.client.probe.awaitEnd()
}

func disconnect(e *env) {
	p := e.newPair().connect()
	e.must(p.client.ch.Disconnect())
	p.client.probe.awaitEnd()
	p.server.probe.awaitEnd()
}
