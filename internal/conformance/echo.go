package conformance

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

var echoCases = []testCase{
	{"sizes", echoSizes},
	{"slow reader", echoSlowReader},
	{"order of several writers", writersKeepTheirOrder},
	{"composite and empty messages", oddMessages},
	{"both directions at once", bothDirections},
}

// echoSizes sends messages of sizes around all the limits inside, in one piece and in many.
func echoSizes(e *env) {
	for _, size := range []int{1, 2, 511, 512, 513, 4 << 10, 64<<10 - 1, 64 << 10, 64<<10 + 1, 1 << 20, 5 << 20} {
		for _, piece := range []int{size, 1000, 16 << 10} {
			if piece > size || size/piece > 400 {
				continue
			}
			p := e.newPair()
			p.server.probe.echo = true
			p.connect()
			want := pattern(size)
			var last channel.Future
			for rest := want; len(rest) > 0; {
				n := min(piece, len(rest))
				last = p.client.ch.Write(buffer.Copy(rest[:n]))
				rest = rest[n:]
			}
			p.client.ch.Flush()
			p.client.probe.awaitBytes(int64(size))
			e.must(last)
			if !bytes.Equal(p.client.probe.bytes(), want) {
				e.Errorf("%d bytes in pieces of %d came back changed", size, piece)
			}
			e.must(p.client.ch.Close())
			p.server.probe.awaitEnd()
		}
	}
}

// echoSlowReader has a client that reads one batch at a time, and a server that stops
// reading while its answers pile up: neither may hold more than about its watermark.
func echoSlowReader(e *env) {
	const size, readMax = 3 << 20, 8 << 10
	p := e.newPair()
	server, client := p.server, p.client
	server.probe.echo = true
	server.probe.discard = true
	server.config = func(c *channel.Config) { c.MaxReadsPerTurn, c.ReadBufferMax = 1, readMax }
	client.config = autoReadOff
	most := int64(0) // the server's loop only
	server.probe.on["OnRead"] = func(ctx *channel.Context) {
		most = max(most, ctx.Channel().PendingBytes())
	}
	server.probe.on["OnWritability"] = func(ctx *channel.Context) {
		ctx.Channel().SetAutoRead(ctx.Channel().IsWritable())
	}
	p.connect()
	want := pattern(size)
	sent := client.ch.WriteAndFlush(buffer.Copy(want))
	for batches := 0; client.probe.received() < size; batches++ {
		client.ch.Read()
		client.probe.awaitEvents("OnReadComplete", batches+1)
	}
	e.must(sent)
	if !bytes.Equal(client.probe.bytes(), want) {
		e.Error("the bytes came back changed")
	}
	e.onLoop(server.ch, func() {
		// The high watermark and one message more, which in memory is as large as the
		// peer's window.
		if limit := int64(128<<10 + 2*readMax); most > limit {
			e.Errorf("the server held up to %d bytes, more than %d", most, limit)
		}
	})
}

// writersKeepTheirOrder writes from several goroutines and from the loop.
func writersKeepTheirOrder(e *env) {
	const writers, messages = 4, 500
	p := e.newPair().connect()
	var wg sync.WaitGroup
	for id := range writers {
		wg.Go(func() {
			for seq := range messages {
				b := buffer.New(8)
				b.WriteUint32(uint32(id))
				b.WriteUint32(uint32(seq))
				p.client.ch.Write(b)
				if seq%7 == 0 {
					p.client.ch.Flush()
				}
			}
			p.client.ch.Flush()
		})
	}
	wg.Wait()
	p.server.probe.awaitBytes(writers * messages * 8)
	next := [writers]uint32{}
	for rest := p.server.probe.bytes(); len(rest) > 0; rest = rest[8:] {
		id, seq := binary.BigEndian.Uint32(rest), binary.BigEndian.Uint32(rest[4:])
		if id >= writers || next[id] != seq {
			e.Fatalf("writer %d: message %d came when %v was next", id, seq, next)
		}
		next[id]++
	}
}

// oddMessages sends composites of many parts, and messages without bytes between others.
func oddMessages(e *env) {
	p := e.newPair().connect()
	var want []byte
	var parts []*buffer.Buffer
	for i := range 300 { // more than one vectored write takes
		part := fmt.Appendf(nil, "part %d of a composite, ", i)
		want = append(want, part...)
		parts = append(parts, buffer.Copy(part))
	}
	ch := p.client.ch
	futures := []channel.Future{
		ch.Write(buffer.New(0)),
		ch.Write(buffer.Compose(parts...)),
		ch.Write(buffer.New(10)),
		ch.Write(buffer.CopyString("end")),
		ch.WriteAndFlush(buffer.New(0)),
	}
	for i, f := range futures {
		if err := e.wait(f); err != nil {
			e.Errorf("write %d: %v", i, err)
		}
	}
	e.must(ch.WriteAndFlush(buffer.New(0))) // alone
	want = append(want, "end"...)
	p.server.probe.awaitBytes(int64(len(want)))
	if got := p.server.probe.bytes(); !bytes.Equal(got, want) {
		e.Errorf("got %d bytes that differ from the %d sent", len(got), len(want))
	}
}

// bothDirections has both ends send a lot before they know what the other does.
func bothDirections(e *env) {
	const size = 2 << 20
	p := e.newPair().connect()
	want := pattern(size)
	for _, s := range []*side{p.server, p.client} {
		for rest := want; len(rest) > 0; rest = rest[32<<10:] {
			s.ch.WriteAndFlush(buffer.Copy(rest[:32<<10]))
		}
	}
	for _, s := range []*side{p.server, p.client} {
		s.probe.awaitBytes(size)
		if !bytes.Equal(s.probe.bytes(), want) {
			e.Error("the bytes arrived changed")
		}
	}
}
