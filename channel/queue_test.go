package channel_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
)

// Small buffers are gathered into the one before, so that pipelined answers leave in one
// run; flushed ones are not touched any more.
func TestQueueMergesSmallBuffers(t *testing.T) {
	t.Parallel()
	r := newRig(t, channel.NewConfig())
	var runs []int
	r.onWrite = func(q *channel.Queue) { runs = append(runs, len(q.Gather(make([][]byte, 0, 16)))) }
	var want []byte
	write := func(n, room int) {
		b := buffer.New(n + room)
		for i := range n {
			b.WriteUint8(byte(len(want) + i))
		}
		want = append(want, b.Bytes()...)
		r.ch.Write(b)
	}
	flush := func() int {
		r.ch.Flush()
		r.loop.RunPending()
		defer func() { runs = nil }()
		return runs[0]
	}
	write(10, 4096)
	for range 100 {
		write(10, 0)
	}
	if n := flush(); n != 1 {
		t.Errorf("101 small buffers left in %d runs", n)
	}
	write(10, 4096)
	write(513, 0) // above what is copied
	write(10, 0)  // behind one without room
	write(0, 0)
	if n := flush(); n != 3 {
		t.Errorf("left in %d runs, want 3", n)
	}
	r.room = 5
	write(10, 100)
	r.ch.Flush()
	write(10, 100) // its turn comes with the next flush, so it must not join what is flushed
	r.loop.RunPending()
	if len(r.sent) != len(want)-15 {
		t.Errorf("sent %d bytes of %d", len(r.sent), len(want))
	}
	r.writable(-1)
	if len(r.sent) != len(want)-10 {
		t.Errorf("sent %d of %d: what was not flushed has left", len(r.sent), len(want))
	}
	flush()
	if !bytes.Equal(r.sent, want) {
		t.Error("the bytes are not those that were written")
	}
}

func TestQueueEmptyBuffersAreSent(t *testing.T) {
	t.Parallel()
	r := newRig(t, channel.NewConfig())
	for _, n := range []int{1, 3} {
		var last channel.Future
		var buffers []*buffer.Buffer
		for range n {
			b := buffer.New(0)
			buffers = append(buffers, b)
			last = r.ch.Write(b)
		}
		r.ch.Flush()
		r.loop.RunPending()
		if !last.IsSuccess() {
			t.Errorf("%d empty buffers: their writes are not done", n)
		}
		for _, b := range buffers {
			if !b.IsClosed() {
				t.Error("an empty buffer was not closed")
			}
		}
	}
}

// A transport of messages gets each of them, empty ones and those of its own types too.
func TestQueueOfWholeMessages(t *testing.T) {
	t.Parallel()
	ch := embedded.New()
	defer ch.Finish()
	msgs := []any{buffer.CopyString("a"), buffer.New(0), &tracked{}, &tracked{}, buffer.New(0), buffer.CopyString("b")}
	if err := ch.WriteOutbound(msgs...); err != nil {
		t.Fatal(err)
	}
	for i, want := range msgs {
		if got := ch.ReadOutbound(); got != want {
			t.Errorf("message %d is %v", i, got)
		}
		channel.Dispose(want)
	}
}

// Gather gives as many runs as it has room for, stops at what is no buffer, and never
// passes the flushed part.
func TestQueueGather(t *testing.T) {
	t.Parallel()
	r := newRig(t, channel.NewConfig())
	file, err := os.Create(filepath.Join(t.TempDir(), "region"))
	if err != nil {
		t.Fatal(err)
	}
	composite := buffer.Compose(buffer.Wrap([]byte("c1")), buffer.Wrap([]byte("c2")), buffer.Wrap([]byte("c3")))
	for _, msg := range []any{buffer.Wrap([]byte("a")), buffer.Wrap(nil), composite, buffer.Wrap([]byte("d")),
		&channel.FileRegion{File: file, Count: 10}, buffer.Wrap([]byte("e"))} {
		r.ch.Write(msg)
	}
	checked := false
	r.onWrite = func(q *channel.Queue) {
		checked = true
		for room, want := range []string{"", "a", "ac1", "ac1c2", "ac1c2c3", "ac1c2c3d", "ac1c2c3d"} {
			got := q.Gather(make([][]byte, 0, room))
			if string(bytes.Join(got, nil)) != want || len(got) > room {
				t.Errorf("room for %d runs: %q", room, got)
			}
		}
		if _, ok := q.Front(); ok || q.Region() != nil {
			t.Error("more than one buffer is in front")
		}
		q.Progress(3) // inside the composite
		if got := q.Gather(make([][]byte, 0, 2)); string(bytes.Join(got, nil)) != "c2c3" {
			t.Errorf("after 3 bytes: %q", got)
		}
		q.Progress(5)
		region := q.Region()
		if region == nil || region.Count != 10 || len(q.Gather(make([][]byte, 0, 8))) != 0 {
			t.Fatalf("the region is not in front: %+v", region)
		}
		q.Progress(4)
		if region.Offset != 4 || region.Count != 6 || region.IsClosed() {
			t.Errorf("after 4 of 10 bytes: %+v", region)
		}
		q.Progress(6)
		if !region.IsClosed() || file.Close() == nil {
			t.Error("the file was not closed")
		}
		run, ok := q.Front()
		if !ok || string(run) != "e" || q.Bytes() != 1 {
			t.Errorf("in front: %q, %v", run, ok)
		}
	}
	r.ch.Flush()
	r.loop.RunPending()
	if !checked || string(r.sent) != "e" {
		t.Errorf("checked %v, sent %q", checked, r.sent)
	}
}

// Random writes, flushes and partial progress against a byte slice.
func TestQueueRandomly(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		r := newRig(t, channel.NewConfig())
		r.room = 0
		r.maxRuns = 1 + rnd.IntN(5)
		var written []byte
		flushed := 0
		type pending struct {
			f   channel.Future
			end int
		}
		var futures []pending
		for range 400 {
			switch rnd.IntN(4) {
			case 0, 1:
				p := make([]byte, rnd.IntN(40)*rnd.IntN(40))
				for i := range p {
					p[i] = byte(rnd.IntN(256))
				}
				written = append(written, p...)
				futures = append(futures, pending{r.ch.Write(asBuffer(rnd, p)), len(written)})
			case 2:
				r.ch.Flush()
				r.loop.RunPending()
				flushed = len(written)
			case 3:
				r.writable(rnd.IntN(1500))
			}
			if !bytes.Equal(r.sent, written[:len(r.sent)]) || len(r.sent) > flushed {
				t.Fatalf("seed %d: sent %d of %d flushed bytes, or other ones", seed, len(r.sent), flushed)
			}
			if got, want := r.ch.PendingBytes(), int64(len(written)-len(r.sent)); got != want {
				t.Fatalf("seed %d: %d bytes pending, want %d", seed, got, want)
			}
			for _, p := range futures {
				if p.f.IsDone() && p.end > len(r.sent) { // the other way round one may wait for what it was merged with
					t.Fatalf("seed %d: write up to %d done when %d were sent", seed, p.end, len(r.sent))
				}
			}
		}
		r.ch.Flush()
		r.loop.RunPending()
		r.writable(-1)
		if !bytes.Equal(r.sent, written) {
			t.Fatalf("seed %d: lost bytes", seed)
		}
		for _, p := range futures {
			if !p.f.IsSuccess() {
				t.Fatalf("seed %d: write up to %d is not done", seed, p.end)
			}
		}
	}
}

// asBuffer gives p in one of the shapes that a buffer can have.
func asBuffer(rnd *rand.Rand, p []byte) *buffer.Buffer {
	switch rnd.IntN(4) {
	case 0:
		b := buffer.New(len(p) + rnd.IntN(1000))
		_, _ = b.Write(p)
		return b
	case 1:
		cut := rnd.IntN(len(p) + 1)
		return buffer.Compose(buffer.Copy(p[:cut]), buffer.Copy(p[cut:]))
	case 2:
		b := buffer.Copy(append([]byte("read already"), p...))
		b.Skip(12)
		return b
	}
	return buffer.Wrap(bytes.Clone(p))
}

// A queue that never quite empties does not grow without end.
func TestQueueThatNeverEmptiesStaysSmall(t *testing.T) {
	r := newRig(t, channel.NewConfig())
	r.room = 0
	msgs := make([]*buffer.Buffer, 4)
	step := func() {
		for i := range msgs {
			msgs[i] = buffer.Wrap(make([]byte, 1))
			r.ch.Write(msgs[i])
		}
		r.ch.Flush()
		r.loop.RunPending()
		r.writable(4)
	}
	r.ch.Write(buffer.Wrap(make([]byte, 1)))
	step()
	r.sent = make([]byte, 0, 100_000)
	before := heapInUse()
	for range 20_000 {
		step()
	}
	if grown := heapInUse() - before; grown > 200_000 { // 80,000 entries are 1.9 MB
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	if r.ch.PendingBytes() != 1 {
		t.Errorf("%d bytes pending", r.ch.PendingBytes())
	}
}

// heapInUse returns the bytes that are alive. Its tests must not run beside others.
func heapInUse() int64 {
	var m runtime.MemStats
	buffertest.Collect() // also what pools and cleanups have kept through one collection
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestQueueClosesWhatIsLeft(t *testing.T) {
	t.Parallel()
	r := newRig(t, channel.NewConfig())
	r.room = 3
	var buffers []*buffer.Buffer
	for range 100 {
		b := buffer.Wrap([]byte("ab"))
		buffers = append(buffers, b)
		r.ch.Write(b)
		if len(buffers) == 50 {
			r.ch.Flush()
		}
	}
	r.loop.RunPending()
	r.ch.Close()
	for i, b := range buffers {
		if !b.IsClosed() {
			t.Errorf("buffer %d was not closed", i)
		}
	}
	if r.ch.PendingBytes() != 0 {
		t.Errorf("%d bytes pending", r.ch.PendingBytes())
	}
}

// What a close flushes once more is what was flushed before it.
func TestCloseSendsWhatWasFlushed(t *testing.T) {
	t.Parallel()
	r := newRig(t, channel.NewConfig())
	flushed := r.ch.WriteAndFlush(buffer.CopyString("flushed"))
	unflushed := r.ch.Write(buffer.Wrap([]byte("not")))
	r.ch.Close()
	if string(r.sent) != "flushed" || !flushed.IsSuccess() || unflushed.Err() == nil {
		t.Errorf("sent %q, %v, %v", r.sent, flushed.Err(), unflushed.Err())
	}
}

// The transport is only asked to write while it is connected, and a flush that came before
// is done then.
func TestFlushBeforeTheChannelIsActive(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"active", "closed"} {
		r := newUnregistered(t, channel.NewConfig())
		f := r.ch.WriteAndFlush(buffer.CopyString("early"))
		r.loop.RunPending()
		r.ch.Register()
		r.loop.RunPending()
		r.ch.Flush()
		r.loop.RunPending()
		if end == "closed" {
			r.ch.Flush()
			r.ch.Close() // the rig fails the test if Write is called
			if f.Err() == nil {
				t.Error("the write has not failed")
			}
			continue
		}
		r.ch.Bind(nil)
		r.loop.RunPending()
		if string(r.sent) != "early" || !f.IsSuccess() {
			t.Errorf("sent %q", r.sent)
		}
	}
}

func TestOutputBlocked(t *testing.T) {
	t.Parallel()
	r := newRig(t, channel.NewConfig())
	expect := func(what string, blocked bool, since string) {
		t.Helper()
		b, at := r.ch.OutputBlocked()
		if b != blocked || at.String() != since {
			t.Errorf("%s: blocked %v since %v, want %v since %s", what, b, at, blocked, since)
		}
	}
	r.loop.Advance(1e9)
	r.ch.WriteAndFlush(buffer.Wrap(make([]byte, 10)))
	r.loop.RunPending()
	expect("all taken", false, "0s")
	r.room = 4
	r.ch.WriteAndFlush(buffer.Wrap(make([]byte, 10)))
	r.loop.RunPending()
	expect("4 bytes taken", true, "1s")
	r.loop.Advance(1e9)
	r.ch.WriteAndFlush(buffer.Wrap(make([]byte, 1)))
	r.loop.RunPending()
	r.writable(0)
	expect("nothing taken", true, "1s")
	r.writable(1)
	expect("another byte taken", true, "2s")
	r.loop.Advance(1e9)
	r.writable(-1)
	expect("the rest taken", false, "3s")
}
