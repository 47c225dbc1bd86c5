package channel_test

import (
	"errors"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

// A buffer that is closed, or written once more, after it was written is a handler's mistake. It
// ends the channel, however the queue comes upon it, and nothing else.
func TestBufferClosedAfterItWasWritten(t *testing.T) {
	t.Parallel()
	content := func() *buffer.Buffer {
		b := buffer.New(100)
		_, _ = b.WriteString("content")
		return b
	}
	for name, mistake := range map[string]func(r *rig, ctx *channel.Context) (f channel.Future){
		"flushed after the turn": func(r *rig, _ *channel.Context) channel.Future {
			b := content()
			defer b.Close()
			return r.ch.WriteAndFlush(b)
		},
		"behind another": func(r *rig, _ *channel.Context) channel.Future {
			r.ch.Write(buffer.Wrap([]byte("before")))
			b := buffer.Wrap(make([]byte, 1000))
			defer b.Close()
			return r.ch.WriteAndFlush(b)
		},
		"flushed after a batch": func(r *rig, _ *channel.Context) channel.Future {
			b := content()
			r.driver.BeginBatch()
			f := r.ch.WriteAndFlush(b)
			b.Close()
			r.driver.EndBatch()
			return f
		},
		"when the transport can go on": func(r *rig, _ *channel.Context) channel.Future {
			r.room = 1
			b := content()
			f := r.ch.WriteAndFlush(b)
			r.loop.RunPending()
			b.Close()
			r.writable(-1)
			return f
		},
		"flushed by the close": func(r *rig, _ *channel.Context) channel.Future {
			b := content()
			f := r.ch.WriteAndFlush(b)
			b.Close()
			r.ch.Close()
			return f
		},
		"never flushed": func(r *rig, _ *channel.Context) channel.Future {
			b := content()
			f := r.ch.Write(b)
			b.Close()
			r.ch.Close()
			return f
		},
		"others are copied behind it": func(r *rig, _ *channel.Context) channel.Future {
			b := content()
			f := r.ch.Write(b)
			b.Close()
			r.ch.Write(content())
			return f
		},
		"others are appended to it": func(r *rig, ctx *channel.Context) channel.Future {
			b := content()
			f := r.ch.Write(b)
			b.Close()
			ctx.Contain(func() { ctx.Tail(3) })
			return f
		},
		"shut down behind it": func(r *rig, _ *channel.Context) channel.Future {
			b := content()
			f := r.ch.WriteAndFlush(b)
			b.Close()
			if err := r.ch.Shutdown(channel.Outbound).Err(); err == nil {
				r.t.Error("the output was shut down in order")
			}
			return f
		},
		"written twice": func(r *rig, _ *channel.Context) channel.Future {
			b := buffer.Wrap(make([]byte, 1000))
			r.ch.Write(b)
			return r.ch.WriteAndFlush(b)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, log := logged()
			place := &placed{}
			r := newRig(t, c, place)
			f := mistake(r, place.ctx)
			last := r.ch.Write(content())
			r.ch.Flush()
			r.loop.RunPending()
			if r.ch.IsOpen() || !r.closed {
				t.Error("the channel is open")
			}
			for i, f := range []channel.Future{f, last} {
				if err := f.Err(); !errors.Is(err, buffer.ErrClosed) && !errors.Is(err, channel.ErrClosed) {
					t.Errorf("write %d: done %v, %v", i, f.IsDone(), err)
				}
			}
			if n := r.loop.Loop().Stats().Panics; n != 0 {
				t.Errorf("%d panics have come to the loop: %s", n, log)
			}
		})
	}
}

// placed keeps its Context.
type placed struct{ ctx *channel.Context }

func (p *placed) Added(ctx *channel.Context) { p.ctx = ctx }
