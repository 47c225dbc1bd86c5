package conformance

import (
	"bytes"
	"math/rand/v2"
	"sync"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/loop"
)

var randomCases = []testCase{
	{"two ends that do what they like", playRandomly},
	{"loops that end under two busy ends", playUntilLoopsEnd},
}

// games is how many connections are played.
const games = 15

// The ways in which a game ends.
const (
	endInOrder   = iota // both ends finish what they send, and see all of the other's
	endByOne            // one closes in the middle of it
	endByBoth           // both do
	endByReset          // one resets the connection
	endByHandler        // a handler closes
	endings             // how many there are
	endByLoop           // one's loop ends, in a game of its own
)

// playRandomly has both ends of connections write, stop reading, leave their loops and come
// back, in any order and from several goroutines, and then end in each of several ways.
// Whatever they do, what arrives is what was sent, every write has its end, and so has every
// channel.
func playRandomly(e *env) {
	for seed := range uint64(games) {
		g := &game{env: e, seed: seed, ending: int(seed % endings)}
		g.play()
		if e.Failed() {
			e.Fatalf("in game %d, ending %d", seed, g.ending)
		}
	}
}

// playUntilLoopsEnd ends the loop of one end, and then that of the other, in the middle of a
// game. Nothing is left of either.
func playUntilLoopsEnd(e *env) {
	for seed := range uint64(4) {
		g := &game{env: newEnv(e.T, e.maker), seed: seed * endings, ending: endByLoop}
		g.play()
		for _, group := range []*loop.Group{g.serverGroup, g.clientGroup} {
			used := func() int64 { return group.Allocator().Stats().Used }
			if !poll(func() bool { return used() == 0 }) { // goroutines of std may have one yet
				e.Errorf("%d bytes of the loops' memory are in use", used())
			}
		}
		if e.Failed() {
			e.Fatalf("in game %d", seed)
		}
	}
}

type game struct {
	*env
	seed   uint64
	ending int
}

// player is what one end does.
type player struct {
	*side
	game   *game
	rnd    *rand.Rand
	alone  bool // it is the one that ends the game
	calm   bool // callbacks do nothing any more; the loop's
	stream []byte
	writes []channel.Future
	acting sync.WaitGroup
}

func (g *game) play() {
	p := g.newPair()
	server, client := &player{side: p.server}, &player{side: p.client}
	both := []*player{server, client}
	for i, a := range both {
		a.game, a.rnd = g, rand.New(rand.NewPCG(g.seed, uint64(i)))
		a.alone = g.seed/endings%2 == uint64(i)
		a.config = halfClosure
		a.probe.takeErr = true
		a.moods(rand.New(rand.NewPCG(g.seed, uint64(i+10))))
	}
	p.connect()
	for _, a := range both {
		a.acting.Go(a.act)
	}
	for _, a := range both {
		a.acting.Wait()
	}
	g.end(both)
	g.compare(server, client)
	g.compare(client, server)
}

// moods has callbacks do things, with a source of their own: it is the loop's.
func (a *player) moods(rnd *rand.Rand) {
	a.probe.on["OnRead"] = func(ctx *channel.Context) {
		if a.calm {
			return
		}
		switch rnd.IntN(12) {
		case 0:
			ctx.Channel().SetAutoRead(false)
		case 1:
			ctx.Channel().SetAutoRead(false)
			ctx.Channel().SetAutoRead(true)
		case 2:
			ctx.Deregister()
		case 3:
			ctx.Read()
		case 4:
			if a.game.ending == endByHandler && a.alone {
				ctx.Close()
			}
		}
	}
}

// act does what it likes, on a goroutine of its own.
func (a *player) act() {
	for i := range 60 {
		if i == 30 {
			a.cutShort()
		}
		switch a.rnd.IntN(10) {
		case 0:
			a.ch.SetAutoRead(a.rnd.IntN(3) > 0)
		case 1:
			a.ch.Read()
		case 2:
			a.ch.Deregister()
			a.ch.Register()
		case 3:
			a.ch.Register() // after a callback's Deregister
			a.ch.SetAutoRead(true)
		case 4:
			a.ch.Flush()
		default:
			a.write()
		}
	}
}

// cutShort ends the connection in the middle, where that is the game.
func (a *player) cutShort() {
	switch a.game.ending {
	case endByOne:
		if a.alone {
			a.ch.Close()
		}
	case endByBoth:
		a.ch.Close()
	case endByLoop:
		if a.alone {
			a.ch.Loop().Group().Shutdown(0, patience)
		}
	case endByReset:
		if a.alone {
			a.onLoop(func() {
				if l, ok := a.ch.Transport().(interface{ SetLingerZero() }); ok {
					l.SetLingerZero()
				}
				a.ch.Close()
			})
		}
	}
}

// onLoop runs fn on the channel's loop; false: the loop has ended.
func (a *player) onLoop(fn func()) bool {
	done := make(chan struct{})
	if err := a.ch.Loop().Execute(func() { defer close(done); fn() }); err != nil {
		return false
	}
	<-done
	return true
}

func (a *player) write() {
	n := a.rnd.IntN(300)
	if a.rnd.IntN(4) == 0 {
		n = a.rnd.IntN(100_000)
	}
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(a.rnd.Uint32())
	}
	a.stream = append(a.stream, p...)
	var f channel.Future
	switch b := a.shape(p); a.rnd.IntN(3) {
	case 0:
		f = a.ch.Write(b)
	case 1:
		f = a.ch.WriteAndFlush(b)
	default:
		if !a.onLoop(func() { f = a.ch.WriteAndFlush(b) }) {
			f = a.ch.WriteAndFlush(b) // which refuses it
		}
	}
	a.writes = append(a.writes, f)
}

// shape returns a buffer with the bytes of p, of some kind.
func (a *player) shape(p []byte) *buffer.Buffer {
	switch a.rnd.IntN(4) {
	case 0:
		return buffer.Compose(buffer.Copy(p[:len(p)/3]), buffer.Copy(p[len(p)/3:]))
	case 1:
		b := buffer.Copy(p)
		defer b.Close()
		return b.Share()
	case 2:
		b := a.ch.Loop().Allocator().Allocate(len(p))
		_, _ = b.Write(p)
		return b
	}
	return buffer.Wrap(bytes.Clone(p))
}

// end lets a game in order take its course, closes what is left of any other, and waits.
func (g *game) end(both []*player) {
	shut := make([]channel.Future, len(both))
	for i, a := range both {
		a.onLoop(func() {
			a.calm = true
			a.ch.Register()
			a.ch.SetAutoRead(true)
			a.ch.Flush()
			if g.ending == endInOrder {
				shut[i] = a.ch.Shutdown(channel.Outbound)
			} else {
				a.ch.Close()
			}
		})
	}
	if g.ending == endByLoop {
		g.must(g.clientGroup.Shutdown(0, patience))
		g.must(g.serverGroup.Shutdown(0, patience))
	}
	for i, a := range both {
		g.must(shut[i])
		a.probe.awaitEnd()
		g.must(a.ch.CloseFuture())
	}
}

// compare looks at one direction of what has been.
func (g *game) compare(from, to *player) {
	got := to.probe.bytes()
	if !bytes.HasPrefix(from.stream, got) {
		g.Errorf("%d bytes came that were not sent", len(got))
	}
	if g.ending == endInOrder && len(got) != len(from.stream) {
		g.Errorf("%d of %d bytes came", len(got), len(from.stream))
	}
	for i, f := range from.writes {
		if err := g.wait(f); err != nil && g.ending == endInOrder {
			g.Errorf("write %d of %d: %v", i, len(from.writes), err)
		}
	}
	p := to.probe
	events := inboundEvents(p)
	if p.seen("OnRegistered") != p.seen("OnUnregistered") || p.seen("OnActive") != 1 || p.seen("OnInactive") != 1 ||
		events[len(events)-1] != "Removed" {
		g.Errorf("events %q", p.summary())
	}
}
