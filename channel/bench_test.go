package channel_test

import (
	"fmt"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
)

// pass passes both directions' hot events on.
type pass struct{}

func (*pass) OnRead(ctx *channel.Context, msg any)               { ctx.FireRead(msg) }
func (*pass) OnReadComplete(ctx *channel.Context)                { ctx.FireReadComplete() }
func (*pass) Write(ctx *channel.Context, msg any) channel.Future { return ctx.Write(msg) }
func (*pass) Flush(ctx *channel.Context)                         { ctx.Flush() }

// passIn passes inbound events on, and takes no operations.
type passIn struct{}

func (*passIn) OnRead(ctx *channel.Context, msg any) { ctx.FireRead(msg) }
func (*passIn) OnReadComplete(ctx *channel.Context)  { ctx.FireReadComplete() }

// sink ends the way of inbound messages and keeps nothing.
type sink struct{ reads int }

func (s *sink) OnRead(*channel.Context, any)          { s.reads++ }
func (s *sink) OnReadComplete(ctx *channel.Context)   {}
func (s *sink) OnError(_ *channel.Context, err error) { panic(err) }

// BenchmarkPipeline16 passes a message through 16 handlers: the figure to look at is
// ns/hop, one recover for the whole run included.
func BenchmarkPipeline16(b *testing.B) {
	buffertest.Level(b, buffer.Simple) // from Advanced up, each handler is told to the message
	for _, hops := range []int{1, 16} {
		read := func(b *testing.B, handlers []any) {
			r := newRig(b, channel.NewConfig(), handlers...)
			end := &sink{}
			r.add(end)
			msg := &struct{ int }{}
			b.ReportAllocs()
			for b.Loop() {
				r.driver.Read(msg)
			}
			perHop(b, hops)
			if end.reads < b.N {
				b.Fatal("messages were lost")
			}
		}
		b.Run(fmt.Sprintf("read/%d", hops), func(b *testing.B) { read(b, passes[passIn](hops)) })
		b.Run(fmt.Sprintf("read, duplex/%d", hops), func(b *testing.B) { read(b, passes[pass](hops)) })
		b.Run(fmt.Sprintf("write/%d", hops), func(b *testing.B) {
			r := newRig(b, channel.NewConfig(), append([]any{&swallow{}}, passes[pass](hops)...)...)
			msg := &struct{ int }{}
			b.ReportAllocs()
			for b.Loop() {
				r.ch.Write(msg)
			}
			perHop(b, hops)
		})
	}
}

// swallow takes writes for sent.
type swallow struct{}

func (*swallow) Write(*channel.Context, any) channel.Future { return channel.Future{} }

func passes[H any](n int) (handlers []any) {
	for range n {
		handlers = append(handlers, new(H))
	}
	return handlers
}

func perHop(b *testing.B, hops int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*hops), "ns/hop")
}

// BenchmarkWriteFlush writes, flushes and completes a small buffer.
func BenchmarkWriteFlush(b *testing.B) {
	cache := belowAdvanced(b)
	r := newRig(b, channel.NewConfig())
	discard(r)
	b.ReportAllocs()
	for b.Loop() {
		out := cache.Allocate(64)
		out.WriteUint64(1)
		r.ch.Write(out)
		r.ch.Flush()
		r.loop.RunPending()
	}
}
