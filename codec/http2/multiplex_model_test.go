package http2_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/channel/embedded"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http2"
)

// muxModel is two connected Multiplexes, on whose streams handlers do what they like, also while
// they are told something. Events come in their order, each write is settled once, content
// arrives whole, and no channel is left behind.
type muxModel struct {
	t     *testing.T
	r     *rand.Rand
	sides [2]*muxSide // client, server
	n     int         // requests
	ended bool
	log   []string
}

type muxSide struct {
	m      *muxModel
	name   string
	server bool
	peer   *muxSide
	ch     *embedded.Channel
	mux    *http2.Multiplex
	codec  interface{ Streams() int }
	wire   []*buffer.Buffer // sent, and not arrived
	actors []*actor
	lost   bool
}

// actor is the handler of one stream's channel.
type actor struct {
	s       *muxSide
	ch      *channel.Channel
	index   int
	stage   stage
	head    bool // of what it writes
	end     bool
	sent    int64
	got     int64
	gotEnd  bool
	abrupt  bool // it has broken the stream off, or was told that it is
	futures []channel.Future
	depth   int
}

type stage int

const (
	fresh stage = iota
	registered
	active
	inactive
	unregistered
	removed
)

func (a *actor) note(format string, args ...any) {
	m := a.s.m
	if len(m.log) > 300 {
		m.log = append(m.log[:0], m.log[150:]...)
	}
	m.log = append(m.log, fmt.Sprintf("%s %d: ", a.s.name, a.index)+fmt.Sprintf(format, args...))
}

func (m *muxModel) fatalf(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("%s\n%s", strings.Join(m.log, "\n"), fmt.Sprintf(format, args...))
}

// step checks that a stage follows the one before.
func (a *actor) step(to stage, from ...stage) {
	for _, f := range from {
		if a.stage == f {
			a.stage = to
			a.maybe()
			return
		}
	}
	a.s.m.fatalf("%s %d: stage %d after %d", a.s.name, a.index, to, a.stage)
}

func (a *actor) OnRegistered(*channel.Context)   { a.step(registered, fresh) }
func (a *actor) OnActive(*channel.Context)       { a.step(active, registered) }
func (a *actor) OnInactive(*channel.Context)     { a.step(inactive, active) }
func (a *actor) OnUnregistered(*channel.Context) { a.step(unregistered, inactive, registered) }
func (a *actor) Removed(*channel.Context)        { a.step(removed, unregistered, fresh) }

func (a *actor) OnReadComplete(*channel.Context)                { a.event("read complete") }
func (a *actor) OnWritability(*channel.Context, bool)           { a.event("writability") }
func (a *actor) OnError(_ *channel.Context, err error)          { a.abrupt = true; a.event(err.Error()) }
func (a *actor) OnEvent(_ *channel.Context, event any)          { a.event("event") }
func (a *actor) OnShutdown(*channel.Context, channel.Direction) { a.event("shutdown") }

func (a *actor) event(what string) {
	a.note("%s", what)
	if a.stage != active {
		a.s.m.fatalf("%s %d: %s at stage %d", a.s.name, a.index, what, a.stage)
	}
	a.maybe()
}

func (a *actor) OnRead(_ *channel.Context, msg any) {
	defer channel.Dispose(msg)
	switch v := msg.(type) {
	case *http.Request:
		a.index, _ = strconv.Atoi(string(v.Target[1:]))
		a.gotEnd = v.End
	case *http.Response:
		a.gotEnd = v.End && v.Status >= 200
	case *http.Content:
		if a.gotEnd {
			a.s.m.fatalf("%s %d: content behind the end", a.s.name, a.index)
		}
		a.gotEnd = v.End
		if v.Data != nil {
			a.compare(v.Data.ReadString(v.Data.Len()))
		}
	}
	a.event("read")
}

func (a *actor) compare(got string) {
	if want := a.text(!a.s.server, a.got, len(got)); got != want {
		a.s.m.fatalf("%s %d: from byte %d on %q has come, not %q", a.s.name, a.index, a.got, got, want)
	}
	a.got += int64(len(got))
}

// text is what one side sends on a stream, from a place on.
func (a *actor) text(server bool, at int64, n int) string {
	line := fmt.Sprintf("%v %d ", server, a.index)
	from := int(at) % len(line)
	return strings.Repeat(line, (from+n)/len(line)+1)[from:][:n]
}

// maybe has a handler do something while it is told something.
func (a *actor) maybe() {
	s := a.s
	if s.m.ended || s.m.r.IntN(6) > 0 || a.depth > 2 {
		return
	}
	a.depth++
	s.pick(a).act()
	a.depth--
}

// pick returns a, or another of its side.
func (s *muxSide) pick(a *actor) *actor {
	if n := len(s.actors); n > 0 && (a == nil || s.m.r.IntN(2) == 0) {
		return s.actors[max(0, n-1-s.m.r.IntN(6))]
	}
	return a
}

// act does something to the channel at random.
func (a *actor) act() {
	r := a.s.m.r
	if a.ch == nil {
		return
	}
	switch op := r.IntN(20); op {
	case 0:
		if r.IntN(3) == 0 {
			a.note("close")
			a.abrupt = true
			a.ch.Close()
		}
	case 1, 2:
		a.ch.SetAutoRead(op == 1)
	case 3:
		a.ch.Read()
	case 4:
		if a.head && !a.end {
			a.note("shutdown")
			a.end = true
			a.ch.Flush() // what is not flushed would not leave
			a.ch.Shutdown(channel.Outbound)
		}
	case 5:
		a.ch.Flush()
	default:
		a.write(r.IntN(4) == 0)
	}
}

// write writes the next message.
func (a *actor) write(end bool) {
	r := a.s.m.r
	n := r.Int64N(int64(1) << r.IntN(17))
	b := buffer.CopyString(a.text(a.s.server, a.sent, int(n)))
	var msg any
	switch {
	case a.end || !a.ch.IsOpen() || a.index < 0:
		b.Close()
		return
	case a.head:
		m := http.NewContent(b, end)
		msg = m
	case a.s.server:
		if r.IntN(4) == 0 && !end {
			i := http.NewResponse(103)
			i.End = true
			a.futures = append(a.futures, a.ch.Write(i))
		}
		m := http.NewResponse(200)
		m.Body, m.End = b, end
		msg = m
	default:
		m := request("POST", "/"+strconv.Itoa(a.index), end)
		m.Body = b
		msg = m
	}
	a.note("write %d, end %v", n, end)
	a.head, a.end, a.sent = true, end, a.sent+n
	f := a.ch.Write(msg)
	a.futures = append(a.futures, f)
	if r.IntN(3) > 0 {
		a.ch.Flush()
	}
}

func newMuxModel(t *testing.T, seed uint64) *muxModel {
	m := &muxModel{t: t, r: rand.New(rand.NewPCG(seed, 11))}
	o := http2.Options{StreamWindow: uint32(2000 + m.r.IntN(1<<m.r.IntN(19))), MaxStreams: uint32(1 + m.r.IntN(8)), StallTimeout: -1}
	free := http2.Budget{Burst: -1, PerSecond: -1}
	o.Resets, o.Provoked, o.Control = free, free, free
	config := channel.NewConfig()
	config.AllowHalfClosure = true
	for i, name := range []string{"client", "server"} {
		s := &muxSide{m: m, name: name, server: i == 1}
		m.sides[i] = s
		children := channel.NewConfig()
		children.AutoRead = m.r.IntN(3) > 0
		var handler any
		if s.server {
			c := http2.NewServerCodec(http2.ServerOptions{Options: o, NoDate: true})
			s.mux, handler, s.codec = http2.NewMultiplex(c, children, s.accept), c, c
		} else {
			c := http2.NewClientCodec(http2.ClientOptions{Options: o})
			s.mux, handler, s.codec = http2.NewMultiplex(c, children, nil), c, c
		}
		s.ch = embedded.NewConfig(config, handler, s.mux)
	}
	m.sides[0].peer, m.sides[1].peer = m.sides[1], m.sides[0]
	return m
}

func (s *muxSide) accept(ch *channel.Channel) error {
	if s.m.r.IntN(20) == 0 && !s.m.ended {
		return fmt.Errorf("no room")
	}
	a := &actor{s: s, ch: ch, index: -1}
	s.actors = append(s.actors, a)
	return ch.Pipeline().AddLast("actor", a)
}

// open has a client open a stream.
func (s *muxSide) open() {
	a := &actor{s: s, index: s.m.n}
	s.m.n++
	ch, err := s.mux.Open(func(ch *channel.Channel) error { return ch.Pipeline().AddLast("actor", a) })
	if err == nil {
		a.ch = ch
		s.actors = append(s.actors, a)
		a.write(s.m.r.IntN(3) == 0)
	} else if !s.lost {
		s.m.fatalf("open: %v", err)
	}
}

// arrive passes on some of what the other side has sent.
func (s *muxSide) arrive() (moved bool) {
	from := s.peer
	for msg := from.ch.ReadOutbound(); msg != nil; msg = from.ch.ReadOutbound() {
		from.wire = append(from.wire, msg.(*buffer.Buffer))
	}
	if len(from.wire) == 0 {
		return false
	}
	b := from.wire[0]
	from.wire = from.wire[1:]
	if n := b.Len(); n > 1 && s.m.r.IntN(2) == 0 {
		left := b.Split(1 + s.m.r.IntN(n-1))
		from.wire = append([]*buffer.Buffer{b}, from.wire...)
		b = left
	}
	if err := s.ch.WriteInbound(b); err != nil && !s.lost {
		s.m.fatalf("%s: %v", s.name, err)
	}
	return true
}

func (m *muxModel) step() {
	s := m.sides[m.r.IntN(2)]
	switch op := m.r.IntN(16); {
	case op < 2 && !s.server:
		s.open()
	case op < 6:
		if a := s.pick(nil); a != nil {
			a.act()
		}
	case op == 6:
		s.ch.SetTransportWritable(m.r.IntN(2) == 0)
	case op == 7:
		s.ch.SetAutoRead(m.r.IntN(2) == 0)
	case op == 8:
		s.ch.Advance(time.Duration(m.r.IntN(100)) * time.Millisecond)
	default:
		s.arrive()
	}
	s.ch.RunPending()
}

// conclude has everything end, and reports whether it does.
func (m *muxModel) conclude() bool {
	m.ended = true
	for _, s := range m.sides {
		s.ch.SetTransportWritable(true)
		s.ch.SetAutoRead(true)
	}
	for idle := 0; idle < 3; idle++ {
		for _, s := range m.sides {
			if s.arrive() {
				idle = 0
			}
			for _, a := range s.actors {
				if a.ch.IsOpen() {
					a.ch.SetAutoRead(true)
					a.ch.Flush()
					if !a.end && a.index >= 0 {
						a.write(true)
						idle = 0
					}
				}
			}
			s.ch.RunPending()
		}
	}
	return count(m.sides[0].mux)+count(m.sides[1].mux)+m.sides[0].codec.Streams()+m.sides[1].codec.Streams() == 0
}

func (m *muxModel) compare() {
	served := map[int]*actor{}
	for _, a := range m.sides[1].actors {
		served[a.index] = a
	}
	for _, c := range m.sides[0].actors {
		s := served[c.index]
		if s == nil || s.abrupt || c.abrupt {
			continue
		}
		if c.got != s.sent || s.got != c.sent || !c.gotEnd || !s.gotEnd {
			m.fatalf("%d: %d of %d and %d of %d bytes, ends %v, %v", c.index, c.got, s.sent, s.got, c.sent, c.gotEnd, s.gotEnd)
		}
	}
}

func runMuxModel(t *testing.T, seed uint64, steps int) {
	m := newMuxModel(t, seed)
	for range steps {
		m.step()
	}
	if m.r.IntN(3) > 0 {
		if !m.conclude() {
			m.fatalf("seed %d: streams are left: %d, %d, channels %d, %d", seed, m.sides[0].codec.Streams(), m.sides[1].codec.Streams(), count(m.sides[0].mux), count(m.sides[1].mux))
		}
		m.compare()
	}
	m.sides[0].lost, m.sides[1].lost = true, true
	for _, s := range m.sides {
		for _, b := range s.wire {
			b.Close()
		}
		s.ch.Finish()
		for _, a := range s.actors {
			if a.stage != removed {
				m.fatalf("seed %d: %s %d ends at stage %d", seed, s.name, a.index, a.stage)
			}
			for i, f := range a.futures {
				if !f.IsDone() {
					m.fatalf("seed %d: %s %d: write %d is not settled", seed, s.name, a.index, i)
				}
			}
		}
	}
}

func TestMultiplexedStreams(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		runMuxModel(t, seed, 200)
	}
}
