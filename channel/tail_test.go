package channel_test

import (
	"net"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/loop"
)

// tailSink is a transport that takes bytes, as a socket does.
type tailSink struct {
	driver channel.Driver
	got    []byte
}

func (t *tailSink) Register(d channel.Driver) error  { t.driver = d; return nil }
func (t *tailSink) Deregister() error                { return nil }
func (t *tailSink) Active() bool                     { return true }
func (t *tailSink) Bind(net.Addr) error              { return nil }
func (t *tailSink) Connect(_, _ net.Addr) error      { return nil }
func (t *tailSink) StartRead()                       {}
func (t *tailSink) StopRead()                        {}
func (t *tailSink) Shutdown(channel.Direction) error { return nil }
func (t *tailSink) Close() error                     { return nil }
func (t *tailSink) LocalAddr() net.Addr              { return nil }
func (t *tailSink) RemoteAddr() net.Addr             { return nil }
func (t *tailSink) Write(q *channel.Queue) error {
	for _, run := range q.Gather(make([][]byte, 0, 8)) {
		t.got = append(t.got, run...)
	}
	q.Progress(q.Bytes())
	return nil
}

// appender answers each message with its text, in place where it can.
type appender struct{ inPlace, written []channel.Future }

func (a *appender) OnEvent(ctx *channel.Context, event any) {
	text := event.(string)
	if tail := ctx.Tail(len(text)); tail != nil {
		had := tail.Len()
		tail.WriteString(text)
		a.inPlace = append(a.inPlace, ctx.Appended(tail.Len()-had))
		return
	}
	b := ctx.Allocator().Allocate(16)
	b.WriteString(text)
	a.written = append(a.written, ctx.Write(b))
}

func TestTail(t *testing.T) {
	t.Parallel()
	m, err := loop.NewManual(loop.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	to, a := &tailSink{}, &appender{}
	ch := channel.New(m.Loop(), to, nil, nil)
	if err := ch.Pipeline().AddLast("a", a); err != nil {
		t.Fatal(err)
	}
	ch.Register()
	ch.FireEvent("one ")
	ch.FireEvent("two ")
	ch.FireEvent("three three three ") // no room
	if len(a.written) != 2 || len(a.inPlace) != 1 || ch.PendingBytes() != 26 {
		t.Fatalf("%d written, %d in place, %d pending", len(a.written), len(a.inPlace), ch.PendingBytes())
	}
	ch.Flush()
	ch.FireEvent("four") // what is flushed is not appended to
	if len(a.written) != 3 {
		t.Fatalf("%d written", len(a.written))
	}
	m.RunPending()
	if got := string(to.got); got != "one two three three three " {
		t.Fatalf("sent %q", got)
	}
	if !a.inPlace[0].IsSuccess() || !a.written[1].IsSuccess() || a.written[2].IsDone() {
		t.Fatal("the futures of what was sent are not done, or one of what was not is")
	}
	ch.Close()
	ch.FireEvent("five")
	if n := len(a.written); n != 4 || !a.written[2].IsFailed() || !a.written[3].IsFailed() {
		t.Fatalf("writes that can't be sent: %d written", n)
	}
}

// A handler in between has to see every message.
func TestTailBehindAWriteHandler(t *testing.T) {
	t.Parallel()
	m, err := loop.NewManual(loop.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	ch := channel.New(m.Loop(), &tailSink{}, nil, nil)
	a := &appender{}
	if err := ch.Pipeline().AddLast("through", passThrough{}); err != nil {
		t.Fatal(err)
	}
	if err := ch.Pipeline().AddLast("a", a); err != nil {
		t.Fatal(err)
	}
	ch.Register()
	ch.FireEvent("one")
	ch.FireEvent("two")
	if len(a.inPlace) != 0 || len(a.written) != 2 {
		t.Fatalf("%d in place, %d written", len(a.inPlace), len(a.written))
	}
	ch.Close()
}

type passThrough struct{}

func (passThrough) Write(ctx *channel.Context, msg any) channel.Future {
	b := msg.(*buffer.Buffer)
	return ctx.Write(b)
}

// gatherer keeps what is written until the flush, and writes it as one.
type gatherer struct{ kept *buffer.Buffer }

func (g *gatherer) Write(ctx *channel.Context, msg any) channel.Future {
	if g.kept == nil {
		g.kept = msg.(*buffer.Buffer)
	} else {
		g.kept.Append(msg.(*buffer.Buffer))
	}
	f, ok := ctx.NextWrite()
	if !ok {
		panic("a handler in between")
	}
	return f
}

func (g *gatherer) Flush(ctx *channel.Context) {
	if b := g.kept; b != nil {
		g.kept = nil
		ctx.Write(b)
	}
	ctx.Flush()
}

// The future of a write to come is done with it, or fails with the channel.
func TestNextWrite(t *testing.T) {
	t.Parallel()
	m, err := loop.NewManual(loop.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	to, g := &tailSink{}, &gatherer{}
	ch := channel.New(m.Loop(), to, nil, nil)
	if err := ch.Pipeline().AddLast("gatherer", g); err != nil {
		t.Fatal(err)
	}
	ch.Register()
	one, two := ch.Write(buffer.CopyString("one ")), ch.Write(buffer.CopyString("two"))
	m.RunPending()
	if one.IsDone() || two.IsDone() {
		t.Fatal("done before it was written")
	}
	ch.Flush()
	m.RunPending()
	if !one.IsSuccess() || !two.IsSuccess() || string(to.got) != "one two" {
		t.Fatalf("%v, %v, sent %q", one.Err(), two.Err(), to.got)
	}
	three := ch.Write(buffer.CopyString("three"))
	ch.Close()
	if three.Err() != channel.ErrClosed {
		t.Errorf("what was never written: %v", three.Err())
	}
	g.kept.Close()
}

// Behind a handler that takes writes nobody knows how many they become.
func TestNextWriteBehindAWriteHandler(t *testing.T) {
	t.Parallel()
	asked, known := false, false
	ask := eventHandler(func(ctx *channel.Context) { asked = true; _, known = ctx.NextWrite() })
	r := newRig(t, nil, passThrough{}, ask)
	r.ch.FireEvent("ask")
	if !asked || known {
		t.Errorf("asked %t, known %t", asked, known)
	}
}

type eventHandler func(ctx *channel.Context)

func (f eventHandler) OnEvent(ctx *channel.Context, _ any) { f(ctx) }
