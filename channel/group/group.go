package group

import (
	"sync"
	"sync/atomic"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/loop"
)

// Group is a set of open channels, on any number of loops. A channel may be in several, and
// leaves each of them by itself when it closes. The zero Group is empty and ready; it must
// not be copied after first use. Its methods may be called from any goroutine, and don't
// wait.
type Group struct {
	count atomic.Int64
	mu    sync.Mutex // guards parts; what a part holds is for its loop only
	parts map[*loop.Loop]*part
}

// Add puts a channel into the group: at once on the channel's loop, soon elsewhere. Nothing
// happens if it is in the group already, or has closed.
func (g *Group) Add(ch *channel.Channel) { g.change(ch, true) }

// Remove takes a channel out of the group: at once on the channel's loop, soon elsewhere.
func (g *Group) Remove(ch *channel.Channel) { g.change(ch, false) }

// Len returns how many channels are in the group.
func (g *Group) Len() int { return int(g.count.Load()) }

// Each calls f for each channel that is in the group when its loop gets there and has not
// closed by then. f runs on the channel's loop and must not block; it may add and remove
// channels, and close them. What one goroutine asks for with Each and Send comes to each
// channel in that order.
//
// A loop visits up to 1,024 channels in a turn, so that a large group doesn't stop it. The
// future succeeds when all have been visited, and its listeners run on one of the loops. Who
// sends what peers have sent waits for it before more is read from them: otherwise they
// could send faster than it can be passed on, and what waits would grow.
func (g *Group) Each(f func(ch *channel.Channel)) channel.Future {
	return g.visit(func() *visit { return &visit{f: f} })
}

// Send writes and flushes msg to each channel of the group for which to says yes, or to all
// if it is nil; see Each. It takes msg over; the channels share its bytes, which must not be
// changed any more. to runs on the channel's loop.
//
// The future says that msg was written, not that it was sent: what a channel can't send yet
// waits in its queue, and one that takes nothing costs more memory with each message.
// (*channel.Channel).IsWritable as to leaves out those that have too much waiting.
func (g *Group) Send(msg *buffer.Buffer, to func(ch *channel.Channel) bool) channel.Future {
	defer msg.Close()
	return g.visit(func() *visit {
		own := msg.Share() // each loop has one, so that no two share the same Buffer again
		return &visit{
			f: func(ch *channel.Channel) {
				if to == nil || to(ch) {
					ch.WriteAndFlush(own.Share())
				}
			},
			end: own.Close,
		}
	})
}

// visit starts a visit on each loop.
func (g *Group) visit(start func() *visit) channel.Future {
	parts := g.all()
	if len(parts) == 0 {
		return channel.Future{}
	}
	r := newRound(len(parts))
	for l, p := range parts {
		v := start()
		v.round, v.part, v.loop = r, p, l
		if l.Run(v) != nil {
			v.finish() // the loop has ended, and with it all its channels
		}
	}
	return r.promise.Future()
}

func (g *Group) change(ch *channel.Channel, in bool) {
	l := ch.Loop()
	p := g.part(l)
	if l.InLoop() {
		p.set(ch, in)
		return
	}
	// A loop that has ended has closed its channels.
	_ = l.Run(&change{part: p, ch: ch, in: in})
}

// part returns the part of l, a new one if need be.
func (g *Group) part(l *loop.Loop) *part {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.parts[l]
	if p == nil {
		if g.parts == nil {
			g.parts = make(map[*loop.Loop]*part)
		}
		p = &part{count: &g.count, members: make(map[*channel.Channel]bool)}
		g.parts[l] = p
	}
	return p
}

// all returns the parts as they are now.
func (g *Group) all() map[*loop.Loop]*part {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := make(map[*loop.Loop]*part, len(g.parts))
	for l, p := range g.parts {
		all[l] = p
	}
	return all
}
