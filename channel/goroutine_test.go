package channel_test

import (
	"context"
	"encoding/binary"
	"sync"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/loop"
)

// patience is how long a test waits for what has to come.
const patience = time.Minute

func newGroup(t *testing.T) *loop.Group {
	t.Helper()
	g, err := loop.NewGroup(loop.Options{Loops: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if _, err := g.Shutdown(0, time.Second).Wait(ctx); err != nil {
			t.Error(err)
		}
	})
	return g
}

// onLoop returns a registered channel over a rig on a real loop.
func onLoop(t *testing.T, l *loop.Loop, config *channel.Config, handlers ...any) *channel.Channel {
	t.Helper()
	ch, _ := rigOn(t, l, config, handlers...)
	return ch
}

func rigOn(t *testing.T, l *loop.Loop, config *channel.Config, handlers ...any) (*channel.Channel, *rig) {
	t.Helper()
	r := &rig{t: t, room: -1, maxRuns: 8, active: true}
	r.ch = channel.New(l, r, config, nil)
	for _, h := range handlers {
		r.add(h)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := r.ch.Register().Wait(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if _, err := r.ch.Close().Wait(ctx); err != nil {
			t.Error(err)
		}
	})
	return r.ch, r
}

// The order of one caller's calls is kept, whatever they are.
func TestCallsFromOtherGoroutinesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	var seen [][2]uint32
	record := func(b *buffer.Buffer) { seen = append(seen, [2]uint32{b.Uint32At(0), b.Uint32At(4)}) }
	ch, _ := rigOn(t, g.Next(), channel.NewConfig(),
		writer(func(ctx *channel.Context, msg any) channel.Future {
			record(msg.(*buffer.Buffer))
			return ctx.Write(msg)
		}),
		eventer(func(_ *channel.Context, event any) {
			record(event.(*buffer.Buffer))
			event.(*buffer.Buffer).Close()
		}))
	const callers, calls = 4, 500
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := range calls {
				b := buffer.New(8)
				b.WriteUint32(uint32(c))
				b.WriteUint32(uint32(i))
				switch i % 3 {
				case 0:
					ch.Write(b)
				case 1:
					ch.FireEvent(b)
				default:
					ch.WriteAndFlush(b)
				}
			}
		})
	}
	wg.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := ch.WriteAndFlush(lastOf(callers)).Wait(ctx); err != nil {
		t.Fatal(err)
	}
	next := map[uint32]uint32{}
	done := make(chan struct{})
	_ = ch.Loop().Execute(func() {
		defer close(done)
		for _, s := range seen {
			if s[1] != next[s[0]] {
				t.Errorf("caller %d: call %d came when %d was due", s[0], s[1], next[s[0]])
				return
			}
			next[s[0]]++
		}
	})
	<-done
	if next[0] != calls || len(next) != callers+1 {
		t.Errorf("counts %v", next)
	}
}

func lastOf(callers int) *buffer.Buffer {
	return buffer.Wrap(binary.BigEndian.AppendUint64(nil, uint64(callers)<<32))
}

// A loop that has ended refuses what is asked of its channels, and nothing leaks.
func TestCallsAfterTheLoopHasEnded(t *testing.T) {
	t.Parallel()
	g, err := loop.NewGroup(loop.Options{Loops: 1})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, room: -1, maxRuns: 8, active: true}
	ch := channel.New(g.Next(), r, channel.NewConfig(), nil)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := ch.Register().Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := ch.Close().Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Shutdown(0, time.Second).Wait(ctx); err != nil {
		t.Fatal(err)
	}
	msg, event, sent := &tracked{}, &tracked{}, &tracked{}
	for name, f := range map[string]channel.Future{
		"Write": ch.Write(msg), "SendEvent": ch.SendEvent(sent), "Close": ch.Close(), "Register": ch.Register(),
	} {
		if _, err := f.Wait(ctx); err == nil {
			t.Errorf("%s succeeded", name)
		}
	}
	ch.FireEvent(event)
	ch.Flush()
	ch.Read()
	ch.SetAutoRead(false)
	if msg.closes != 1 || event.closes != 1 || sent.closes != 1 {
		t.Errorf("closed: message %d, event %d, outbound event %d times", msg.closes, event.closes, sent.closes)
	}
}
