package group

import (
	"sync/atomic"

	"millrace.dev/channel"
	"millrace.dev/future"
	"millrace.dev/loop"
)

// visitsPerTurn bounds the channels that a part visits in a turn of its loop.
const visitsPerTurn = 1024

// part is what a group has on one loop. It belongs to the loop.
type part struct {
	count *atomic.Int64 // the group's
	// members has every channel that was ever added and hasn't closed: false for one that has
	// left, so that a channel that comes and goes has one listener on its end.
	members map[*channel.Channel]bool
	// visits are under way, the first of them first. They wait for each other, so that
	// channels see them in their order, wherever in the group they stand.
	visits []*visit
}

// change is an Add or Remove on its way to the loop.
type change struct {
	part *part
	ch   *channel.Channel
	in   bool
}

// RunTask is for the loop.
func (c *change) RunTask() { c.part.set(c.ch, c.in) }

func (p *part) set(ch *channel.Channel, in bool) {
	was, known := p.members[ch]
	if was == in || !ch.IsOpen() {
		return // a closed one has left, or does so now
	}
	p.members[ch] = in
	if in {
		p.count.Add(1)
	} else {
		p.count.Add(-1)
	}
	if !known {
		ch.CloseFuture().OnCompleteWith(&change{part: p, ch: ch}, forget)
	}
}

// forget drops a channel that has closed.
func forget(arg any, _ channel.Future) {
	c := arg.(*change)
	if c.part.members[c.ch] {
		c.part.count.Add(-1)
	}
	delete(c.part.members, c.ch)
}

// round is what Each and Send begin: a visit on each loop.
type round struct {
	left    atomic.Int32
	promise *future.Promise[future.Void]
}

func newRound(visits int) *round {
	r := &round{promise: future.NewPromise[future.Void](nil)}
	r.left.Store(int32(visits))
	r.promise.SetUncancellable() // others have been told already
	return r
}

// visit is a call for each channel of a part.
type visit struct {
	round *round
	part  *part
	loop  *loop.Loop
	f     func(ch *channel.Channel)
	end   func() // lets go of what f needs; may be nil
	begun bool
	left  []*channel.Channel // to be visited, once begun
}

// RunTask is for the loop: it lets v join the others.
func (v *visit) RunTask() {
	p := v.part
	p.visits = append(p.visits, v)
	if len(p.visits) == 1 {
		v.loop.AtTurnEnd(p)
	}
}

// TurnEnd visits as many channels as one turn may. A loop that ends has closed them all
// before its last turn, so that nothing is left undone.
func (p *part) TurnEnd() {
	for room := visitsPerTurn; len(p.visits) > 0; {
		v := p.visits[0]
		v.begin()
		for ; len(v.left) > 0; v.left = v.left[1:] {
			if !p.members[v.left[0]] {
				continue
			}
			if room == 0 {
				v.loop.AtTurnEnd(p)
				return
			}
			room--
			v.call(v.left[0])
		}
		p.visits[0] = nil
		p.visits = p.visits[1:]
		v.finish()
	}
	p.visits = nil
}

// begin notes who is in the group now.
func (v *visit) begin() {
	if v.begun {
		return
	}
	v.begun = true
	v.left = make([]*channel.Channel, 0, len(v.part.members))
	for ch, in := range v.part.members {
		if in {
			v.left = append(v.left, ch)
		}
	}
}

// call keeps a panic of f to the channel that it was for: the others still have to be
// visited, and what the visit holds let go.
func (v *visit) call(ch *channel.Channel) {
	defer func() {
		if value := recover(); value != nil {
			v.loop.ReportPanic("channel group", value)
		}
	}()
	v.f(ch)
}

func (v *visit) finish() {
	if v.end != nil {
		v.end()
	}
	if v.round.left.Add(-1) == 0 {
		v.round.promise.TrySucceed(future.Void{})
	}
}
