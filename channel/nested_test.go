package channel_test

import (
	"errors"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

// echo fires an inbound event for each write before it passes the write on.
type echo struct {
	fire    func(ctx *channel.Context)
	reached bool // what follows the event
}

func (e *echo) Write(ctx *channel.Context, msg any) channel.Future {
	e.fire(ctx)
	e.reached = true
	return ctx.Write(msg)
}

// bomb panics at every inbound event and notes what OnError gets.
type bomb struct{ errors []error }

func (b *bomb) OnRegistered(*channel.Context)                  { panic(errBoom) }
func (b *bomb) OnActive(*channel.Context)                      { panic(errBoom) }
func (b *bomb) OnRead(*channel.Context, any)                   { panic(errBoom) }
func (b *bomb) OnReadComplete(*channel.Context)                { panic(errBoom) }
func (b *bomb) OnEvent(*channel.Context, any)                  { panic(errBoom) }
func (b *bomb) OnWritability(*channel.Context, bool)           { panic(errBoom) }
func (b *bomb) OnShutdown(*channel.Context, channel.Direction) { panic(errBoom) }
func (b *bomb) OnInactive(*channel.Context)                    { panic(errBoom) }
func (b *bomb) OnUnregistered(*channel.Context)                { panic(errBoom) }
func (b *bomb) OnError(_ *channel.Context, err error)          { b.errors = append(b.errors, err) }

// inboundEvents fires each inbound event from where a handler stands.
var inboundEvents = map[string]func(ctx *channel.Context){
	"registered":   func(ctx *channel.Context) { ctx.FireRegistered() },
	"active":       func(ctx *channel.Context) { ctx.FireActive() },
	"read":         func(ctx *channel.Context) { ctx.FireRead("x") },
	"deliver":      func(ctx *channel.Context) { ctx.Deliver("x") },
	"complete":     func(ctx *channel.Context) { ctx.FireReadComplete() },
	"event":        func(ctx *channel.Context) { ctx.FireEvent("x") },
	"writable":     func(ctx *channel.Context) { ctx.FireWritability(true) },
	"shutdown":     func(ctx *channel.Context) { ctx.FireShutdown(channel.Inbound) },
	"inactive":     func(ctx *channel.Context) { ctx.FireInactive() },
	"unregistered": func(ctx *channel.Context) { ctx.FireUnregistered() },
}

// An inbound event that a handler fires from inside an outbound operation is still inbound: a
// panic is the OnError of the handler that it happened in, and the operation goes on.
func TestInboundPanicWithinOutbound(t *testing.T) {
	t.Parallel()
	for name, fire := range inboundEvents {
		for _, removed := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				e := &echo{}
				e.fire = func(ctx *channel.Context) {
					if removed {
						_ = ctx.Pipeline().Remove(ctx.Name())
					}
					fire(ctx)
				}
				b := &bomb{}
				r := newUnregistered(t, channel.NewConfig(), e, b)
				f := r.ch.Pipeline().ContextOf(b).Write(buffer.CopyString("out"))
				if !e.reached || f.IsFailed() || !r.ch.IsOpen() {
					t.Errorf("removed %v: the write got on %v, failed with %v, the channel is open %v",
						removed, e.reached, f.Err(), r.ch.IsOpen())
				}
				var p *channel.PanicError
				if len(b.errors) != 1 || !errors.As(b.errors[0], &p) || p.Handler != "*channel_test.bomb" || p.Value != errBoom {
					t.Errorf("removed %v: OnError got %v", removed, b.errors)
				}
			})
		}
	}
}

// Without panics the events are passed on as ever, and what follows is blamed on the right one.
func TestInboundWithinOutboundAttribution(t *testing.T) {
	t.Parallel()
	for name, fire := range inboundEvents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := logged()
			j := &journal{}
			late := writer(func(ctx *channel.Context, msg any) channel.Future {
				fire(ctx)
				panic(errBoom)
			})
			r := newUnregistered(t, c, late, &spy{"z", j})
			msg := buffer.CopyString("out")
			f := r.ch.Pipeline().Context("channel_test.writer").Channel().Write(msg)
			var p *channel.PanicError
			if !errors.As(f.Err(), &p) || p.Handler != "channel_test.writer" || r.ch.IsOpen() || !msg.IsClosed() {
				t.Errorf("open %v, %v", r.ch.IsOpen(), f.Err())
			}
			if j.lines == nil {
				t.Error("the event was lost")
			}
		})
	}
}

// What is written inside of such an event is an operation of its own, whose panic its caller
// never sees.
func TestOutboundWithinInboundWithinOutbound(t *testing.T) {
	t.Parallel()
	c, _ := logged()
	var inner channel.Future
	depth := 0
	r := newUnregistered(t, c,
		writer(func(ctx *channel.Context, msg any) channel.Future {
			if depth++; depth == 2 {
				panic(errBoom)
			}
			ctx.FireRead("x")
			return ctx.Write(msg)
		}),
		reader(func(ctx *channel.Context, msg any) { inner = ctx.Write(buffer.CopyString("inner")) }))
	outer := r.ch.Write(buffer.CopyString("outer"))
	if !errors.Is(inner.Err(), errBoom) || !errors.Is(outer.Err(), channel.ErrClosed) {
		t.Errorf("inner %v, outer %v", inner.Err(), outer.Err())
	}
}
