package http2

import (
	"io"
	"math/rand/v2"
	"testing"

	"millrace.dev/future"
)

// step does one thing at random, and looks at both ends.
func (m *model) step() {
	e := m.ends[m.r.IntN(2)]
	switch m.r.IntN(8) {
	case 0, 1, 2:
		e.act()
	case 3:
		e.manage()
	case 4, 5:
		e.pull(m.r.IntN(4) > 0)
	default:
		if !e.gone {
			e.deliver(m.r.IntN(1 << m.r.IntN(17)))
		}
	}
	m.check()
}

// check compares what is counted twice, and finds what would never be sent.
func (m *model) check() {
	for _, e := range m.ends {
		if e.c.err == nil {
			e.check()
		}
	}
}

func (e *modelEnd) check() {
	c := e.c
	unread, waiting, inList := int64(0), 0, map[*stream]bool{}
	for s := c.ring.first; s != nil; s = s.next {
		inList[s] = true
		if s.queue[0].content.Len() == 0 && s != c.ring.first && s.prev.queue[0].content.Len() > 0 {
			e.m.fatalf("%s: the end of %d waits for content of %d", e.name, s.id, s.prev.id)
		}
	}
	c.streams.each(func(s *stream) {
		unread += s.unread
		queued := int64(0)
		for i := range s.queue {
			queued += s.queue[i].content.Len()
		}
		if queued != s.queued {
			e.m.fatalf("%s: %d has %d bytes queued, not %d", e.name, s.id, queued, s.queued)
		}
		if sum := s.window.left + s.window.credit + s.unread; sum != c.initial {
			e.m.fatalf("%s: the window of %d is %d in all, not %d", e.name, s.id, sum, c.initial)
		}
		if s.head != nil {
			waiting++
		}
		sendable := len(s.queue) > 0 && s.head == nil && (c.sendRoom(s) > 0 || s.queue[0].content.Len() == 0)
		if inList[s] != s.is(inRing) || sendable && !s.is(inRing) {
			e.m.fatalf("%s: %d in the ring: %v, flag %v, sendable %v", e.name, s.id, inList[s], s.is(inRing), sendable)
		}
		if s.is(localClosed) && s.is(remoteClosed) {
			e.m.fatalf("%s: %d has ended and is still there", e.name, s.id)
		}
		if s.queued > int64(c.o.WriteHigh) && !s.is(unwritable) {
			e.m.fatalf("%s: %d is writable", e.name, s.id)
		}
	})
	if sum := c.window.left + c.window.credit + unread; c.is(started) && sum != int64(c.o.ConnWindow) {
		e.m.fatalf("%s: the connection's window is %d in all", e.name, sum)
	}
	if waiting != c.nWait || waiting > 0 && c.mayOpen() && !c.is(peerGoingAway) {
		e.m.fatalf("%s: %d requests wait, %d counted, though one may be sent", e.name, waiting, c.nWait)
	}
}

// pull puts what an end sends into its pipe.
func (e *modelEnd) pull(content bool) {
	var p []byte
	for b := e.c.Pull(content); b != nil; b = e.c.Pull(content) {
		p = append(p, b.ReadString(b.Len())...)
		b.Close()
	}
	e.settle()
	if e.gone {
		return
	}
	for len(p) > 0 {
		n := e.preface
		if e.preface = 0; n == 0 {
			h := parseFrameHeader(p)
			n = FrameHeaderLen + int(h.Length)
			if h.Type == FrameSettings && h.Flags.Has(FlagAck) {
				if e.acks++; e.acks > 1 { // its other end can't know that it has changed them
					e.marks = append(e.marks, modelMark{e.put, e.peer.change[e.acks-2]})
					p = p[n:]
					continue
				}
			}
		}
		frame := e.disguise(p[:n])
		e.pipe = append(e.pipe, frame...)
		e.put += int64(len(frame))
		p = p[n:]
	}
}

// disguise says the same as a frame does in another way: with padding, or in several frames.
func (e *modelEnd) disguise(frame []byte) []byte {
	r := e.m.r
	if len(frame) < FrameHeaderLen || frame[0] == 'P' || r.IntN(3) > 0 {
		return frame
	}
	h, payload := parseFrameHeader(frame), frame[FrameHeaderLen:]
	switch {
	case h.Type == FrameData:
		s := e.c.streams.get(h.StreamID)
		pad := r.IntN(256)
		if cost := int64(pad + 1); s != nil && cost <= min(e.c.sendWindow, e.c.sendRoom(s)) && len(payload)+pad < MinMaxFrameSize {
			e.c.sendWindow -= cost
			s.send -= sendWindow(cost)
			return padded(h, payload, pad)
		}
	case h.Type == FrameHeaders && h.Flags.Has(FlagEndHeaders):
		end := h.Flags.Has(FlagEndStream)
		if r.IntN(2) == 0 && len(payload) < 1000 {
			return padded(h, payload, r.IntN(256))
		}
		return AppendHeaders(nil, h.StreamID, payload, end, 1+max(len(payload)/30, r.IntN(len(payload)+1)))
	}
	return frame
}

func padded(h FrameHeader, payload []byte, pad int) []byte {
	h.Flags |= FlagPadded
	h.Length += uint32(1 + pad)
	p := append(AppendFrameHeader(nil, h), byte(pad))
	return append(append(p, payload...), make([]byte, pad)...)
}

func (e *modelEnd) settle() {
	for _, s := range e.c.settled {
		if s.err != nil {
			s.promise.TryFail(s.err)
		} else {
			s.promise.TrySucceed(future.Void{})
		}
	}
	e.c.settled = nil
}

// deliver takes up to n bytes out of the pipe of the other end.
func (e *modelEnd) deliver(n int) {
	from := e.peer
	for {
		if len(from.marks) > 0 && from.marks[0].at == from.taken {
			e.read()
			change := from.marks[0].change
			from.marks = from.marks[1:]
			if e.c.err == nil {
				change()
			}
			continue
		}
		step := min(n, len(from.pipe))
		if len(from.marks) > 0 {
			step = min(step, int(from.marks[0].at-from.taken))
		}
		if step == 0 {
			break
		}
		e.in.Write(from.pipe[:step])
		from.pipe = from.pipe[step:]
		from.taken += int64(step)
		n -= step
	}
	e.read()
}

// cut breaks the transport, at one end or both.
func (m *model) cut() {
	for _, e := range m.ends {
		switch m.r.IntN(3) {
		case 0: // the server hears no more, and may go on sending
			if e.server() && e.c.err == nil {
				m.note("%s: input ends", e.name)
				e.deliver(m.r.IntN(1 << m.r.IntN(17)))
				e.peer.pipe, e.peer.gone = nil, true
				e.peer.lose()
				e.c.inputEnded()
				e.read()
			}
		case 1:
			e.lose()
		}
	}
}

func (e *modelEnd) lose() {
	e.m.note("%s: lost", e.name)
	e.gone = true
	e.c.Lose(io.ErrUnexpectedEOF)
	e.lost = e.c.Err()
	e.read()
}

// finish has both ends do all that is left to do, and reports whether they came to an end.
func (m *model) finish() bool {
	for _, e := range m.ends {
		e.final = true
		all := []Setting{{SettingInitialWindowSize, 5000}}
		if e.server() {
			all = append(all, Setting{SettingMaxConcurrentStreams, 3})
		}
		c := e.c
		e.send(all, func() {
			grown := 5000 - c.initial
			if c.initial, c.o.StreamWindow = 5000, 5000; e.server() {
				c.o.MaxStreams = 3
			}
			c.streams.each(func(s *stream) {
				if s.window.left += grown; s.head == nil {
					c.consume(s, 0)
				}
			})
		})
	}
	for range 3000 {
		moved := false
		for _, e := range m.ends {
			moved = e.conclude() || moved
			e.pull(true)
			moved = moved || len(e.peer.pipe)+len(e.peer.marks) > 0
			e.deliver(1 + m.r.IntN(8000))
			m.check()
		}
		if !moved && len(m.ends[0].pipe)+len(m.ends[1].pipe) == 0 {
			return m.ends[0].c.Streams()+m.ends[1].c.Streams() == 0
		}
	}
	return false
}

// conclude ends what an end has begun, and reports whether there was anything.
func (e *modelEnd) conclude() (did bool) {
	for _, id := range e.ids {
		s := e.streams[id]
		if e.c.stream(id) == nil {
			continue
		}
		e.c.Resume(id)
		e.consume(s, s.untaken)
		switch {
		case s.out.ended:
		case e.server() && !s.headOut:
			e.respond(s)
			did = true
		default:
			e.content(s)
			did = true
		}
	}
	return did
}

// compare looks at what has arrived of each stream.
func (m *model) compare() {
	client, server := m.ends[0], m.ends[1]
	for id, s := range server.streams {
		c := client.streams[id]
		arrived := func(name string, from, to *modelStream) {
			if to.in.n != from.out.n || to.in.ended != from.out.ended {
				m.fatalf("%s %d: %d bytes have come of %d, end %v", name, id, to.in.n, from.out.n, to.in.ended)
			}
		}
		reset, _ := c.err.(*StreamError)
		if !s.cut && !c.cut && s.err == nil && s.headOut && (c.err == nil || reset != nil && reset.Remote && reset.Code == NoError) {
			arrived("response", s, c)
			if !s.givenUp {
				arrived("request", c, s)
			}
		}
	}
}

// runModel plays one game.
func runModel(t testing.TB, source rand.Source, steps int) {
	m := newModel(t, source)
	for range steps {
		m.step()
	}
	broken := m.r.IntN(3) == 0
	if broken {
		m.cut()
		for range 50 {
			m.step()
		}
	} else {
		if !m.finish() {
			m.fatalf("streams are left, or it never ends")
		}
		m.compare()
	}
	for _, e := range m.ends {
		e.c.Close()
		e.settle()
		e.in.Close()
		for i, p := range e.waits {
			if !p.Future().IsDone() {
				m.fatalf("%s: write %d of %d is not settled", e.name, i, len(e.waits))
			}
		}
	}
	if used := m.alloc.Stats().Used; used != 0 {
		m.fatalf("%d bytes of buffers are lost", used)
	}
}

// Two ends that keep to the rules do so however their users, the clock and the bytes on the way
// play together.
func TestTwoEnds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		runModel(t, rand.NewPCG(seed, 7), 200)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// choices is a source of random numbers that a fuzzer chooses, two bytes for each, and others
// behind them.
type choices struct {
	p    []byte
	rest *rand.PCG
}

func (c *choices) Uint64() uint64 {
	if len(c.p) < 2 {
		return c.rest.Uint64()
	}
	v := uint64(c.p[0])<<56 | uint64(c.p[1])<<48
	c.p = c.p[2:]
	return v
}

// The same with what a fuzzer makes of it.
func FuzzTwoEnds(f *testing.F) {
	for seed := range uint64(8) {
		p := make([]byte, 2000)
		r := rand.NewPCG(seed, 3)
		for i := range p {
			p[i] = byte(r.Uint64())
		}
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		if len(p) < 8000 {
			runModel(t, &choices{p, rand.NewPCG(1, 1)}, len(p)/10)
		}
	})
}
