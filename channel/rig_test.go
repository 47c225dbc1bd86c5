package channel_test

import (
	"net"
	"testing"

	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/loop"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

// rig is a channel over a stream transport whose every move the test makes: what package
// embedded hides, such as partial writes and the order of reads within a batch.
type rig struct {
	t      testing.TB
	loop   *loop.Manual
	ch     *channel.Channel
	driver channel.Driver

	sent       []byte
	room       int // bytes that the next writes take; negative: all
	maxRuns    int // runs in one gathered write
	runs       [16][]byte
	writes     int // system calls
	writeErr   error
	reading    bool
	starts     int // StartRead calls while not reading
	active     bool
	closed     bool
	shut       []channel.Direction
	registered int
	onWrite    func(q *channel.Queue)
	onClose    func()
}

// newRig returns a registered and active channel with the handlers.
func newRig(t testing.TB, config *channel.Config, handlers ...any) *rig {
	t.Helper()
	r := newUnregistered(t, config, handlers...)
	r.active = true
	if err := r.ch.Register().Err(); err != nil {
		t.Fatal(err)
	}
	r.loop.RunPending()
	return r
}

func newUnregistered(t testing.TB, config *channel.Config, handlers ...any) *rig {
	t.Helper()
	m, err := loop.NewManual(loop.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, loop: m, room: -1, maxRuns: 8}
	r.ch = channel.New(m.Loop(), r, config, nil)
	for _, h := range handlers {
		r.add(h)
	}
	t.Cleanup(func() {
		r.ch.Close()
		m.Close()
	})
	return r
}

func (r *rig) add(h any) {
	r.t.Helper()
	if err := r.ch.Pipeline().AddLast("", h); err != nil {
		r.t.Fatal(err)
	}
}

// batch delivers messages as one read batch, as a transport does.
func (r *rig) batch(msgs ...any) (delivered int) {
	r.driver.BeginBatch()
	for _, msg := range msgs {
		r.driver.Read(msg)
		delivered++
		if !r.driver.Reading() {
			break
		}
	}
	r.driver.EndBatch()
	r.loop.RunPending()
	return delivered
}

// writable makes room for n bytes more and says so; negative: without bound.
func (r *rig) writable(n int) {
	r.room = n
	r.driver.WriteReady()
	r.loop.RunPending()
}

func (r *rig) Register(d channel.Driver) error {
	r.driver = d
	r.registered++
	return nil
}

func (r *rig) Deregister() error           { r.registered--; return nil }
func (r *rig) Active() bool                { return r.active && !r.closed }
func (r *rig) Bind(net.Addr) error         { r.active = true; return nil }
func (r *rig) Connect(_, _ net.Addr) error { return nil }
func (r *rig) LocalAddr() net.Addr         { return nil }
func (r *rig) RemoteAddr() net.Addr        { return nil }

func (r *rig) StartRead() {
	if !r.reading {
		r.starts++
	}
	r.reading = true
}

func (r *rig) StopRead() { r.reading = false }

func (r *rig) Write(q *channel.Queue) error {
	if r.closed || !r.active {
		r.t.Error("Write on a transport that isn't active")
	}
	if r.onWrite != nil {
		r.onWrite(q)
	}
	for !q.Empty() {
		if r.writeErr != nil {
			return r.writeErr
		}
		r.writes++
		run, ok := q.Front()
		runs := append(r.runs[:0], run)
		if !ok {
			runs = q.Gather(r.runs[:0:r.maxRuns])
		}
		n, short := 0, false
		for _, run := range runs {
			if r.room >= 0 && len(run) > r.room {
				run, short = run[:r.room], true
			}
			r.sent = append(r.sent, run...)
			n += len(run)
			if r.room >= 0 {
				r.room -= len(run)
			}
		}
		q.Progress(int64(n))
		if short {
			return nil
		}
	}
	return nil
}

func (r *rig) Shutdown(d channel.Direction) error {
	r.shut = append(r.shut, d)
	return nil
}

func (r *rig) Close() error {
	r.closed, r.reading = true, false
	if r.onClose != nil {
		r.onClose()
	}
	return nil
}
