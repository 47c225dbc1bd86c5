package channel_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
)

// shifting is a pipeline whose handlers change it from inside of every callback, beside a list
// of what should be in it.
type shifting struct {
	t     *testing.T
	rnd   *rand.Rand
	ch    *embedded.Channel
	model []*shifter
	all   []*shifter
	depth int
	calm  bool
}

// shifter is a handler that passes everything on, and changes its pipeline meanwhile.
type shifter struct {
	s              *shifting
	name           string
	added, removed int
}

func (h *shifter) Added(*channel.Context) {
	if h.added++; h.added > 1 {
		h.s.t.Errorf("%s was added twice", h.name)
	}
	h.s.shift()
}

func (h *shifter) Removed(ctx *channel.Context) {
	h.s.forget(h) // where Replace has removed it
	if h.removed++; h.added != 1 || h.removed > 1 || !ctx.Removed() {
		h.s.t.Errorf("%s: added %d, removed %d times", h.name, h.added, h.removed)
	}
	h.s.shift()
}

// enters says that an event has come to the handler.
func (h *shifter) enters() {
	if h.added != 1 || h.removed != 0 {
		h.s.t.Errorf("%s gets an event: added %d, removed %d times", h.name, h.added, h.removed)
	}
	h.s.shift()
}

// The kinds of shifters differ in what they take.
type (
	readShifter   struct{ shifter }
	writeShifter  struct{ shifter }
	duplexShifter struct{ readShifter }
	errorShifter  struct{ shifter }
)

func (h *readShifter) OnRead(ctx *channel.Context, msg any) {
	h.enters()
	ctx.FireRead(msg)
	h.s.shift()
}
func (h *readShifter) OnReadComplete(ctx *channel.Context) { h.enters(); ctx.FireReadComplete() }

func (h *writeShifter) Write(ctx *channel.Context, msg any) channel.Future {
	h.enters()
	defer h.s.shift()
	return ctx.Write(msg)
}
func (h *writeShifter) Flush(ctx *channel.Context) { h.enters(); ctx.Flush() }

func (h *duplexShifter) Write(ctx *channel.Context, msg any) channel.Future {
	h.enters()
	defer h.s.shift()
	return ctx.Write(msg)
}

func (h *errorShifter) OnEvent(ctx *channel.Context, event any) {
	h.enters()
	ctx.FireEvent(event)
	if h.s.rnd.IntN(4) == 0 && !h.s.calm {
		panic("after all is done")
	}
}
func (h *errorShifter) OnError(ctx *channel.Context, err error) { h.enters() }

func (s *shifting) make() (h *shifter, handler any) {
	common := shifter{s: s, name: fmt.Sprint("h", len(s.all))}
	switch s.rnd.IntN(4) {
	case 0:
		r := &readShifter{common}
		h, handler = &r.shifter, r
	case 1:
		w := &writeShifter{common}
		h, handler = &w.shifter, w
	case 2:
		d := &duplexShifter{readShifter{common}}
		h, handler = &d.shifter, d
	default:
		e := &errorShifter{common}
		h, handler = &e.shifter, e
	}
	s.all = append(s.all, h)
	return h, handler
}

// shift changes the pipeline, or not.
func (s *shifting) shift() {
	if s.calm || s.depth > 2 || s.rnd.IntN(4) > 0 || len(s.all) > 2000 {
		return
	}
	s.depth++
	s.change()
	s.depth--
	if s.depth == 0 {
		s.compare()
	}
}

func (s *shifting) change() {
	p := s.ch.Pipeline()
	at := 0
	if n := len(s.model); n > 0 {
		at = s.rnd.IntN(n)
	}
	op := s.rnd.IntN(8)
	if len(s.model) == 0 {
		op %= 2
	} else if len(s.model) > 12 {
		op = 7
	}
	var err error
	// The model changes first: the callbacks of a change find it done.
	switch op {
	case 0:
		h, handler := s.make()
		s.model = append(s.model, h)
		err = p.AddLast(h.name, handler)
	case 1:
		h, handler := s.make()
		s.model = slices.Insert(s.model, 0, h)
		err = p.AddFirst(h.name, handler)
	case 2:
		h, handler := s.make()
		base := s.model[at].name
		s.model = slices.Insert(s.model, at, h)
		err = p.AddBefore(base, h.name, handler)
	case 3:
		h, handler := s.make()
		base := s.model[at].name
		s.model = slices.Insert(s.model, at+1, h)
		err = p.AddAfter(base, h.name, handler)
	case 4, 5:
		old := s.model[at]
		h, handler := s.make()
		s.model = slices.Insert(s.model, at+1, h)
		err = p.Replace(old.name, h.name, handler)
	default:
		old := s.model[at]
		s.forget(old)
		err = p.Remove(old.name)
	}
	if err != nil {
		s.t.Error(err)
	}
}

func (s *shifting) forget(h *shifter) {
	s.model = slices.DeleteFunc(s.model, func(o *shifter) bool { return o == h })
}

func (s *shifting) compare() {
	var want []string
	for _, h := range s.model {
		want = append(want, h.name)
	}
	if got := s.ch.Pipeline().Names(); !slices.Equal(got, want) {
		s.t.Fatalf("pipeline %v, want %v", got, want)
	}
	for _, h := range s.all {
		if in := slices.Contains(s.model, h); h.added != 1 || (h.removed == 0) != in {
			s.t.Fatalf("%s: in the pipeline %v, added %d, removed %d times", h.name, in, h.added, h.removed)
		}
	}
}

// Handlers that change their pipeline from inside of callbacks lose and double nothing that
// passes through it, and each is told once that it has come and that it has gone.
func TestPipelineThatShiftsUnderway(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		config, _ := logged()
		s := &shifting{t: t, rnd: rand.New(rand.NewPCG(seed, 9)), ch: embedded.NewConfig(config)}
		for step := range 60 {
			s.depth++
			s.change()
			s.depth--
			s.compare()
			switch s.rnd.IntN(3) {
			case 0:
				_ = s.ch.WriteInbound(1, 2, 3)
				for want := 1; want <= 3; want++ {
					if got := s.ch.ReadInbound(); got != want {
						t.Fatalf("seed %d, step %d: got %v, want %d", seed, step, got, want)
					}
				}
			case 1:
				f := s.ch.Channel.Write("out")
				_ = s.ch.WriteOutbound("last")
				for _, want := range []string{"out", "last"} {
					if got := s.ch.ReadOutbound(); got != want || !f.IsSuccess() {
						t.Fatalf("seed %d, step %d: sent %v, want %v; %v", seed, step, got, want, f.Err())
					}
				}
			default:
				event := &tracked{}
				s.ch.FireEvent(event)
				s.ch.RunPending()
				if event.closes != 1 {
					t.Fatalf("seed %d, step %d: an event at the tail was closed %d times", seed, step, event.closes)
				}
			}
			_ = s.ch.Err()
			if s.ch.ReadInbound() != nil || s.ch.ReadOutbound() != nil || t.Failed() {
				t.Fatalf("seed %d, step %d: more came out than went in", seed, step)
			}
		}
		s.calm = true
		s.ch.Finish()
		for _, h := range s.all {
			if h.added != 1 || h.removed != 1 {
				t.Fatalf("seed %d: %s: added %d, removed %d times", seed, h.name, h.added, h.removed)
			}
		}
	}
}
