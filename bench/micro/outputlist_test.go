package micro

import (
	"fmt"
	"sync"
	"testing"

	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec"
)

// outputMessage is what the decoders of these benchmarks make; all are there from the start.
type outputMessage struct{ n int }

var (
	outputlistSink  int
	outputlistMsgs  = [4]*outputMessage{{1}, {2}, {3}, {4}}
	outputlistSlots = sync.Pool{New: func() any { s := make([]any, 0, 16); return &s }}
)

// The decoders: each puts n messages into its kind of list, through a call that the compiler
// can't see into.

//go:noinline
func outputToSlice(out []any, n int) []any {
	for i := range n {
		out = append(out, outputlistMsgs[i&3])
	}
	return out
}

//go:noinline
func outputToList(out *codec.OutputList, n int) {
	for i := range n {
		out.Add(outputlistMsgs[i&3])
	}
}

//go:noinline
func outputConsume(msg any) { outputlistSink += msg.(*outputMessage).n }

// BenchmarkOutputList is one call of a decoder: it makes its messages, they are passed on, and
// the list is done with.
func BenchmarkOutputList(b *testing.B) {
	l := startLoop(b)
	for _, n := range []int{1, 4} {
		run := func(alt string, f func(b *testing.B)) {
			b.Run(fmt.Sprintf("elements=%d/alt=%s", n, alt), func(b *testing.B) {
				b.ReportAllocs()
				onLoop(b, l, func() { f(b) })
			})
		}
		run("slice", func(b *testing.B) {
			for b.Loop() {
				for _, msg := range outputToSlice(nil, n) {
					outputConsume(msg)
				}
			}
		})
		run("cleared", func(b *testing.B) {
			for b.Loop() {
				s := outputlistSlots.Get().(*[]any)
				out := outputToSlice(*s, n)
				for _, msg := range out {
					outputConsume(msg)
				}
				clear(out)
				*s = out[:0]
				outputlistSlots.Put(s)
			}
		})
		run("millrace", func(b *testing.B) {
			for b.Loop() {
				out := codec.NewOutputListOn(l)
				outputToList(out, n)
				for out.Len() > 0 {
					outputConsume(out.Take())
				}
				out.Recycle()
			}
		})
	}
}

// nestedDecoder makes n messages of one, on the way to the next decoder.
type nestedDecoder struct{ n int }

func (d *nestedDecoder) DecodeMessage(msg *outputMessage, out *codec.OutputList) error {
	for range d.n {
		out.Add(msg)
	}
	return nil
}

// nestedSlices is the same without a list of the project: what a handler does that appends to
// a slice and passes it on.
type nestedSlices struct {
	n       int
	cleared bool
}

func (d *nestedSlices) OnRead(ctx *channel.Context, msg any) {
	if !d.cleared {
		for _, m := range d.decode(nil, msg) {
			ctx.Deliver(m)
		}
		return
	}
	s := outputlistSlots.Get().(*[]any)
	out := d.decode(*s, msg)
	for _, m := range out {
		ctx.Deliver(m)
	}
	clear(out)
	*s = out[:0]
	outputlistSlots.Put(s)
}

func (d *nestedSlices) decode(out []any, msg any) []any {
	for range d.n {
		out = append(out, msg)
	}
	return out
}

type outputEnd struct{}

func (outputEnd) OnRead(_ *channel.Context, msg any) { outputConsume(msg) }

// BenchmarkOutputListNested passes a message through three decoders, each of which makes two of
// one: fifteen messages through seven lists, up to three of which are in use at once.
func BenchmarkOutputListNested(b *testing.B) {
	const depth, fan = 3, 2
	for _, alt := range []struct {
		name string
		make func() any
	}{
		{"slice", func() any { return &nestedSlices{n: fan} }},
		{"cleared", func() any { return &nestedSlices{n: fan, cleared: true} }},
		{"millrace", func() any { return codec.NewMessageDecoderHandler(&nestedDecoder{n: fan}) }},
	} {
		b.Run("decoders=3/alt="+alt.name, func(b *testing.B) {
			var handlers []any
			for range depth {
				handlers = append(handlers, alt.make())
			}
			ch := embedded.New(append(handlers, outputEnd{})...)
			defer ch.Finish()
			head := &outputHead{}
			if err := ch.Pipeline().AddFirst("head", head); err != nil {
				b.Fatal(err)
			}
			ctx := ch.Pipeline().Context("head")
			msg := any(outputlistMsgs[0])
			b.ReportAllocs()
			for b.Loop() {
				ctx.FireRead(msg)
			}
		})
	}
}

// outputHead is where the messages start.
type outputHead struct{}

func (*outputHead) OnRead(ctx *channel.Context, msg any) { ctx.FireRead(msg) }
