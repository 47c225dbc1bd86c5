package channel_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
)

// The hot events are linked straight to the handlers that take them. Whatever is done to a
// pipeline, they must visit just those, in order.
func TestRelinkRandomly(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		r := &relinker{ch: embedded.New()}
		for step := range 60 {
			r.change(rnd)
			if err := r.check(); err != nil {
				t.Fatalf("seed %d, step %d, pipeline %v: %v", seed, step, r.model, err)
			}
		}
		r.ch.Finish()
	}
}

type relinker struct {
	ch      *embedded.Channel
	model   []place
	visited []string
	made    int
}

type place struct{ name, kind string }

const kinds = "rcwfe*"

// handler returns a handler that takes the events of its kind.
func (r *relinker) handler(p place) any {
	visit := func(event string) { r.visited = append(r.visited, event+p.name) }
	switch p.kind {
	case "r":
		return reader(func(ctx *channel.Context, msg any) { visit("r"); ctx.FireRead(msg) })
	case "c":
		return completer(func(ctx *channel.Context) { visit("c"); ctx.FireReadComplete() })
	case "w":
		return writer(func(ctx *channel.Context, msg any) channel.Future { visit("w"); return ctx.Write(msg) })
	case "f":
		return flusher(func(ctx *channel.Context) { visit("f"); ctx.Flush() })
	case "e":
		return eventer(func(ctx *channel.Context, event any) { ctx.FireEvent(event) })
	}
	return &hot{visit}
}

// hot takes all hot events.
type hot struct{ visit func(event string) }

func (h *hot) OnRead(ctx *channel.Context, msg any) { h.visit("r"); ctx.FireRead(msg) }
func (h *hot) OnReadComplete(ctx *channel.Context)  { h.visit("c"); ctx.FireReadComplete() }
func (h *hot) Write(ctx *channel.Context, msg any) channel.Future {
	h.visit("w")
	return ctx.Write(msg)
}
func (h *hot) Flush(ctx *channel.Context) { h.visit("f"); ctx.Flush() }

func (r *relinker) change(rnd *rand.Rand) {
	p := r.ch.Pipeline()
	r.made++
	n := place{fmt.Sprint(r.made), string(kinds[rnd.IntN(len(kinds))])}
	at := 0
	if len(r.model) > 0 {
		at = rnd.IntN(len(r.model))
	}
	op := rnd.IntN(7)
	if len(r.model) == 0 {
		op = op % 2
	}
	var err error
	switch op {
	case 0:
		err = p.AddLast(n.name, r.handler(n))
		r.model = append(r.model, n)
	case 1:
		err = p.AddFirst(n.name, r.handler(n))
		r.model = slices.Insert(r.model, 0, n)
	case 2:
		err = p.AddBefore(r.model[at].name, n.name, r.handler(n))
		r.model = slices.Insert(r.model, at, n)
	case 3:
		err = p.AddAfter(r.model[at].name, n.name, r.handler(n))
		r.model = slices.Insert(r.model, at+1, n)
	case 4:
		err = p.Replace(r.model[at].name, n.name, r.handler(n))
		r.model[at] = n
	default:
		err = p.Remove(r.model[at].name)
		r.model = slices.Delete(r.model, at, at+1)
	}
	if err != nil {
		panic(err)
	}
}

func (r *relinker) check() error {
	for _, event := range []string{"r", "c", "w", "f"} {
		var want []string
		for _, p := range r.model {
			if p.kind == event || p.kind == "*" {
				want = append(want, event+p.name)
			}
		}
		r.visited = nil
		switch event {
		case "r", "c":
			_ = r.ch.WriteInbound("m")
			r.ch.ReadInbound()
		case "w", "f":
			slices.Reverse(want)
			_ = r.ch.WriteOutbound("m")
			r.ch.ReadOutbound()
		}
		got := slices.DeleteFunc(r.visited, func(s string) bool { return !strings.HasPrefix(s, event) })
		if !slices.Equal(got, want) {
			return fmt.Errorf("event %s visited %v, want %v", event, got, want)
		}
	}
	return nil
}

// Changes to the pipeline from inside an event that is on its way through it.
func TestRelinkDuringAnEvent(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		change  func(p *channel.Pipeline) error
		in, out string // where the event goes, x being the handler that makes the change
	}{
		{"removes itself", remove("x"), "a x b c", "a x b c"},
		{"removes the next", remove("b"), "a x c", "a x c"},
		{"removes the next two", remove("b", "c"), "a x", "a x"},
		{"removes itself, then the next", remove("x", "b"), "a x c", "a x c"},
		{"removes the next, then itself", remove("b", "x"), "a x c", "a x c"},
		{"removes itself and all others", remove("x", "a", "b", "c"), "a x", "a x"},
		{"removes the one before", remove("a"), "a x b c", "a x b c"},
		{"replaces the next", replace("b"), "a x new c", "a x new c"},
		// The new one stands on the tail's side of the old one.
		{"replaces itself", replace("x"), "a x new b c", "a x b c"},
		{"replaces itself, removes the next", both(replace("x"), remove("b")), "a x new c", "a x c"},
		{"adds one on the tail's side", func(p *channel.Pipeline) error { return p.AddAfter("x", "new", mark("new")) },
			"a x new b c", "a x b c"},
		{"adds one on the head's side", func(p *channel.Pipeline) error { return p.AddBefore("x", "new", mark("new")) },
			"a x b c", "a x new b c"},
		{"adds one where it removes", both(remove("b", "c"),
			func(p *channel.Pipeline) error { return p.AddLast("new", mark("new")) }), "a x new", "a x"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			inbound, outbound := embedded.New(), embedded.New()
			defer inbound.Finish()
			defer outbound.Finish()
			for _, name := range []string{"a", "x", "b", "c"} {
				h := func() any {
					if name == "x" {
						return &changer{change: row.change}
					}
					return mark(name)
				}
				_ = inbound.Pipeline().AddLast(name, h())
				_ = outbound.Pipeline().AddFirst(name, h())
			}
			in, out := &trail{}, &trail{}
			_ = inbound.WriteInbound(in)
			if got := strings.Join(in.visits, " "); got != row.in || inbound.ReadInbound() != any(in) {
				t.Errorf("inbound it went %q, want %q", got, row.in)
			}
			_ = outbound.WriteOutbound(out)
			if got := strings.Join(out.visits, " "); got != row.out || outbound.ReadOutbound() != any(out) {
				t.Errorf("outbound it went %q, want %q", got, row.out)
			}
		})
	}
}

// trail is a message that remembers its way.
type trail struct{ visits []string }

// mark is a handler that leaves its name on the trail.
type mark string

func (m mark) OnRead(ctx *channel.Context, msg any) {
	msg.(*trail).visits = append(msg.(*trail).visits, string(m))
	ctx.FireRead(msg)
}

func (m mark) Write(ctx *channel.Context, msg any) channel.Future {
	msg.(*trail).visits = append(msg.(*trail).visits, string(m))
	return ctx.Write(msg)
}

// changer changes its pipeline before it passes the first message on.
type changer struct {
	change  func(p *channel.Pipeline) error
	changed bool
}

func (c *changer) visit(ctx *channel.Context, msg any) {
	msg.(*trail).visits = append(msg.(*trail).visits, "x")
	if !c.changed {
		c.changed = true
		if err := c.change(ctx.Pipeline()); err != nil {
			panic(err)
		}
	}
}

func (c *changer) OnRead(ctx *channel.Context, msg any) {
	c.visit(ctx, msg)
	ctx.FireRead(msg)
}

func (c *changer) Write(ctx *channel.Context, msg any) channel.Future {
	c.visit(ctx, msg)
	return ctx.Write(msg)
}

func remove(names ...string) func(p *channel.Pipeline) error {
	return func(p *channel.Pipeline) error {
		for _, name := range names {
			if err := p.Remove(name); err != nil {
				return err
			}
		}
		return nil
	}
}

func replace(name string) func(p *channel.Pipeline) error {
	return func(p *channel.Pipeline) error { return p.Replace(name, "new", mark("new")) }
}

func both(first, second func(p *channel.Pipeline) error) func(p *channel.Pipeline) error {
	return func(p *channel.Pipeline) error {
		if err := first(p); err != nil {
			return err
		}
		return second(p)
	}
}
