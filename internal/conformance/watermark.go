package conformance

import (
	"fmt"
	"strings"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

var watermarkCases = []testCase{
	{"one event an edge", both(oneEventAnEdge)},
	{"unflushed bytes count", unflushedCount},
	{"held bytes count", heldCount},
}

// oneEventAnEdge fills a connection up and lets it drain, a few times.
func oneEventAnEdge(e *env, end string) {
	const message, rounds = 16 << 10, 3
	p := e.newPair()
	a, b := p.ends(end)
	b.config = autoReadOff
	b.probe.discard = true
	p.connect()
	sent := int64(0)
	for range rounds {
		var last channel.Future
		for blocked := false; !blocked; e.barrier() {
			for range 5 {
				last = a.ch.WriteAndFlush(buffer.Wrap(make([]byte, message)))
				sent += message
			}
			blocked = !a.ch.IsWritable()
		}
		for range 10 { // still above: no edge
			last = a.ch.WriteAndFlush(buffer.Wrap(make([]byte, message)))
			sent += message
		}
		b.ch.SetAutoRead(true)
		b.probe.awaitBytes(sent)
		e.must(last)
		a.probe.await("an even number of edges", func() bool {
			return a.probe.seen("OnWritability false") == a.probe.seen("OnWritability true") && a.ch.IsWritable()
		})
		b.ch.SetAutoRead(false)
		e.onLoop(b.ch, func() {})
	}
	n := 0
	for _, event := range a.probe.list() {
		if !strings.HasPrefix(event, "OnWritability") {
			continue
		}
		if want := fmt.Sprintf("OnWritability %v", n%2 == 1); event != want {
			e.Fatalf("%q where %q is next", event, want)
		}
		n++
	}
	if n < 2*rounds {
		e.Errorf("%d events, want at least %d", n, 2*rounds)
	}
}

func unflushedCount(e *env) {
	p := e.newPair().connect()
	e.onLoop(p.client.ch, func() {
		p.client.ch.Write(buffer.Wrap(make([]byte, 64<<10)))
		if !p.client.ch.IsWritable() {
			e.Error("unwritable at the high watermark, not above it")
		}
		p.client.ch.Write(buffer.CopyString("x"))
		if p.client.ch.IsWritable() || p.client.ch.PendingBytes() != 64<<10+1 {
			e.Errorf("writable with %d bytes pending", p.client.ch.PendingBytes())
		}
		if n := p.client.probe.seen("OnWritability"); n != 0 {
			e.Error("the event came inside Write")
		}
	})
	p.client.probe.awaitEvent("OnWritability false")
	p.client.ch.Flush()
	p.client.probe.awaitEvent("OnWritability true")
	p.server.probe.awaitBytes(64<<10 + 1)
}

func heldCount(e *env) {
	p := e.newPair().connect()
	e.onLoop(p.client.ch, func() { p.client.ch.Hold(100 << 10) })
	p.client.probe.awaitEvent("OnWritability false")
	e.must(p.client.ch.WriteAndFlush(buffer.CopyString("x")))
	if p.client.ch.IsWritable() {
		e.Error("writable though a handler holds bytes")
	}
	e.onLoop(p.client.ch, func() { p.client.ch.Release(100 << 10) })
	p.client.probe.awaitEvent("OnWritability true")
}
