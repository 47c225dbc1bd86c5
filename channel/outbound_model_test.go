package channel_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/loop"
)

// moody is a stream transport that takes as much as it likes, and breaks when it likes.
type moody struct {
	t          *testing.T
	rnd        *rand.Rand
	driver     channel.Driver
	queue      *channel.Queue
	sent       []byte
	generous   bool // takes everything
	breaks     int  // one system call in so many fails; 0: none does
	waiting    bool // WriteReady is due
	late       bool // another goroutine writes, and says later how far it has got
	underWay   int  // bytes that it has sent since
	registered bool
	closed     bool
	shut       bool
}

var errMoody = errors.New("moody")

func (m *moody) Register(d channel.Driver) error { m.driver, m.registered = d, true; return nil }
func (m *moody) Deregister() error               { m.registered = false; return nil }
func (m *moody) Active() bool                    { return !m.closed }
func (m *moody) Bind(net.Addr) error             { return nil }
func (m *moody) Connect(_, _ net.Addr) error     { return nil }
func (m *moody) StartRead()                      {}
func (m *moody) StopRead()                       {}
func (m *moody) LocalAddr() net.Addr             { return nil }
func (m *moody) RemoteAddr() net.Addr            { return nil }

func (m *moody) Write(q *channel.Queue) error {
	m.queue = q
	if m.closed || m.shut || !m.registered {
		m.t.Errorf("Write: closed %v, shut %v, registered %v", m.closed, m.shut, m.registered)
	}
	for !m.closed && m.underWay == 0 && !q.Empty() {
		if m.breaks > 0 && m.rnd.IntN(m.breaks) == 0 {
			return errMoody
		}
		p := m.front(q)
		n := len(p)
		if !m.generous {
			n = m.rnd.IntN(n + 1)
		}
		m.sent = append(m.sent, p[:n]...)
		if m.late && n > 0 {
			m.underWay, m.waiting = n, true
			return nil
		}
		q.Progress(int64(n))
		if n < len(p) {
			m.waiting = !m.closed
			return nil
		}
	}
	return nil
}

// ready goes on where Write has stopped.
func (m *moody) ready() {
	if m.closed || !m.waiting {
		return
	}
	m.waiting = false
	m.progress()
	if m.registered && !m.closed {
		m.driver.WriteReady()
	}
}

func (m *moody) progress() {
	n := m.underWay
	m.underWay = 0
	m.queue.Progress(int64(n))
}

// front returns some of what is in front.
func (m *moody) front(q *channel.Queue) (p []byte) {
	if r := q.Region(); r != nil {
		p = make([]byte, min(r.Count, 1000))
		if _, err := r.File.ReadAt(p, r.Offset); err != nil {
			m.t.Error(err)
		}
		return p
	}
	if run, ok := q.Front(); ok && m.rnd.IntN(2) == 0 {
		return run
	}
	for _, run := range q.Gather(make([][]byte, 0, 1+m.rnd.IntN(6))) {
		if len(run) == 0 {
			m.t.Error("an empty run")
		}
		p = append(p, run...)
	}
	return p
}

func (m *moody) Shutdown(channel.Direction) error { m.shut = true; return nil }

func (m *moody) Close() error {
	m.closed = true
	if m.underWay > 0 && m.rnd.IntN(2) == 0 {
		m.progress() // the rest is not heard of any more
	}
	return nil
}

// outboundModel is a channel beside what it should have sent.
type outboundModel struct {
	t       *testing.T
	rnd     *rand.Rand
	m       *moody
	loop    *loop.Manual
	ch      *channel.Channel
	ctx     *channel.Context
	file    string
	stream  []byte // what was written and not refused
	writes  []*modelWrite
	flushed int // those before it may be sent
	held    int64
	heard   int // the last write whose first listener has run
	depth   int
	log     []string
	edges   []bool
}

// maxDepth bounds listeners that act inside of others.
const maxDepth = 3

type modelWrite struct {
	end     int // of its bytes in the stream
	f       channel.Future
	err     error
	done    bool
	told    int // listeners that ran,
	wants   int // of so many
	refused bool
}

func (o *outboundModel) Added(ctx *channel.Context) { o.ctx = ctx }
func (o *outboundModel) OnWritability(_ *channel.Context, writable bool) {
	o.edges = append(o.edges, writable)
}

func (o *outboundModel) fatal(format string, args ...any) {
	o.t.Helper()
	log := o.log
	if len(log) > 40 {
		log = log[len(log)-40:]
	}
	o.t.Fatalf("%s\nafter %q", fmt.Sprintf(format, args...), log)
}

// bytes returns the next n bytes of the stream, which repeats itself.
func (o *outboundModel) bytes(n int) []byte { return repeating(len(o.stream), n) }

func repeating(from, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte((from + i) * 7)
	}
	return p
}

// message returns a message of n bytes, of some kind.
func (o *outboundModel) message(p []byte) any {
	switch o.rnd.IntN(7) {
	case 0:
		return buffer.Wrap(bytes.Clone(p))
	case 1: // with room, which small ones behind it are copied to
		b := buffer.New(len(p) + 600)
		_, _ = b.Write(p)
		return b
	case 2:
		b := buffer.Compose(buffer.Copy(p[:len(p)/3]), buffer.Copy(p[len(p)/3:len(p)/2]), buffer.Copy(p[len(p)/2:]))
		return b
	case 3: // whose memory others have too
		b := o.ch.Allocator().Allocate(len(p) + 100)
		_, _ = b.Write([]byte("front"))
		_, _ = b.Write(p)
		b.Split(5).Close()
		s := b.Share()
		_, _ = b.WriteString("other")
		b.Close()
		return s
	case 4:
		file, err := os.Open(o.file)
		if err != nil {
			o.t.Fatal(err)
		}
		return &channel.FileRegion{File: file, Offset: int64(len(o.stream) % 256), Count: int64(len(p))}
	}
	b := o.ch.Allocator().Allocate(len(p))
	_, _ = b.Write(p)
	return b
}

func (o *outboundModel) write() {
	n := o.rnd.IntN(40)
	if o.rnd.IntN(5) == 0 {
		n = o.rnd.IntN(9000)
	}
	p := o.bytes(n)
	o.wrote(p, o.ch.Write(o.message(p)))
}

// tail appends to what was written last, if it may.
func (o *outboundModel) tail() {
	p := o.bytes(o.rnd.IntN(50))
	b := o.ctx.Tail(len(p))
	if b == nil {
		return
	}
	b.Advance(copy(b.Writable(), p))
	o.wrote(p, o.ctx.Appended(len(p)))
}

func (o *outboundModel) wrote(p []byte, f channel.Future) {
	w := &modelWrite{f: f}
	if f.IsDone() {
		if f.IsSuccess() {
			o.fatal("a write is done before it was flushed")
		}
		w.refused = true
	} else {
		o.stream = append(o.stream, p...)
	}
	w.end = len(o.stream)
	o.writes = append(o.writes, w)
	o.listen(w, len(o.writes))
}

// listen adds listeners, which may act.
func (o *outboundModel) listen(w *modelWrite, number int) {
	pending := !w.f.IsDone()
	for i := range o.rnd.IntN(3) {
		w.wants++
		acts := o.rnd.IntN(4) == 0
		w.f.OnComplete(func(f channel.Future) {
			if w.told++; w.told != i+1 && pending {
				o.fatal("listeners of write %d came out of order", number)
			}
			o.settle(w)
			if pending && i == 0 {
				if number < o.heard {
					o.fatal("write %d was told of after %d", number, o.heard)
				}
				o.heard = number
			}
			if acts && o.depth < maxDepth {
				o.depth++
				o.step("listener: ")
				o.depth--
			}
		})
	}
}

// settle notes a write's result and holds it to that.
func (o *outboundModel) settle(w *modelWrite) {
	_, err := w.f.Result()
	done := w.f.IsDone()
	switch {
	case w.done && (!done || err != w.err):
		o.fatal("a write ended with %v, and later says %v, done %v", w.err, err, done)
	case done:
		w.done, w.err = true, err
	}
}

func (o *outboundModel) flush() {
	o.ch.Flush()
	if !o.ch.OutputClosed() && o.ch.IsOpen() {
		o.flushed = len(o.writes)
	}
}

// step does something, perhaps from inside a listener.
func (o *outboundModel) step(where string) {
	k := o.rnd.IntN(100)
	name, do := "write", o.write
	switch {
	case k < 45:
	case k < 65:
		name, do = "flush", o.flush
	case k < 75:
		name, do = "tail", o.tail
	case k < 85:
		name, do = "ready", func() {
			if o.depth == 0 {
				o.m.ready()
			}
		}
	case k < 89:
		name, do = "hold", func() {
			n := int64(o.rnd.IntN(100_000))
			o.held += n
			o.ch.Hold(n)
		}
	case k < 93:
		name, do = "release", func() { o.ch.Release(o.held); o.held = 0 }
	case k < 95:
		name, do = "deregister", func() { o.ch.Deregister() }
	case k < 98:
		name, do = "register", func() { o.ch.Register() }
	case k < 99:
		name, do = "shutdown", func() { o.ch.Shutdown(channel.Outbound) }
	case o.rnd.IntN(3) == 0:
		name, do = "close", func() { o.ch.Close() }
	case o.rnd.IntN(3) == 0:
		name, do = "fail", func() { o.m.driver.Fail(errMoody) }
	}
	o.log = append(o.log, where+name)
	do()
}

// check compares when nothing is under way.
func (o *outboundModel) check() {
	o.t.Helper()
	if !bytes.HasPrefix(o.stream, o.m.sent) {
		o.fatal("sent other bytes than were written")
	}
	waits := int64(len(o.stream)-len(o.m.sent)+o.m.underWay) + o.held
	if o.ch.IsOpen() && !o.m.shut && o.ch.PendingBytes() != waits {
		o.fatal("%d bytes pending, want %d", o.ch.PendingBytes(), waits)
	}
	for i, w := range o.writes {
		o.settle(w)
		sent := !w.refused && i < o.flushed && w.end <= len(o.m.sent)
		switch {
		case w.done && w.err == nil && !sent:
			o.fatal("write %d is done, but was not sent", i+1)
		case w.done && w.told != w.wants:
			o.fatal("write %d: %d of %d listeners ran", i+1, w.told, w.wants)
		case !w.done && !o.ch.IsOpen():
			o.fatal("write %d is pending, but the channel is closed", i+1)
		}
	}
	for i, writable := range o.edges {
		if writable != (i%2 == 1) {
			o.fatal("writability went %v", o.edges)
		}
	}
}

// TestOutboundRandomly writes, flushes, listens, holds, deregisters and ends in every order,
// over a transport that takes what it likes.
func TestOutboundRandomly(t *testing.T) {
	t.Parallel()
	config, _ := logged()
	file := filepath.Join(t.TempDir(), "stream")
	if err := os.WriteFile(file, repeating(0, 10_000), 0o600); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(60) {
		playOutbound(t, seed, config, file)
	}
}

func playOutbound(t *testing.T, seed uint64, config *channel.Config, file string) {
	manual, err := loop.NewManual(loop.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(seed, 7))
	m := &moody{t: t, rnd: rnd, late: rnd.IntN(3) == 0, breaks: []int{0, 0, 0, 300, 60}[rnd.IntN(5)]}
	o := &outboundModel{t: t, rnd: rnd, m: m, loop: manual, file: file}
	o.log = append(o.log, fmt.Sprint("seed ", seed))
	o.ch = channel.New(manual.Loop(), m, config, nil)
	if err := o.ch.Pipeline().AddLast("model", o); err != nil {
		t.Fatal(err)
	}
	o.ch.Register()
	for range 150 {
		o.step("")
		if rnd.IntN(3) == 0 {
			manual.RunPending()
		}
		o.check()
	}
	if m.breaks == 0 && rnd.IntN(2) == 0 && o.ch.IsOpen() && !o.ch.OutputClosed() {
		m.generous = true  // then all of it leaves
		o.depth = maxDepth // and no listener stops it
		o.ch.Register()
		o.flush()
		manual.RunPending()
		for m.waiting && !m.closed {
			m.ready()
			manual.RunPending()
		}
		o.check()
		for i, w := range o.writes {
			if o.ch.IsOpen() && i < o.flushed && !w.done {
				o.fatal("write %d is pending, but the transport takes everything", i+1)
			}
		}
	}
	o.ch.Close()
	manual.RunPending()
	o.check()
	manual.Close()
}
