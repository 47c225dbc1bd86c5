package conformance

import (
	"sync"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

var resetCases = []testCase{
	{"idle", both(resetIdle)},
	{"reading is off", both(resetReadingOff)},
	{"with unread input", both(resetUnread)},
	{"by a close with unread input", both(resetByUnread)},
	{"writes pend and reading is off", both(resetPending)},
	{"before register", resetBeforeRegister},
	{"end before register", endBeforeRegister},
}

// checkLost waits for the end of a channel whose connection was reset.
func (e *env) checkLost(s *side) {
	e.Helper()
	s.probe.awaitEnd()
	if errs := s.probe.errors(); len(errs) != 1 || !isLost(errs[0]) {
		e.Errorf("errors %v, want the loss of the connection once", errs)
	}
	if n := s.probe.seen("OnInactive"); n != 1 {
		e.Errorf("%d × OnInactive", n)
	}
}

func resetIdle(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	if e.maker.ResetByUnread {
		b.config = autoReadOff
	}
	p.connect()
	e.abort(b, a)
	e.checkLost(a)
}

func resetReadingOff(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	a.config = autoReadOff
	if e.maker.ResetByUnread {
		b.config = autoReadOff
	}
	p.connect()
	e.barrier()
	e.abort(b, a)
	e.checkLost(a)
}

// resetUnread resets although there is input that nobody has read.
func resetUnread(e *env, end string) {
	p := e.newPair()
	a, b := p.ends(end)
	a.config = autoReadOff
	if e.maker.ResetByUnread {
		b.config = autoReadOff
	}
	p.connect()
	e.must(b.ch.WriteAndFlush(buffer.CopyString("unread")))
	e.barrier()
	e.abort(b, a)
	e.checkLost(a)
}

// resetByUnread: who closes a connection without having read everything tells the peer so
// (RFC 2525, 2.17).
func resetByUnread(e *env, end string) {
	if e.maker.NoReset {
		e.Skip("has no way to reset a connection")
	}
	p := e.newPair()
	a, b := p.ends(end)
	b.config = autoReadOff
	p.connect()
	e.must(a.ch.WriteAndFlush(buffer.CopyString("unread")))
	e.barrier()
	e.must(b.ch.Close())
	e.checkLost(a)
}

func resetPending(e *env, end string) {
	if e.maker.NoReset {
		e.Skip("has no way to reset a connection")
	}
	p := e.newPair()
	a, b := p.ends(end)
	a.config, b.config = autoReadOff, autoReadOff
	p.connect()
	_, sent := e.fill(a)
	e.must(b.ch.Close())
	if err := e.wait(sent); !isLost(err) {
		e.Errorf("the write failed with %v", err)
	}
	e.checkLost(a)
}

// held accepts connections and keeps their transports.
type held struct {
	mu         sync.Mutex
	transports []channel.Transport
}

func (h *held) OnRead(_ *channel.Context, msg any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.transports = append(h.transports, msg.(channel.Transport))
}

func (h *held) first() channel.Transport {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.transports) == 0 {
		return nil
	}
	return h.transports[0]
}

// accept connects a client and returns the other end's transport, not yet registered.
func (e *env) accept(client *side) channel.Transport {
	e.Helper()
	h := &held{}
	l := channel.New(e.serverGroup.Next(), e.transport.NewListener(), config(nil), nil)
	if err := l.Pipeline().AddLast("held", h); err != nil {
		e.Fatal(err)
	}
	e.must(l.Register())
	e.must(l.Bind(e.maker.Addr(e.T)))
	ch, err := e.newClient(client).Connect(l.LocalAddr()).Wait(e.ctx)
	if err != nil {
		e.Fatal(err)
	}
	client.ch = ch
	if !poll(func() bool { return h.first() != nil }) {
		e.Fatal("the connection was not accepted")
	}
	return h.first()
}

func (e *env) registerHeld(t channel.Transport, s *side) {
	e.Helper()
	s.ch = channel.New(e.serverGroup.Next(), t, config(s.config), nil)
	if err := s.ch.Pipeline().AddLast("probe", s.probe); err != nil {
		e.Fatal(err)
	}
	s.ch.Register() // the outcome shows in the events
}

func resetBeforeRegister(e *env) {
	if e.maker.ResetByUnread || e.maker.NoReset {
		e.Skip("needs a reset of a connection with nothing unread")
	}
	p := e.newPair()
	t := e.accept(p.client)
	e.abort(p.client, p.server)
	e.barrier()
	e.registerHeld(t, p.server)
	e.checkLost(p.server)
}

func endBeforeRegister(e *env) {
	p := e.newPair()
	t := e.accept(p.client)
	e.must(p.client.ch.WriteAndFlush(buffer.CopyString("bye")))
	e.must(p.client.ch.Close())
	e.barrier()
	e.registerHeld(t, p.server)
	p.server.probe.awaitEnd()
	if got := string(p.server.probe.bytes()); got != "bye" {
		e.Errorf("before the end: %q", got)
	}
	if errs := p.server.probe.errors(); len(errs) != 0 {
		e.Errorf("errors %v", errs)
	}
}
