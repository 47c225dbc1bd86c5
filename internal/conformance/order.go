package conformance

import (
	"slices"
	"strings"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

var orderCases = []testCase{
	{"events of a life", both(lifeEvents)},
	{"deregister and register", both(reregister)},
	{"deregister while reading and writing", both(reregisterBusy)},
	{"written before connect", writtenBeforeConnect},
	{"connect future before OnActive", connectFutureFirst},
}

// inboundEvents returns the probe's events without the outbound operations.
func inboundEvents(p *probe) []string {
	var list []string
	for _, e := range p.list() {
		if strings.HasPrefix(e, "On") || e == "Added" || e == "Removed" {
			list = append(list, e)
		}
	}
	return list
}

func lifeEvents(e *env, end string) {
	p := e.newPair().connect()
	a, b := p.ends(end)
	e.must(b.ch.WriteAndFlush(buffer.CopyString("x")))
	a.probe.awaitEvent("OnReadComplete")
	e.must(b.ch.Close())
	a.probe.awaitEnd()
	b.probe.awaitEnd()
	want := []string{"Added", "OnRegistered", "OnActive", "OnRead", "OnReadComplete", "OnInactive", "OnUnregistered", "Removed"}
	if got := inboundEvents(a.probe); !slices.Equal(got, want) {
		e.Errorf("events %q, want %q", got, want)
	}
	want = slices.DeleteFunc(want, func(s string) bool { return strings.HasPrefix(s, "OnRead") })
	if got := inboundEvents(b.probe); !slices.Equal(got, want) {
		e.Errorf("events of the end that closed: %q, want %q", got, want)
	}
	if a.ch.IsOpen() || a.ch.IsActive() || e.wait(a.ch.CloseFuture()) != nil {
		e.Error("the channel doesn't count as closed")
	}
	a.ch.FireEvent("late")
	e.barrier()
	if n := a.probe.seen("OnEvent"); n != 0 {
		e.Errorf("%d events after Removed", n)
	}
}

func reregister(e *env, end string) {
	p := e.newPair().connect()
	a, b := p.ends(end)
	e.must(a.ch.Deregister())
	a.probe.awaitEvent("OnUnregistered")
	e.must(b.ch.WriteAndFlush(buffer.CopyString("x")))
	e.barrier()
	if n := a.probe.received(); n != 0 {
		e.Fatalf("%d bytes while it was not registered", n)
	}
	e.must(a.ch.Register())
	a.probe.awaitBytes(1)
	e.must(a.ch.WriteAndFlush(buffer.CopyString("y")))
	b.probe.awaitBytes(1)
	e.must(a.ch.Deregister())
	e.must(a.ch.Close())
	a.probe.awaitEnd()
	want := []string{"Added", "OnRegistered", "OnActive", "OnUnregistered", "OnRegistered",
		"OnRead", "OnReadComplete", "OnUnregistered", "OnInactive", "Removed"}
	if got := inboundEvents(a.probe); !slices.Equal(got, want) {
		e.Errorf("events %q, want %q", got, want)
	}
}

// reregisterBusy leaves the loop in the middle of a read batch, with writes that the peer
// has not made room for.
func reregisterBusy(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	b.config = autoReadOff
	b.probe.discard = true
	a.probe.on["OnRead"] = func(ctx *channel.Context) {
		if a.probe.seen("OnUnregistered") == 0 {
			ctx.Deregister()
		}
	}
	p.connect()
	size, sent := e.fill(a)
	e.must(b.ch.WriteAndFlush(buffer.CopyString("x")))
	a.probe.awaitEvent("OnUnregistered")
	b.ch.SetAutoRead(true)
	e.must(a.ch.Register())
	e.must(sent)
	b.probe.awaitBytes(size)
	e.must(b.ch.WriteAndFlush(buffer.CopyString("y")))
	a.probe.awaitBytes(2)
}

// writtenBeforeConnect sends what was written and flushed before there was a connection.
func writtenBeforeConnect(e *env) {
	p := e.newPair()
	addr := p.listen()
	ch, err := e.newClient(p.client).CreateUnregistered()
	if err != nil {
		e.Fatal(err)
	}
	e.must(ch.Register())
	first := ch.Write(buffer.CopyString("early "))
	ch.Flush()
	e.must(ch.Connect(addr, nil))
	e.must(first)
	e.must(ch.WriteAndFlush(buffer.CopyString("late")))
	p.server.probe.awaitBytes(int64(len("early late")))
	if got := string(p.server.probe.bytes()); got != "early late" {
		e.Errorf("got %q", got)
	}
}

func connectFutureFirst(e *env) {
	p := e.newPair()
	addr := p.listen()
	ch, err := e.newClient(p.client).CreateUnregistered()
	if err != nil {
		e.Fatal(err)
	}
	e.must(ch.Register())
	done := make(chan [2]bool, 1)
	e.onLoop(ch, func() { // from elsewhere the listener could come too late
		ch.Connect(addr, nil).OnComplete(func(channel.Future) {
			done <- [2]bool{ch.IsActive(), p.client.probe.seen("OnActive") == 0}
		})
	})
	if got := <-done; got != [2]bool{true, true} {
		e.Errorf("in the future's listener: active %v, before OnActive %v; want both", got[0], got[1])
	}
	p.client.probe.awaitEvent("OnActive")
}
