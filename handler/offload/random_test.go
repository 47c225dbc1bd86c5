package offload_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/handler/offload"
)

// parcel is a message that is closed once, by whoever has it then.
type parcel struct {
	number int
	fate   int // what the work does with it
	closes atomic.Int32
}

func (p *parcel) Close() { p.closes.Add(1) }

// The fates of a parcel.
const (
	passedOn = iota
	swallowed
	failed
	panicked
	goneAway // the work ends its goroutine
	fates
)

var errFate = errors.New("failed")

func treat(_ context.Context, p *parcel) (any, error) {
	switch p.fate {
	case swallowed:
		p.Close()
		return nil, nil
	case failed:
		p.Close()
		return nil, errFate
	case panicked:
		p.Close()
		panic(errFate)
	case goneAway:
		p.Close()
		runtime.Goexit()
	}
	return p, nil
}

// receiver is the end of a pipeline, which sees numbers rise as long as the handler is there:
// what comes after it was removed overtakes what it still works on.
type receiver struct {
	t       *testing.T
	last    int
	removed bool
}

func (r *receiver) OnRead(_ *channel.Context, msg any) {
	p := msg.(*parcel)
	if p.number <= r.last && !r.removed {
		r.t.Errorf("%d came after %d", p.number, r.last)
	}
	r.last = p.number
	p.Close()
}
func (r *receiver) OnError(*channel.Context, error) {}

// Whatever becomes of the work, of its handler, channel and pool, each message is closed once,
// and results keep their order.
func TestRandomly(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 8))
		pool := newPool(t, 1+rnd.IntN(3))
		end := &receiver{t: t, last: -1}
		o := offload.Options{Queue: 1 + rnd.IntN(8), DropOnClose: rnd.IntN(2) == 0}
		var h any = offload.New(pool, treat, o)
		if rnd.IntN(2) == 0 {
			h = offload.NewWorker(pool, forwards{}, o)
		}
		ch := embedded.New(h, end)
		var all []*parcel
		for i := range 60 {
			p := &parcel{number: i, fate: max(rnd.IntN(3*fates)-2*fates+1, 0)}
			all = append(all, p)
			_ = ch.WriteInbound(p)
			switch rnd.IntN(60) {
			case 0:
				ch.Close()
			case 1:
				if !end.removed {
					end.removed = true
					_ = ch.Pipeline().RemoveHandler(h)
				}
			case 2:
				closeMeanwhile(t, ch, pool)
			}
			if rnd.IntN(8) == 0 {
				ch.RunPending()
			}
		}
		if rnd.IntN(2) == 0 {
			ch.Finish()
		}
		until(t, ch, "each message has been closed", func() bool {
			for _, p := range all {
				if p.closes.Load() == 0 && ch.Reading() { // else it may wait in the transport
					return false
				}
			}
			return true
		})
		closeMeanwhile(t, ch, pool)
		ch.RunPending()
		ch.Finish()
		for _, p := range all {
			if n := p.closes.Load(); n != 1 {
				t.Fatalf("seed %d: message %d of fate %d was closed %d times", seed, p.number, p.fate, n)
			}
		}
	}
}

// closeMeanwhile closes the pool while the channel's loop runs, for which workers may wait.
func closeMeanwhile(t *testing.T, ch *embedded.Channel, pool *offload.Pool) {
	var closed atomic.Bool
	go func() {
		closePool(t, pool)
		closed.Store(true)
	}()
	until(t, ch, "the pool has closed", closed.Load)
}

// forwards is treat for a Worker.
type forwards struct{}

func (forwards) Work(c *offload.Call, p *parcel) error {
	result, err := treat(c.Context(), p)
	if result != nil {
		_ = c.Fire(result) // disposes of it when nobody takes it
	}
	return err
}
