package conformance

import (
	"errors"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/future"
)

var shutdownCases = []testCase{
	{"closes channels", shutdownCloses},
	{"closes at once what handlers keep open", shutdownInsists},
	{"while connecting", shutdownWhileConnecting},
}

// shutdownCloses ends the loops while a listener and connections are open.
func shutdownCloses(e *env) {
	p := e.newPair()
	p.server.config = autoReadOff
	p.server.probe.takeErr, p.client.probe.takeErr = true, true
	p.connect()
	l := p.server.ch.Parent()
	idle := e.unconnected(&side{probe: newProbe(e)})
	_, blocked := e.fill(p.client)
	e.must(e.clientGroup.Shutdown(0, patience))
	if err := e.wait(blocked); !errors.Is(err, channel.ErrClosed) && !isLost(err) {
		e.Errorf("the write failed with %v", err)
	}
	e.must(e.serverGroup.Shutdown(0, patience))
	for _, ch := range []*channel.Channel{l, p.server.ch, p.client.ch, idle} {
		if ch.IsOpen() {
			e.Errorf("%v is still open", ch)
		}
		e.must(ch.CloseFuture())
	}
	for _, s := range []*side{p.server, p.client} {
		s.probe.awaitEnd()
	}
	f := p.client.ch.WriteAndFlush(buffer.CopyString("x"))
	if err := e.wait(f); err == nil {
		e.Error("a write after the loop's end has succeeded")
	}
}

// stubborn is a handler that never lets a channel close.
type stubborn struct{}

func (stubborn) Close(ctx *channel.Context) channel.Future {
	return future.NewPromise[future.Void](ctx.Executor()).Future()
}

func shutdownInsists(e *env) {
	p := e.newPair().connect()
	e.onLoop(p.client.ch, func() {
		if err := p.client.ch.Pipeline().AddFirst("stubborn", stubborn{}); err != nil {
			e.Error(err)
		}
	})
	e.must(e.clientGroup.Shutdown(0, 50*time.Millisecond)) // the deadline that it runs into
	p.client.probe.awaitEnd()
	if p.client.ch.IsOpen() {
		e.Error("the channel is open without a loop")
	}
	if !e.maker.OneLoop {
		p.server.probe.awaitEnd()
	}
}

func shutdownWhileConnecting(e *env) {
	_, futures := e.fillBacklog(nil)
	e.must(e.clientGroup.Shutdown(0, patience))
	for _, f := range futures {
		if _, err := f.Wait(e.ctx); errors.Is(err, e.ctx.Err()) && err != nil {
			e.Errorf("a connect is still pending: %v", err)
		}
	}
}
