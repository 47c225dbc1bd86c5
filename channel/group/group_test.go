package group_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/channel/group"
	"millrace.dev/loop"
	"millrace.dev/transport/local"
)

func TestMain(m *testing.M) { buffertest.Main(m) }

// patience is how long a test waits for what must happen.
const patience = time.Minute

// listener keeps the text that its channel has received.
type listener struct {
	mu   sync.Mutex
	text string
}

func (l *listener) OnRead(_ *channel.Context, msg any) {
	b := msg.(*buffer.Buffer)
	defer b.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text += string(b.Bytes())
}

func (l *listener) heard() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text
}

// rig is a server whose connections are in a group, and clients that listen.
type rig struct {
	*testing.T
	ctx       context.Context
	loops     *loop.Group
	group     group.Group
	clients   []*channel.Channel
	listeners []*listener
}

func newRig(t *testing.T, loops, clients int) *rig {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	r := &rig{T: t, ctx: ctx}
	g, err := loop.NewGroup(loop.Options{Loops: loops, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	r.loops = g
	t.Cleanup(func() {
		if _, err := g.Shutdown(0, patience).Wait(ctx); err != nil {
			t.Error(err)
		}
		cancel()
	})
	network := local.New(local.Options{})
	server := &bootstrap.Server{Group: g, Transport: network, Init: func(ch *channel.Channel) error {
		r.group.Add(ch)
		return ch.Pipeline().AddLast("listener", &listener{})
	}}
	if _, err := server.Bind(local.Addr("server")).Wait(ctx); err != nil {
		t.Fatal(err)
	}
	client := &bootstrap.Client{Group: g, Transport: network, Init: func(ch *channel.Channel) error {
		return ch.Pipeline().AddLast("listener", &listener{})
	}}
	for range clients {
		ch, err := client.Connect(local.Addr("server")).Wait(ctx)
		if err != nil {
			t.Fatal(err)
		}
		r.clients = append(r.clients, ch)
		r.listeners = append(r.listeners, ch.Pipeline().Get("listener").(*listener))
	}
	r.await("all in the group", func() bool { return r.group.Len() == clients })
	return r
}

// await waits until cond is true.
func (r *rig) await(what string, cond func() bool) {
	r.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-r.ctx.Done():
			r.Fatalf("waited in vain for %s", what)
		}
	}
}

// finished waits for all visits.
func (r *rig) finished(f channel.Future) {
	r.Helper()
	if _, err := f.Wait(r.ctx); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) everyoneHeard(want string) {
	r.Helper()
	for _, l := range r.listeners {
		r.await("what was sent", func() bool { return len(l.heard()) >= len(want) })
		if got := l.heard(); got != want {
			r.Errorf("heard %q, want %q", got, want)
		}
	}
}

func TestSend(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3, 7)
	want := ""
	for i := range 50 { // off the loops, so that they overlap
		word := fmt.Sprint(i, " ")
		want += word
		r.group.Send(buffer.CopyString(word), nil)
	}
	r.everyoneHeard(want)
}

func TestSendChooses(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2, 4)
	chosen := r.loops.Loops()[0]
	var want atomic.Int32
	r.finished(r.group.Each(func(ch *channel.Channel) {
		if ch.Loop() == chosen {
			want.Add(1)
		}
	}))
	r.finished(r.group.Send(buffer.CopyString("some "), func(ch *channel.Channel) bool { return ch.Loop() == chosen }))
	r.finished(r.group.Send(buffer.CopyString("all"), nil))
	var both int32
	for _, l := range r.listeners {
		r.await("the end", func() bool { return len(l.heard()) >= 3 && l.heard() != "some " })
		if l.heard() == "some all" {
			both++
		}
	}
	if both != want.Load() {
		t.Errorf("%d were chosen of %d on the loop", both, want.Load())
	}
}

func TestLeaving(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2, 4)
	for i, ch := range r.clients { // by closing
		if i%2 == 0 {
			ch.Close()
		}
	}
	r.await("two to leave", func() bool { return r.group.Len() == 2 })
	var first atomic.Pointer[channel.Channel]
	r.finished(r.group.Each(func(ch *channel.Channel) { first.CompareAndSwap(nil, ch) }))
	ch := first.Load()
	for range 3 { // and by hand, more than once
		r.group.Remove(ch)
		r.group.Remove(ch)
		r.await("one to leave", func() bool { return r.group.Len() == 1 })
		r.group.Add(ch)
		r.group.Add(ch)
		r.await("it to come back", func() bool { return r.group.Len() == 2 })
	}
	var visits atomic.Int32
	r.finished(r.group.Each(func(ch *channel.Channel) {
		visits.Add(1)
		ch.Close() // allowed
	}))
	if visits.Load() != 2 {
		t.Errorf("visited %d channels of 2", visits.Load())
	}
	r.await("all to leave", func() bool { return r.group.Len() == 0 })
	r.group.Add(ch) // it has closed
	r.finished(r.group.Each(func(*channel.Channel) { visits.Add(1) }))
	if visits.Load() != 2 || r.group.Len() != 0 {
		t.Error("a closed channel is a member")
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	var g group.Group
	if !g.Send(buffer.CopyString("nobody"), nil).IsSuccess() || !g.Each(func(*channel.Channel) {}).IsSuccess() {
		t.Error("not done though there is nothing to do")
	}
}

// A panic for one channel keeps nothing from the others.
func TestEachPanics(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1, 3)
	visits := 0
	f := r.group.Each(func(*channel.Channel) {
		visits++
		panic("test")
	})
	if f.Cancel() {
		t.Error("was cancelled under way")
	}
	r.finished(f)
	if visits != 3 || r.loops.Stats().Panics != 3 {
		t.Errorf("%d visits, %d panics", visits, r.loops.Stats().Panics)
	}
}

// Nothing is kept when the loops have ended.
func TestAfterTheLoops(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2, 2)
	if _, err := r.loops.Shutdown(0, patience).Wait(r.ctx); err != nil {
		t.Fatal(err)
	}
	if n := r.group.Len(); n != 0 {
		t.Errorf("%d channels outlive their loops", n)
	}
	r.finished(r.group.Send(buffer.CopyString("too late"), nil))
	r.group.Add(r.clients[0])
	r.group.Remove(r.clients[0])
}

// A message that the first has begun with comes first everywhere, although a turn visits a
// part of the channels only, and who was there at its start gets it.
func TestTurnsAreBounded(t *testing.T) {
	t.Parallel()
	const members = 2500
	r := newRig(t, 1, 0)
	l := r.loops.Loops()[0]
	seen := make(map[*channel.Channel][]int)
	var perTurn []int
	counting := func(round int) func(ch *channel.Channel) {
		return func(ch *channel.Channel) {
			seen[ch] = append(seen[ch], round)
			perTurn[len(perTurn)-1]++
		}
	}
	var all []*channel.Channel
	var done [2]channel.Future
	started := make(chan struct{})
	turn := &turns{loop: l, count: &perTurn}
	err := l.Execute(func() {
		defer close(started)
		for range members {
			ch := channel.New(l, local.New(local.Options{}).NewConn(), nil, nil)
			all = append(all, ch)
			r.group.Add(ch)
		}
		turn.TurnEnd()
		done = [2]channel.Future{r.group.Each(counting(1)), r.group.Each(counting(2))}
		r.group.Remove(all[0]) // before its turn came
	})
	if err != nil {
		t.Fatal(err)
	}
	<-started
	r.finished(done[0])
	r.finished(done[1])
	check := func() {
		turn.stop = true
		for _, n := range perTurn {
			if n > 1024 {
				t.Errorf("%d visits in a turn", n)
			}
		}
		for _, ch := range all[1:] {
			if !slices.Equal(seen[ch], []int{1, 2}) {
				t.Errorf("visits: %v", seen[ch])
			}
		}
		if len(seen[all[0]]) != 0 {
			t.Error("visited after it had left")
		}
		for _, ch := range all {
			ch.Close()
		}
	}
	checked := make(chan struct{})
	if err := l.Execute(func() { defer close(checked); check() }); err != nil {
		t.Fatal(err)
	}
	<-checked
}

// turns counts from one turn's end to the next.
type turns struct {
	loop  *loop.Loop
	count *[]int
	stop  bool
}

func (t *turns) TurnEnd() {
	*t.count = append(*t.count, 0)
	if !t.stop {
		t.loop.AtTurnEnd(t)
	}
}

// With a listener on the end of a channel for each time that it comes, one that comes and
// goes would cost more and more.
func TestComingAndGoingKeepsNothing(t *testing.T) {
	ch := embedded.New(&listener{})
	defer ch.Finish()
	var g group.Group
	g.Add(ch.Channel)
	if n := testing.AllocsPerRun(100, func() { g.Remove(ch.Channel); g.Add(ch.Channel) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
