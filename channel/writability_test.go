package channel_test

import (
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

// edges notes writability events.
type edges struct{ seen []bool }

func (e *edges) OnWritability(ctx *channel.Context, writable bool) {
	e.seen = append(e.seen, writable)
	ctx.FireWritability(writable)
}

func (e *edges) take() (seen []bool) {
	seen, e.seen = e.seen, nil
	return seen
}

func watermarks(low, high int) *channel.Config {
	c := channel.NewConfig()
	c.WriteBufferLow, c.WriteBufferHigh = low, high
	return c
}

func same(a, b []bool) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// One event for each edge: above the high mark, and down to the low one.
func TestWatermarks(t *testing.T) {
	t.Parallel()
	e := &edges{}
	r := newRig(t, watermarks(10, 20), e)
	r.room = 0
	for _, step := range []struct {
		what     string
		do       func()
		pending  int64
		writable bool
		want     []bool
	}{
		{"up to the high mark", func() { r.write(20) }, 20, true, nil},
		{"above it", func() { r.write(1) }, 21, false, []bool{false}},
		{"further above it", func() { r.write(10) }, 31, false, nil},
		{"flushed", func() { r.ch.Flush() }, 31, false, nil},
		{"down between the marks", func() { r.writable(20) }, 11, false, nil},
		{"up again without an edge", func() { r.write(20) }, 31, false, nil},
		{"down to the low mark", func() { r.ch.Flush(); r.writable(21) }, 10, true, []bool{true}},
		{"below it", func() { r.writable(5) }, 5, true, nil},
		{"up and down in one turn", func() { r.write(100); r.ch.Flush(); r.room = -1; r.driver.WriteReady() }, 0, true,
			[]bool{false, true}},
	} {
		step.do()
		r.loop.RunPending()
		if got := e.take(); !same(got, step.want) {
			t.Errorf("%s: events %v, want %v", step.what, got, step.want)
		}
		if r.ch.PendingBytes() != step.pending || r.ch.IsWritable() != step.writable {
			t.Errorf("%s: %d bytes pending, writable %v", step.what, r.ch.PendingBytes(), r.ch.IsWritable())
		}
	}
}

func (r *rig) write(n int) { r.ch.Write(buffer.Wrap(make([]byte, n))) }

// The event never comes from inside a Write: the handler that writes is not called back.
func TestWatermarkEventsAreNotReentrant(t *testing.T) {
	t.Parallel()
	e := &edges{}
	inside := false
	r := newRig(t, watermarks(10, 20), e, reader(func(ctx *channel.Context, msg any) {
		ctx.Write(buffer.Wrap(make([]byte, 50)))
		inside = len(e.seen) > 0
		if ctx.Channel().IsWritable() {
			t.Error("still writable after the Write that crossed the mark")
		}
	}))
	r.batch("x")
	if inside || !same(e.take(), []bool{false}) {
		t.Errorf("inside %v, events %v", inside, e.seen)
	}
}

// Bytes that a handler holds count like those in the queue.
func TestHoldAndRelease(t *testing.T) {
	t.Parallel()
	e := &edges{}
	r := newRig(t, watermarks(10, 20), e)
	r.room = 0
	r.write(15)
	r.ch.Hold(6)
	r.loop.RunPending()
	if !same(e.take(), []bool{false}) || r.ch.PendingBytes() != 21 {
		t.Errorf("events %v, %d bytes", e.seen, r.ch.PendingBytes())
	}
	r.ch.Hold(4)
	r.ch.Release(10)
	r.loop.RunPending()
	if len(e.take()) != 0 || r.ch.PendingBytes() != 15 {
		t.Errorf("events %v, %d bytes", e.seen, r.ch.PendingBytes())
	}
	r.ch.Flush()
	r.loop.RunPending()
	r.writable(-1)
	if !same(e.take(), []bool{true}) {
		t.Errorf("events %v", e.seen)
	}
	r.ch.Hold(100)
	r.loop.RunPending()
	r.ch.Release(100)
	r.loop.RunPending()
	if !same(e.take(), []bool{false, true}) {
		t.Errorf("events %v", e.seen)
	}
}

func TestWritabilityOfAClosedChannel(t *testing.T) {
	t.Parallel()
	e := &edges{}
	r := newRig(t, watermarks(10, 20), e)
	r.room = 0
	r.write(50)
	r.ch.Hold(50)
	r.ch.Close()
	r.ch.Release(50)
	r.loop.RunPending()
	if len(e.take()) != 0 {
		t.Errorf("events after the close: %v", e.seen)
	}
	if r.ch.PendingBytes() != 0 {
		t.Errorf("%d bytes pending", r.ch.PendingBytes())
	}
}

// Who waits to write is told when the output has been shut down: nothing is pending any more.
func TestWritabilityOfAShutOutput(t *testing.T) {
	t.Parallel()
	e := &edges{}
	r := newRig(t, watermarks(10, 20), e)
	r.write(50)
	if err := r.ch.Shutdown(channel.Outbound).Err(); err != nil {
		t.Fatal(err)
	}
	r.loop.RunPending()
	if got := e.take(); !same(got, []bool{false, true}) || !r.ch.IsWritable() || r.ch.PendingBytes() != 0 {
		t.Errorf("events %v, writable %v, %d bytes pending", got, r.ch.IsWritable(), r.ch.PendingBytes())
	}
	if err := r.ch.Write(buffer.CopyString("x")).Err(); err != channel.ErrOutputShutdown {
		t.Error(err)
	}
}

// A writer that heeds IsWritable is held to about the high mark.
func TestWritabilityBoundsAWriter(t *testing.T) {
	t.Parallel()
	var most int64
	w := &pump{}
	r := newRig(t, watermarks(1000, 2000), w)
	r.room = 0
	w.pump(r.ch)
	for range 100 {
		most = max(most, r.ch.PendingBytes())
		r.writable(300)
	}
	if most > 2000+100 || w.sent < 25_000 {
		t.Errorf("%d bytes pending at the most, %d written", most, w.sent)
	}
}

// pump writes while it may.
type pump struct{ sent int }

func (p *pump) pump(ch *channel.Channel) {
	for ch.IsWritable() {
		ch.Write(buffer.Wrap(make([]byte, 100)))
		p.sent += 100
	}
	ch.Flush()
}

func (p *pump) OnWritability(ctx *channel.Context, writable bool) {
	if writable {
		p.pump(ctx.Channel())
	}
}
