package channel_test

import (
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/internal/allocs"
)

// Allocation counts are part of the contract. The tests run alone, below the leak levels
// that keep closed buffers.
func countAllocs(t *testing.T, what string, want float64, f func()) {
	t.Helper()
	for range 100 {
		f() // pools and slices find their size
	}
	if got := testing.AllocsPerRun(1000, f); got != want {
		t.Errorf("%s: %v allocations, want %v", what, got, want)
	}
}

func belowAdvanced(t testing.TB) *buffer.Cache {
	was := buffer.CurrentLeakLevel()
	buffer.SetLeakLevel(buffer.Disabled)
	t.Cleanup(func() { buffer.SetLeakLevel(was) })
	cache := buffer.NewPooled(buffer.PooledOptions{}).NewCache()
	cache.Bind()
	t.Cleanup(cache.Unbind)
	return cache
}

func TestAllocs(t *testing.T) {
	allocs.Need(t)
	cache := belowAdvanced(t)
	out := func() *buffer.Buffer {
		b := cache.Allocate(64)
		b.WriteUint64(1)
		return b
	}

	r := newRig(t, channel.NewConfig(), append(passes[pass](16), &sink{})...)
	msg := &struct{ int }{}
	countAllocs(t, "a message through 16 handlers", 0, func() { r.driver.Read(msg) })
	countAllocs(t, "a read batch", 0, func() {
		r.driver.BeginBatch()
		r.driver.Read(msg)
		r.driver.EndBatch()
	})

	r = newRig(t, channel.NewConfig(), passes[pass](4)...)
	discard(r)
	countAllocs(t, "write, flush, complete", 0, func() {
		r.ch.Write(out())
		r.ch.Flush()
		r.loop.RunPending()
	})
	countAllocs(t, "16 writes and a flush", 0, func() {
		for range 16 {
			r.ch.Write(out())
		}
		r.ch.Flush()
		r.loop.RunPending()
	})
	countAllocs(t, "a write whose future is looked at", 0, func() {
		f := r.ch.WriteAndFlush(out())
		r.loop.RunPending()
		if !f.IsSuccess() {
			t.Error("not done")
		}
	})
	body := buffer.Compose(buffer.Wrap(make([]byte, 2000)), buffer.Wrap(make([]byte, 2000)), buffer.Wrap(make([]byte, 2000)))
	defer body.Close()
	var runs [2][]byte
	r.onWrite = func(q *channel.Queue) {
		if n := len(q.Gather(runs[:0])); n != len(runs) {
			t.Errorf("%d runs", n)
		}
		q.Progress(q.Bytes())
	}
	countAllocs(t, "a write of a composite", 0, func() {
		r.ch.WriteAndFlush(body.Share())
		r.loop.RunPending()
	})
	discard(r)
	told := 0
	countAllocs(t, "a write with a listener", 0, func() {
		r.ch.WriteAndFlush(out()).OnCompleteWith(&told, countUp)
		r.loop.RunPending()
	})
	if told == 0 {
		t.Error("the listeners did not run")
	}
	reading := newRig(t, channel.NewConfig(), &holdRead{})
	countAllocs(t, "auto-read through a handler", 0, func() {
		reading.driver.BeginBatch()
		reading.driver.EndBatch()
	})

	entry := reader(func(ctx *channel.Context, msg any) { ctx.Deliver(msg) })
	r = newRig(t, channel.NewConfig(), entry, &sink{})
	countAllocs(t, "Deliver", 0, func() { r.driver.Read(msg) })

	key := channel.NewAttributeKey[*int]("key")
	key.Set(r.ch, &told)
	countAllocs(t, "an attribute's look-up", 0, func() {
		if _, ok := key.Get(r.ch); !ok {
			t.Error("lost")
		}
	})
	countAllocs(t, "crossing the watermarks", 0, func() {
		r.ch.Hold(1 << 20)
		r.ch.Release(1 << 20)
		r.loop.RunPending()
	})
}

// discard makes the rig drop what it is sent.
func discard(r *rig) {
	r.onWrite = func(*channel.Queue) { r.sent = r.sent[:0] }
}

func countUp(arg any, _ channel.Future) { *arg.(*int)++ }

// holdRead sees each Read on its way to the transport.
type holdRead struct{}

func (*holdRead) Read(ctx *channel.Context) { ctx.Read() }
