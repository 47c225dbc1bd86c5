package channel_test

import (
	"slices"
	"testing"

	"millrace.dev/buffer"
	"millrace.dev/buffer/buffertest"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
)

// A report of a leak names the handlers that had the buffer, the last one first. It isn't
// parallel: what it leaks must not count for the other tests.
func TestLeakReportsNameTheHandlers(t *testing.T) {
	reports := make(chan buffer.Report, 10)
	buffertest.Reporter(t, func(r buffer.Report) { reports <- r })
	pass := reader(func(ctx *channel.Context, msg any) { ctx.FireRead(msg) })
	turn := reader(func(ctx *channel.Context, msg any) { ctx.Write(msg) })
	lose := writer(func(*channel.Context, any) channel.Future { return channel.Future{} })
	func() {
		ch := embedded.New()
		for _, h := range []struct {
			name    string
			handler any
		}{{"loses", lose}, {"first", pass}, {"second", pass}, {"turns", turn}} {
			if err := ch.Pipeline().AddLast(h.name, h.handler); err != nil {
				t.Fatal(err)
			}
		}
		_ = ch.WriteInbound(buffer.CopyString("lost"))
		ch.Finish()
	}()
	buffertest.Collect()
	if len(reports) != 1 {
		t.Fatalf("%d reports", len(reports))
	}
	var hints []string
	for _, p := range (<-reports).Touched {
		hints = append(hints, p.Hint)
	}
	if want := []string{"loses", "turns", "second", "first"}; !slices.Equal(hints, want) {
		t.Errorf("touched by %q, want %q", hints, want)
	}
}

// Below Advanced nothing stands between the handlers.
func TestHandlersAreLinkedDirectlyAtSimple(t *testing.T) {
	before := buffer.CurrentLeakLevel()
	buffer.SetLeakLevel(buffer.Simple)
	defer buffer.SetLeakLevel(before)
	ch := embedded.New(reader(func(ctx *channel.Context, msg any) { ctx.FireRead(msg) }))
	m := &touched{}
	_ = ch.WriteInbound(m)
	buffer.SetLeakLevel(buffer.Paranoid)
	late := embedded.New(reader(func(ctx *channel.Context, msg any) { ctx.FireRead(msg) }))
	n := &touched{}
	_ = late.WriteInbound(n)
	if m.times != 0 || n.times != 1 {
		t.Errorf("touched %d times at Simple, %d at Paranoid", m.times, n.times)
	}
	ch.Finish()
	late.Finish()
}

type touched struct{ times int }

func (m *touched) Touch(any) { m.times++ }
