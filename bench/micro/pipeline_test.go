package micro

import (
	"net"
	"testing"

	"millrace.dev/channel"
	"millrace.dev/loop"
)

// As many pipelines as a busy server has, in random order, so that caches and branch predictors
// are as much use as there.
const (
	pipelineCount    = 1024
	pipelineHandlers = 16
	pipelineWalk     = 1 << 14
)

var pipelineSink uint64

// pipelineMessage is what travels; it is turned into an interface once.
type pipelineMessage struct{ n uint64 }

// The handlers do a little with each message, and the varied ones each something else. The
// methods for the rivals of channel.Pipeline are in pipeline_rivals_test.go.
type (
	countHandler  struct{ n uint64 }
	sumHandler    struct{ sum uint64 }
	maxHandler    struct{ top uint64 }
	toggleHandler struct{ on bool }
	writerHandler struct{ n uint64 } // takes only writes
	endHandler    struct{ n uint64 } // ends the way of reads
	echoHandler   struct{ n uint64 } // answers a read by a write
	headHandler   struct{ n uint64 } // ends the way of writes
)

func (h *countHandler) take(*pipelineMessage) { h.n++ }
func (h *sumHandler) take(m *pipelineMessage) { h.sum += m.n }
func (h *maxHandler) take(m *pipelineMessage) { h.top = max(h.top, m.n) }
func (h *toggleHandler) take(*pipelineMessage) {
	if h.on = !h.on; h.on {
		pipelineSink++
	}
}

func (h *countHandler) OnRead(ctx *channel.Context, msg any) {
	h.take(msg.(*pipelineMessage))
	ctx.FireRead(msg)
}
func (h *sumHandler) OnRead(ctx *channel.Context, msg any) {
	h.take(msg.(*pipelineMessage))
	ctx.FireRead(msg)
}
func (h *maxHandler) OnRead(ctx *channel.Context, msg any) {
	h.take(msg.(*pipelineMessage))
	ctx.FireRead(msg)
}
func (h *toggleHandler) OnRead(ctx *channel.Context, msg any) {
	h.take(msg.(*pipelineMessage))
	ctx.FireRead(msg)
}
func (h *writerHandler) Write(ctx *channel.Context, msg any) channel.Future {
	h.n++
	return ctx.Write(msg)
}
func (h *endHandler) OnRead(*channel.Context, any)                       { h.n++ }
func (h *echoHandler) OnRead(ctx *channel.Context, msg any)              { h.n++; ctx.Write(msg) }
func (h *headHandler) Write(*channel.Context, any) (none channel.Future) { h.n++; return none }

// duplexHandler takes both directions.
type duplexHandler struct {
	countHandler
	writerHandler
}

// pipelineKinds are the pipelines of the rows, from head to tail.
var pipelineKinds = []struct {
	name  string
	first func() any // nil: none
	at    func(i int) any
	last  func() any
}{
	{"plain", nil, func(int) any { return &countHandler{} }, func() any { return &endHandler{} }},
	{"varied", nil, func(i int) any {
		switch i % 8 {
		case 0, 5:
			return &sumHandler{}
		case 1, 6:
			return &maxHandler{}
		case 2, 4:
			return &toggleHandler{}
		case 3:
			return &writerHandler{}
		default:
			return &duplexHandler{}
		}
	}, func() any { return &endHandler{} }},
	{"duplex", func() any { return &headHandler{} }, func(int) any { return &duplexHandler{} },
		func() any { return &echoHandler{} }},
}

// BenchmarkPipeline passes a message through 16 handlers of one of 1,024 pipelines; in the duplex
// row the last one answers, and the answer goes back through all of them.
func BenchmarkPipeline(b *testing.B) {
	random := seeded()
	walk := make([]int, pipelineWalk)
	for i := range walk {
		walk[i] = random.IntN(pipelineCount)
	}
	for _, kind := range pipelineKinds {
		lists := make([][]any, pipelineCount)
		for i := range lists {
			if kind.first != nil {
				lists[i] = append(lists[i], kind.first())
			}
			for h := range pipelineHandlers {
				lists[i] = append(lists[i], kind.at(h))
			}
			lists[i] = append(lists[i], kind.last())
		}
		prefix := "kind=" + kind.name + "/alt="
		b.Run(prefix+"asserts", func(b *testing.B) {
			pipelines := make([]assertPipeline, len(lists))
			for i, list := range lists {
				pipelines[i] = assertPipeline(list)
			}
			msg := &pipelineMessage{1}
			i := 0
			for b.Loop() {
				pipelines[walk[i%pipelineWalk]].read(-1, msg)
				i++
			}
		})
		b.Run(prefix+"chain", func(b *testing.B) {
			heads := make([]*chainLink, len(lists))
			for i, list := range lists {
				heads[i] = newChain(list)
			}
			msg := &pipelineMessage{1}
			i := 0
			for b.Loop() {
				heads[walk[i%pipelineWalk]].fireRead(msg)
				i++
			}
		})
		b.Run(prefix+"millrace", func(b *testing.B) {
			l := startLoop(b)
			onLoop(b, l, func() {
				drivers := newPipelines(b, l, lists)
				msg := &pipelineMessage{1}
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					drivers[walk[i%pipelineWalk]].Read(msg)
					i++
				}
				for _, d := range drivers {
					d.Channel().Close()
				}
			})
		})
	}
}

// pipelineTransport is a connection on which nothing happens by itself.
type pipelineTransport struct {
	channel.Transport
	driver channel.Driver
}

func (t *pipelineTransport) Register(d channel.Driver) error { t.driver = d; return nil }
func (*pipelineTransport) Deregister() error                 { return nil }
func (*pipelineTransport) Active() bool                      { return true }
func (*pipelineTransport) StartRead()                        {}
func (*pipelineTransport) StopRead()                         {}
func (*pipelineTransport) Close() error                      { return nil }
func (*pipelineTransport) LocalAddr() net.Addr               { return nil }
func (*pipelineTransport) RemoteAddr() net.Addr              { return nil }

// newPipelines returns the sides of the transport of channels with these handlers.
func newPipelines(b *testing.B, l *loop.Loop, lists [][]any) []channel.Driver {
	config := channel.NewConfig()
	drivers := make([]channel.Driver, len(lists))
	for i, list := range lists {
		t := &pipelineTransport{}
		ch := channel.New(l, t, config, nil)
		for _, h := range list {
			if err := ch.Pipeline().AddLast("", h); err != nil {
				b.Fatal(err)
			}
		}
		if err := ch.Register().Err(); err != nil {
			b.Fatal(err)
		}
		drivers[i] = t.driver
	}
	return drivers
}
