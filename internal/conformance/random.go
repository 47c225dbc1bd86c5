package conformance

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
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
const games = 18

// The ways in which a game ends.
const (
	endInOrder   = iota // both ends finish what they send, and see all of the other's
	endByHalf           // the same, but one stops to send in the middle of it
	endByOne            // one closes then
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
	file   string // with the pattern, for regions
}

// fileSize is the size of a game's file, in bytes.
const fileSize = 150_000

// inOrder reports whether all that is sent has to arrive.
func (g *game) inOrder() bool { return g.ending == endInOrder || g.ending == endByHalf }

// player is what one end does.
type player struct {
	*side
	game    *game
	metrics *channel.Metrics
	rnd     *rand.Rand
	alone   bool // it is the one that ends the game
	calm    bool // callbacks do nothing any more; the loop's
	silent  bool // it writes no more
	shut    channel.Future
	stream  []byte
	writes  []channel.Future
	acting  sync.WaitGroup
}

func (g *game) play() {
	g.file = filepath.Join(g.TempDir(), "pattern")
	if err := os.WriteFile(g.file, pattern(fileSize), 0o600); err != nil {
		g.Fatal(err)
	}
	p := g.newPair()
	server, client := &player{side: p.server}, &player{side: p.client}
	both := []*player{server, client}
	for i, a := range both {
		a.game, a.rnd = g, rand.New(rand.NewPCG(g.seed, uint64(i)))
		a.alone = g.seed/endings%2 == uint64(i)
		a.metrics = channel.NewMetrics([]*loop.Group{g.serverGroup, g.clientGroup}[i])
		a.config = func(c *channel.Config) { halfClosure(c); c.Metrics = a.metrics }
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
	for _, callback := range []string{"OnRead", "OnReadComplete", "OnWritability", "OnUnregistered", "OnShutdown"} {
		a.probe.on[callback] = func(ctx *channel.Context) {
			if !a.calm {
				a.mood(ctx, rnd)
			}
		}
	}
}

func (a *player) mood(ctx *channel.Context, rnd *rand.Rand) {
	ch := ctx.Channel()
	switch rnd.IntN(24) {
	case 0, 1:
		ch.SetAutoRead(false)
	case 2:
		ch.SetAutoRead(false)
		ch.SetAutoRead(true)
	case 3:
		ctx.Deregister()
	case 4:
		ctx.Deregister()
		ctx.Register()
	case 5:
		ctx.Read()
	case 6:
		ch.SetAutoRead(true)
	case 7:
		ctx.Flush()
	case 8:
		if a.game.ending == endByHandler && a.alone {
			ctx.Close()
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
			if !a.silent {
				a.write()
			}
		}
	}
}

// cutShort ends the connection in the middle, where that is the game.
func (a *player) cutShort() {
	switch a.game.ending {
	case endByHalf:
		if a.alone {
			a.ch.Flush()
			a.shut = a.ch.Shutdown(channel.Outbound)
			a.silent = true
		}
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
	at := a.rnd.IntN(fileSize - n)
	p := pattern(at + n)[at:]
	a.stream = append(a.stream, p...)
	var f channel.Future
	switch msg := a.shape(p, at); a.rnd.IntN(3) {
	case 0:
		f = a.ch.Write(msg)
	case 1:
		f = a.ch.WriteAndFlush(msg)
	default:
		if !a.onLoop(func() { f = a.ch.WriteAndFlush(msg) }) {
			f = a.ch.WriteAndFlush(msg) // which refuses it
		}
	}
	a.writes = append(a.writes, f)
}

// shape returns a message of some kind with the bytes of p, which begin there in the file.
func (a *player) shape(p []byte, at int) any {
	switch a.rnd.IntN(5) {
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
	case 3:
		file, err := os.Open(a.game.file)
		if err != nil {
			a.game.Error(err)
			break
		}
		return &channel.FileRegion{File: file, Offset: int64(at), Count: int64(len(p))}
	}
	return buffer.Wrap(p)
}

// end lets a game in order take its course, closes what is left of any other, and waits.
func (g *game) end(both []*player) {
	for _, a := range both {
		a.onLoop(func() {
			a.calm = true
			a.ch.Register()
			a.ch.SetAutoRead(true)
			a.ch.Flush()
			switch {
			case !g.inOrder():
				a.ch.Close()
			case !a.silent:
				a.shut = a.ch.Shutdown(channel.Outbound)
			}
		})
	}
	if g.ending == endByLoop {
		g.must(g.clientGroup.Shutdown(0, patience))
		g.must(g.serverGroup.Shutdown(0, patience))
	}
	for _, a := range both {
		g.must(a.shut)
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
	if g.inOrder() && len(got) != len(from.stream) {
		g.Errorf("%d of %d bytes came", len(got), len(from.stream))
	}
	for i, f := range from.writes {
		if err := g.wait(f); err != nil && g.inOrder() {
			g.Errorf("write %d of %d: %v", i, len(from.writes), err)
		}
	}
	m := to.metrics.Snapshot()
	counted := m.BytesIn == int64(len(got)) || g.maker.Wrap != nil // which adds to them
	if m.Opened != 1 || m.Open != 0 || m.Pending != 0 || !counted {
		g.Errorf("%+v, and %d bytes came", m, len(got))
	}
	p := to.probe
	events := inboundEvents(p)
	if p.seen("OnRegistered") != p.seen("OnUnregistered") || p.seen("OnActive") != 1 || p.seen("OnInactive") != 1 ||
		events[len(events)-1] != "Removed" {
		g.Errorf("events %q", p.summary())
	}
}
