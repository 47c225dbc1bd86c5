package inbox

import (
	"errors"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

type sink struct {
	got  []string
	stop bool
}

func (s *sink) OnRead(ctx *channel.Context, msg any) {
	b := msg.(*buffer.Buffer)
	s.got = append(s.got, string(b.Bytes()))
	b.Close()
	if s.stop {
		ctx.Channel().SetAutoRead(false)
	}
}

// rig is an inbox whose channel has another transport: it delivers as if it were that one.
type rig struct {
	*testing.T
	Inbox
	ch    *embedded.Channel
	sink  *sink
	wakes int
}

// spy is a transport that only hands its driver out.
type spy struct {
	channel.Transport
	in     *Inbox
	closed bool
}

func (s *spy) Register(d channel.Driver) error { return s.in.Attach(d) }
func (s *spy) Active() bool                    { return !s.closed }
func (s *spy) StartRead()                      { s.in.Start() }
func (s *spy) StopRead()                       { s.in.Stop() }
func (s *spy) Close() error                    { s.closed = true; return nil }

func newRig(t *testing.T, limit int64) *rig {
	t.Helper()
	r := &rig{T: t, ch: embedded.New(&sink{}), sink: &sink{}}
	r.Init(limit, func() { r.wakes++ })
	config := channel.NewConfig()
	config.MaxReadsPerTurn = 2
	ch := channel.New(r.ch.Loop(), &spy{in: &r.Inbox}, config, nil)
	if err := ch.Pipeline().AddLast("sink", r.sink); err != nil {
		t.Fatal(err)
	}
	ch.Register()
	r.ch.RunPending()
	t.Cleanup(func() {
		for _, msg := range r.Close() {
			channel.Dispose(msg)
		}
		ch.Close()
		r.ch.Finish()
	})
	return r
}

func (r *rig) put(s string) {
	r.Helper()
	if !r.Put(buffer.CopyString(s)) {
		r.Fatal("Put was refused")
	}
}

func TestRoomAndWake(t *testing.T) {
	t.Parallel()
	r := newRig(t, 10)
	if n := r.Room(1); n != 10 {
		t.Errorf("room for %d in an empty inbox", n)
	}
	for range 3 {
		r.put("abc")
	}
	if n := r.Room(1); n != 1 {
		t.Errorf("room for %d, want 1", n)
	}
	if n := r.Room(2); n != 0 {
		t.Errorf("room for %d when less than the least is left", n)
	}
	if r.wakes != 0 {
		t.Error("woken while it is full")
	}
	r.ch.RunPending()
	if r.wakes != 1 || len(r.sink.got) != 3 {
		t.Errorf("woken %d times, %d messages delivered; want 1 and 3", r.wakes, len(r.sink.got))
	}
	r.ch.RunPending()
	if r.wakes != 1 {
		t.Errorf("woken %d times by one lack of room", r.wakes)
	}
}

// A queue that never quite empties must not grow.
func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	var in Inbox
	in.Init(1<<20, func() {})
	for range 10 {
		in.Put(buffer.CopyString("x"))
	}
	for range 10_000 {
		in.Put(buffer.CopyString("x"))
		in.pop().(*buffer.Buffer).Close()
	}
	if c := cap(in.queue); c > 128 {
		t.Errorf("places for %d messages, of which there are 10", c)
	}
	for _, msg := range in.Close() {
		channel.Dispose(msg)
	}
}

// Who closes a buffer that he has given away doesn't stop the inbox.
func TestBufferClosedAfterItWasPut(t *testing.T) {
	t.Parallel()
	var in Inbox
	in.Init(10, func() {})
	b := buffer.CopyString("mine")
	in.Put(b)
	b.Close()
	if in.pop() != b || in.Room(1) <= 0 {
		t.Error("the message didn't come")
	}
}

func TestCloseReturnsWhatIsUnread(t *testing.T) {
	t.Parallel()
	r := newRig(t, 4)
	r.sink.stop = true
	for _, s := range []string{"1", "2", "3", "4"} {
		r.put(s)
	}
	if r.Room(1) != 0 {
		t.Error("room in a full inbox")
	}
	r.ch.RunPending()
	left := r.Close()
	if len(r.sink.got) != 1 || len(left) != 3 {
		t.Errorf("%d delivered, %d left; want 1 and 3", len(r.sink.got), len(left))
	}
	for _, msg := range left {
		channel.Dispose(msg)
	}
	if r.wakes != 1 {
		t.Errorf("the producer was woken %d times", r.wakes)
	}
	if b := buffer.CopyString("late"); r.Put(b) {
		t.Error("a closed inbox takes messages")
	} else {
		b.Close()
	}
	if r.Room(7) != Closed {
		t.Error("a producer would wait for a closed inbox")
	}
	r.End(errors.New("late"))
	r.ch.RunPending()
}
