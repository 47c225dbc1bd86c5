package channel_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
)

func TestPipelineOrder(t *testing.T) {
	t.Parallel()
	j := &journal{}
	at := &tail{}
	r := newUnregistered(t, at.config(), &spy{"a", j}, &spy{"b", j})
	if got := j.take(); got != "a.added b.added" {
		t.Fatal(got)
	}
	r.active = true
	r.ch.Register()
	want := "b.Register a.Register a.registered b.registered a.active b.active b.Read a.Read"
	if got := j.take(); got != want {
		t.Errorf("register:\n%s\n%s", got, want)
	}
	r.batch("x")
	want = "a.read(x) b.read(x) a.complete b.complete b.Read a.Read"
	if got := j.take(); got != want {
		t.Errorf("read:\n%s\n%s", got, want)
	}
	r.ch.FireEvent(7)
	r.ch.SendEvent(8)
	want = "a.event(7) b.event(7) b.SendEvent(8) a.SendEvent(8)"
	if got := j.take(); got != want {
		t.Errorf("events:\n%s\n%s", got, want)
	}
	r.ch.Flush()
	r.ch.Bind(nil)
	r.ch.Connect(nil, nil)
	want = "b.Flush a.Flush b.Bind a.Bind b.Connect a.Connect"
	if got := j.take(); got != want {
		t.Errorf("operations:\n%s\n%s", got, want)
	}
	r.ch.Shutdown(channel.Outbound)
	r.ch.Close()
	r.loop.RunPending()
	want = "b.Shutdown(outbound) a.Shutdown(outbound) a.shutdown(outbound) b.shutdown(outbound) " +
		"b.Close a.Close a.inactive b.inactive a.unregistered b.unregistered b.removed a.removed"
	if got := j.take(); got != want {
		t.Errorf("close:\n%s\n%s", got, want)
	}
	if len(at.msgs) != 1 || len(at.errors) != 0 {
		t.Errorf("the tail got %v and %v", at.msgs, at.errors)
	}
}

func TestPipelineNames(t *testing.T) {
	t.Parallel()
	ch := embedded.New()
	defer ch.Finish()
	p := ch.Pipeline()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	a, b := &pass{}, &sink{}
	must(p.AddLast("a", a))
	must(p.AddLast("", b))
	must(p.AddFirst("", &sink{}))
	must(p.AddBefore("a", "before", &pass{}))
	must(p.AddAfter("a", "after", &pass{}))
	want := []string{"*channel_test.sink#2", "before", "a", "after", "*channel_test.sink"}
	if got := p.Names(); !slices.Equal(got, want) {
		t.Errorf("names %v, want %v", got, want)
	}
	if p.Get("a") != any(a) || p.Get("none") != nil || p.ContextOf(b).Name() != "*channel_test.sink" {
		t.Error("look-ups found the wrong handler")
	}
	for _, err := range []error{p.AddLast("a", &pass{}), p.AddAfter("a", "before", &pass{}), p.Replace("a", "after", &pass{})} {
		if !errors.Is(err, channel.ErrDuplicateName) {
			t.Errorf("duplicate name: %v", err)
		}
	}
	for _, err := range []error{
		p.Remove("none"), p.RemoveHandler(&sink{}), p.Replace("none", "x", &pass{}),
		p.AddBefore("none", "x", &pass{}), p.AddAfter("none", "x", &pass{}),
	} {
		if !errors.Is(err, channel.ErrNoSuchHandler) {
			t.Errorf("unknown handler: %v", err)
		}
	}
	if got := p.Names(); !slices.Equal(got, want) {
		t.Errorf("a refused change has changed the pipeline: %v", got)
	}
	must(p.Replace("a", "a", &pass{}))
	must(p.Replace("a", "c", &pass{}))
	must(p.RemoveHandler(b))
	want = []string{"*channel_test.sink#2", "before", "c", "after"}
	if got := p.Names(); !slices.Equal(got, want) {
		t.Errorf("names %v, want %v", got, want)
	}
}

// misspelt has a handler method with the wrong signature; a typo must not pass in silence.
type misspelt struct{ pass }

func (misspelt) OnEvent(*channel.Context) {}

// closer has a method with a handler method's name that is none.
type closer struct{ pass }

func (closer) Close() error { return nil }

func TestPipelineRefusesWhatIsNoHandler(t *testing.T) {
	t.Parallel()
	ch := embedded.New()
	defer ch.Finish()
	for _, h := range []any{nil, 1, &struct{}{}, misspelt{}, &misspelt{}} {
		for range 2 { // the second time from the cache
			if err := ch.Pipeline().AddLast("", h); err == nil {
				t.Errorf("%T was taken for a handler", h)
			}
		}
	}
	if err := ch.Pipeline().AddLast("", &misspelt{}); !strings.Contains(err.Error(), "OnEvent") {
		t.Errorf("the error doesn't name the method: %v", err)
	}
	if err := ch.Pipeline().AddLast("", &closer{}); err != nil {
		t.Errorf("an io.Closer with handler methods: %v", err)
	}
	if got := len(ch.Pipeline().Names()); got != 1 {
		t.Errorf("%d handlers", got)
	}
}

func TestPipelineWithHandlersThatCannotBeCompared(t *testing.T) {
	t.Parallel()
	f := reader(func(ctx *channel.Context, msg any) { ctx.FireRead(msg) })
	h := &pass{}
	ch := embedded.New(f, h)
	defer ch.Finish()
	if err := ch.Pipeline().RemoveHandler(f); !errors.Is(err, channel.ErrNoSuchHandler) {
		t.Error(err)
	}
	if ch.Pipeline().ContextOf(f) != nil || ch.Pipeline().ContextOf(nil) != nil || ch.Pipeline().ContextOf(h) == nil {
		t.Error("ContextOf found the wrong handler")
	}
}

func TestPipelineReplaceKeepsOrder(t *testing.T) {
	t.Parallel()
	j := &journal{}
	ch := embedded.New(&spy{"a", j}, &spy{"b", j}, &spy{"c", j})
	defer ch.Finish()
	p := ch.Pipeline()
	j.take()
	if err := p.Replace(p.Names()[1], "new", &spy{"n", j}); err != nil {
		t.Fatal(err)
	}
	if got := j.take(); got != "n.added b.removed" {
		t.Error(got)
	}
	_ = ch.WriteInbound("x")
	if got := j.take(); !strings.HasPrefix(got, "a.read(x) n.read(x) c.read(x)") {
		t.Error(got)
	}
	_ = ch.WriteOutbound("y")
	if got := j.take(); !strings.HasPrefix(got, "c.Write(y) n.Write(y) a.Write(y)") {
		t.Error(got)
	}
}

// What a handler that is removed still holds goes on from where it stood.
func TestPipelineRemovedHandlerLetsGo(t *testing.T) {
	t.Parallel()
	var order []string
	note := func(name string) reader {
		return func(ctx *channel.Context, msg any) {
			order = append(order, name)
			ctx.FireRead(msg)
		}
	}
	noteWrite := func(name string) writer {
		return func(ctx *channel.Context, msg any) channel.Future {
			order = append(order, name)
			return ctx.Write(msg)
		}
	}
	hold := remover(func(ctx *channel.Context) {
		if !ctx.Removed() {
			t.Error("Removed runs while the context says otherwise")
		}
		ctx.FireRead("held")
		ctx.FireReadComplete()
		ctx.WriteAndFlush("written")
	})
	ch := embedded.New(note("r1"), noteWrite("w1"), hold, note("r2"), noteWrite("w2"))
	defer ch.Finish()
	if err := ch.Pipeline().Remove("channel_test.remover"); err != nil {
		t.Fatal(err)
	}
	ch.RunPending()
	if got := strings.Join(order, " "); got != "r2 w1" {
		t.Errorf("events of the removed handler went to %q", got)
	}
	if ch.ReadInbound() != "held" || ch.ReadOutbound() != "written" {
		t.Error("what the handler held was lost")
	}
}

func TestPipelineOfAClosedChannel(t *testing.T) {
	t.Parallel()
	again := 0
	var add remover
	add = func(ctx *channel.Context) {
		again++
		if err := ctx.Pipeline().AddLast("", add); !errors.Is(err, channel.ErrPipelineEnded) {
			t.Errorf("a handler added after the end: %v", err)
		}
	}
	ch := embedded.New(add)
	ch.Finish()
	if again != 1 {
		t.Errorf("removed %d times", again)
	}
	if err := ch.Pipeline().AddFirst("", &pass{}); !errors.Is(err, channel.ErrPipelineEnded) {
		t.Error(err)
	}
}

// A handler added while its channel closes is still told of its removal.
func TestPipelineAddBetweenCloseAndEnd(t *testing.T) {
	t.Parallel()
	j := &journal{}
	ch := embedded.New()
	ch.Close()
	if err := ch.Pipeline().AddLast("late", &spy{"l", j}); err != nil {
		t.Fatal(err)
	}
	ch.RunPending()
	if got := j.take(); got != "l.added l.inactive l.unregistered l.removed" {
		t.Error(got)
	}
	ch.Finish()
}
