package codec_test

import (
	"net"
	"runtime"
	"slices"
	"testing"
	"time"
	"weak"

	"millrace.dev/channel"
	"millrace.dev/codec"
	"millrace.dev/loop"
)

func TestOutputListOnALoop(t *testing.T) {
	t.Parallel()
	m, err := loop.NewManual(loop.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	a, b := codec.NewOutputListOn(m.Loop()), codec.NewOutputListOn(m.Loop())
	if a == b {
		t.Fatal("one list was handed out twice")
	}
	left := &closable{}
	a.Add(left)
	a.Recycle()
	if left.closes != 1 {
		t.Errorf("what was left was closed %d times", left.closes)
	}
	if c := codec.NewOutputListOn(m.Loop()); c != a || c.Len() != 0 {
		t.Errorf("not the list that was recycled, or not empty: %d messages", c.Len())
	}
	b.Recycle()
}

// A list that was not handed out, and has room for its messages only, can be recycled, too.
func TestRecycledZeroOutputList(t *testing.T) {
	t.Parallel()
	for n := range 6 {
		out := new(codec.OutputList)
		messages := make([]closable, n)
		for i := range messages {
			out.Add(&messages[i])
		}
		out.Recycle()
		for i := range messages {
			if messages[i].closes != 1 {
				t.Errorf("message %d of %d was closed %d times", i, n, messages[i].closes)
			}
		}
	}
}

// A recycled list keeps no message in memory, however it was emptied.
func TestRecycledOutputListForgets(t *testing.T) {
	t.Parallel()
	m, err := loop.NewManual(loop.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, n := range []int{1, 3, 4, 5, 40} {
		for _, take := range []int{0, n / 2, n} {
			messages := fillAndRecycle(m.Loop(), n, take)
			for deadline := time.Now().Add(time.Minute); ; {
				runtime.GC()
				kept := 0
				for _, msg := range messages {
					if msg.Value() != nil {
						kept++
					}
				}
				if kept == 0 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("%d of %d messages, %d of them taken, are kept", kept, n, take)
				}
			}
		}
	}
	runtime.KeepAlive(m)
}

func fillAndRecycle(l *loop.Loop, n, take int) (messages []weak.Pointer[closable]) {
	out := codec.NewOutputListOn(l)
	for range n {
		msg := &closable{text: "a message of its own"}
		messages = append(messages, weak.Make(msg))
		out.Add(msg)
	}
	for range take {
		out.Take()
	}
	for range take { // those have been passed on, and others come into their places
		out.Add(&closable{})
	}
	out.Recycle()
	return messages
}

// greeter writes as soon as it is added, which is before the channel has come to its loop.
type greeter struct{}

func (greeter) Added(ctx *channel.Context) { ctx.Write(&closable{text: "hello"}) }

// writes takes the messages for sent.
type writes struct{ texts []string }

func (w *writes) Write(_ *channel.Context, msg any) channel.Future {
	w.texts = append(w.texts, textOf(msg))
	return channel.Future{}
}

func textOf(msg any) string {
	if c, ok := msg.(*closable); ok {
		return c.text
	}
	return msg.(string)
}

// unconnected is a transport that only ever closes.
type unconnected struct{ channel.Transport }

func (unconnected) Active() bool         { return false }
func (unconnected) StopRead()            {}
func (unconnected) Close() error         { return nil }
func (unconnected) LocalAddr() net.Addr  { return nil }
func (unconnected) RemoteAddr() net.Addr { return nil }

func TestWriteWhileTheChannelIsPrepared(t *testing.T) {
	t.Parallel()
	g, err := loop.NewGroup(loop.Options{Loops: 1})
	if err != nil {
		t.Fatal(err)
	}
	ch := channel.New(g.Next(), unconnected{}, quiet(), nil)
	head := &writes{}
	for _, h := range []any{head, codec.NewMessageEncoderHandler[*closable](&twice{}), greeter{}} {
		if err := ch.Pipeline().AddLast("", h); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(head.texts, []string{"hello1", "hello"}) {
		t.Errorf("wrote %q", head.texts)
	}
	ch.Close()
	if _, err := g.Shutdown(0, time.Minute).Wait(t.Context()); err != nil {
		t.Error(err)
	}
}
