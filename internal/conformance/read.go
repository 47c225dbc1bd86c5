package conformance

import (
	"millrace.dev/buffer"
	"millrace.dev/channel"
)

var readCases = []testCase{
	{"off from the start", both(readOffFromStart)},
	{"one batch a Read", both(oneBatchARead)},
	{"off inside OnRead", both(offInsideOnRead)},
	{"off and on inside a batch", both(offAndOn)},
	{"Read inside OnReadComplete", both(readInsideComplete)},
	{"Read held back by a handler", readHeldBack},
	{"off holds the end back", both(offHoldsEndBack)},
	{"off after the last batch", both(offAfterLastBatch)},
	{"Read that waits while deregistered", both(readWhileDeregistered)},
}

// smallReads makes batches of many small reads.
func smallReads(c *channel.Config) { c.ReadBuffer, c.ReadBufferMax = 512, 512 }

func readOffFromStart(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	a.config = autoReadOff
	p.connect()
	e.must(b.ch.WriteAndFlush(buffer.CopyString("x")))
	e.barrier()
	if n := a.probe.received(); n != 0 {
		e.Fatalf("%d bytes though nobody asked for any", n)
	}
	a.ch.SetAutoRead(true)
	a.probe.awaitBytes(1)
}

func oneBatchARead(e *env, end string) {
	const batch = 4 // reads
	p := e.newPair()
	a, b := p.ends(end)
	a.config = func(c *channel.Config) { autoReadOff(c); smallReads(c); c.MaxReadsPerTurn = batch }
	p.connect()
	for range 40 {
		e.must(b.ch.WriteAndFlush(buffer.Wrap(make([]byte, 512))))
	}
	e.barrier()
	for round := range 3 {
		a.ch.Read()
		a.probe.awaitEvents("OnReadComplete", round+1)
		e.barrier()
		if n := a.probe.seen("OnReadComplete"); n != round+1 {
			e.Fatalf("%d batches for %d Reads", n, round+1)
		}
		if n := a.probe.seen("OnRead"); n > batch*(round+1) {
			e.Fatalf("%d reads in %d batches of at most %d", n, round+1, batch)
		}
	}
	a.ch.SetAutoRead(true)
	a.probe.awaitBytes(40 * 512)
}

func offInsideOnRead(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	a.config = smallReads
	p.connect()
	e.onLoop(a.ch, func() { a.probe.on["OnRead"] = func(ctx *channel.Context) { ctx.Channel().SetAutoRead(false) } })
	e.must(b.ch.WriteAndFlush(buffer.Wrap(make([]byte, 8<<10))))
	a.probe.awaitEvent("OnReadComplete")
	e.barrier()
	if n := a.probe.seen("OnRead"); n != 1 {
		e.Fatalf("%d messages, want none after the one that turned it off", n)
	}
	e.onLoop(a.ch, func() { delete(a.probe.on, "OnRead") })
	a.ch.SetAutoRead(true)
	a.probe.awaitBytes(8 << 10)
}

// offAndOn leaves the channel reading.
func offAndOn(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	a.config = smallReads
	p.connect()
	e.onLoop(a.ch, func() {
		a.probe.on["OnRead"] = func(ctx *channel.Context) {
			ctx.Channel().SetAutoRead(false)
			ctx.Channel().SetAutoRead(true)
		}
	})
	e.must(b.ch.WriteAndFlush(buffer.Wrap(make([]byte, 64<<10))))
	a.probe.awaitBytes(64 << 10)
}

func readInsideComplete(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	a.config = func(c *channel.Config) { autoReadOff(c); smallReads(c); c.MaxReadsPerTurn = 2 }
	a.probe.on["OnActive"] = func(ctx *channel.Context) { ctx.Read() }
	a.probe.on["OnReadComplete"] = func(ctx *channel.Context) { ctx.Read() }
	p.connect()
	e.must(b.ch.WriteAndFlush(buffer.Wrap(make([]byte, 16<<10))))
	a.probe.awaitBytes(16 << 10)
}

// readGate is a handler that decides whether more is read.
type readGate struct {
	open bool
	held int
}

func (g *readGate) Read(ctx *channel.Context) {
	if !g.open {
		g.held++
		return
	}
	ctx.Read()
}

func readHeldBack(e *env) {
	p := e.newPair().connect()
	a, b := p.server, p.client
	gate := &readGate{}
	e.onLoop(a.ch, func() {
		if err := a.ch.Pipeline().AddFirst("gate", gate); err != nil {
			e.Error(err)
		}
	})
	e.must(b.ch.WriteAndFlush(buffer.CopyString("1"))) // was asked for before
	a.probe.awaitEvent("OnReadComplete")
	e.must(b.ch.WriteAndFlush(buffer.CopyString("2")))
	e.barrier()
	if n := a.probe.received(); n != 1 {
		e.Fatalf("%d bytes, want the gate to hold the second one back", n)
	}
	e.onLoop(a.ch, func() {
		if gate.held == 0 {
			e.Error("the gate was not asked")
		}
		gate.open = true
		a.ch.Read()
	})
	a.probe.awaitBytes(2)
	e.must(b.ch.WriteAndFlush(buffer.CopyString("3")))
	a.probe.awaitBytes(3)
}

// offHoldsEndBack: the end of input comes in its turn, after what is before it was read.
func offHoldsEndBack(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	a.config = autoReadOff
	p.connect()
	e.must(b.ch.WriteAndFlush(buffer.CopyString("x")))
	e.must(b.ch.Close())
	e.barrier()
	if n := a.probe.seen("OnInactive"); n != 0 || !a.ch.IsOpen() {
		e.Fatal("the end came though reading is off")
	}
	a.ch.SetAutoRead(true)
	a.probe.awaitEnd()
	if n := a.probe.received(); n != 1 {
		e.Errorf("%d bytes before the end, want 1", n)
	}
	if errs := a.probe.errors(); len(errs) != 0 {
		e.Errorf("errors %v", errs)
	}
}

// offAfterLastBatch turns reading off when the batch is over in which the transport has met
// the end: it must not come in spite of that, nor be lost.
func offAfterLastBatch(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	a.config = func(c *channel.Config) { autoReadOff(c); smallReads(c) }
	a.probe.on["OnReadComplete"] = func(ctx *channel.Context) { ctx.Channel().SetAutoRead(false) }
	p.connect()
	e.must(b.ch.WriteAndFlush(buffer.Wrap(make([]byte, 512)))) // one read, exactly full
	e.must(b.ch.Close())
	e.barrier()
	a.ch.SetAutoRead(true)
	a.probe.awaitEvent("OnReadComplete")
	e.barrier()
	if !a.ch.IsOpen() || a.probe.received() != 512 {
		e.Fatalf("open: %v, %d bytes", a.ch.IsOpen(), a.probe.received())
	}
	a.ch.SetAutoRead(true)
	a.probe.awaitEnd()
}

// readWhileDeregistered: a Read that has not been answered is not forgotten.
func readWhileDeregistered(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	a.config = autoReadOff
	p.connect()
	a.ch.Read()
	e.must(a.ch.Deregister())
	e.must(b.ch.WriteAndFlush(buffer.CopyString("x")))
	e.barrier()
	if n := a.probe.received(); n != 0 {
		e.Fatalf("%d bytes while it was not registered", n)
	}
	e.must(a.ch.Register())
	a.probe.awaitBytes(1)
}
