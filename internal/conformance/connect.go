package conformance

import (
	"errors"
	"io/fs"
	"net"
	"slices"
	"syscall"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/future"
)

var connectCases = []testCase{
	{"refused", connectRefused},
	{"timeout", connectTimeout},
	{"cancelled", connectCancelled},
	{"closed meanwhile", connectClosed},
	{"deregistered meanwhile", connectDeregistered},
	{"second connect", connectTwice},
	{"not registered", connectUnregistered},
	{"wrong kind of address", connectWrongAddr},
	{"local address", connectLocal},
	{"addresses of both ends", addresses},
	{"bind twice", bindTwice},
	{"bind to an address in use", bindInUse},
}

func isRefused(err error) bool {
	return isErrno(err, syscall.ECONNREFUSED, 10061) || errors.Is(err, fs.ErrNotExist)
}

// unconnected returns a registered channel with the side's probe.
func (e *env) unconnected(s *side) *channel.Channel {
	e.Helper()
	ch, err := e.newClient(s).CreateUnregistered()
	if err != nil {
		e.Fatal(err)
	}
	e.must(ch.Register())
	return ch
}

func connectRefused(e *env) {
	p := e.newPair()
	ch := e.unconnected(p.client)
	pending := ch.WriteAndFlush(buffer.CopyString("x"))
	if err := e.wait(ch.Connect(e.maker.Unused(e.T), nil)); !isRefused(err) {
		e.Errorf("the connect failed with %v", err)
	}
	if ch.IsOpen() {
		e.Error("the channel is open though its connect has failed")
	}
	if err := e.wait(pending); !isRefused(err) {
		e.Errorf("the write failed with %v", err)
	}
	p.client.probe.awaitEnd()
	want := []string{"Added", "OnRegistered", "OnUnregistered", "Removed"}
	if got := inboundEvents(p.client.probe); !slices.Equal(got, want) {
		e.Errorf("events %q, want %q", got, want)
	}
}

// fillBacklog connects until connects wait, and returns the futures of those.
func (e *env) fillBacklog(edit func(c *channel.Config)) (waiting []*side, futures []future.Future[*channel.Channel]) {
	e.Helper()
	if e.maker.FullListener == nil {
		e.Skip("has no listener whose backlog can be filled")
	}
	addr := e.maker.FullListener(e.T, e.serverGroup)
	for range 8 {
		s := &side{probe: newProbe(e), config: edit}
		waiting = append(waiting, s)
		futures = append(futures, e.newClient(s).Connect(addr))
	}
	return waiting, futures
}

// The time is no wait of the test's: it is what makes those connects fail that wait.
func connectTimeout(e *env) {
	sides, futures := e.fillBacklog(func(c *channel.Config) { c.ConnectTimeout = 200 * time.Millisecond })
	failed := 0
	for i, f := range futures {
		ch, err := f.Wait(e.ctx)
		switch {
		case err == nil:
			e.must(ch.Close())
		case errors.Is(err, channel.ErrConnectTimeout):
			failed++
			sides[i].probe.awaitEnd()
		default:
			e.Errorf("connect %d: %v", i, err)
		}
	}
	if failed == 0 {
		e.Error("none has timed out")
	}
}

func connectCancelled(e *env) {
	sides, futures := e.fillBacklog(nil)
	cancelled := 0
	for i, f := range futures {
		if f.Cancel() {
			cancelled++
			sides[i].probe.await("the close", func() bool {
				return sides[i].probe.seen("Added") == sides[i].probe.seen("Removed")
			})
		} else if ch, err := f.Wait(e.ctx); err != nil {
			e.Errorf("connect %d: %v", i, err)
		} else {
			e.must(ch.Close())
		}
		if f.IsCancelled() && sides[i].probe.seen("OnActive") > 0 {
			e.Errorf("connect %d was cancelled, but the channel became active", i)
		}
	}
	if cancelled == 0 {
		e.Error("none was cancelled")
	}
	e.barrier()
}

// connectClosed closes the channels of connects under way.
func connectClosed(e *env) {
	if e.maker.FullListener == nil {
		e.Skip("has no listener whose backlog can be filled")
	}
	addr := e.maker.FullListener(e.T, e.serverGroup)
	for range 8 {
		p := e.newPair()
		ch := e.unconnected(p.client)
		f := ch.Connect(addr, nil)
		second := ch.Connect(addr, nil)
		e.must(ch.Close())
		if err := e.wait(f); err != nil && !errors.Is(err, channel.ErrClosed) {
			e.Errorf("the connect failed with %v, want ErrClosed", err)
		}
		if err := e.wait(second); !errors.Is(err, channel.ErrConnectPending) && !errors.Is(err, channel.ErrConnected) {
			e.Errorf("the second connect failed with %v", err)
		}
		p.client.probe.awaitEnd()
	}
}

// connectDeregistered takes the channels of connects under way off their loop, and puts them
// back: then the connects go on.
func connectDeregistered(e *env) {
	p := e.newPair()
	addr := p.listen()
	ch := e.unconnected(p.client)
	var connected channel.Future
	e.onLoop(ch, func() {
		connected = ch.Connect(addr, nil)
		ch.Deregister()
	})
	e.barrier()
	e.must(ch.Register())
	e.must(connected)
	e.must(ch.WriteAndFlush(buffer.CopyString("x")))
	p.server.probe.awaitBytes(1)
	if e.maker.FullListener == nil {
		return
	}
	full := e.maker.FullListener(e.T, e.serverGroup)
	var waiting []*side
	for range 8 { // at first they have to wait, and then there is nobody to wait for
		s := &side{probe: newProbe(e)}
		s.ch = e.unconnected(s)
		e.onLoop(s.ch, func() {
			s.ch.Connect(full, nil)
			s.ch.Deregister()
		})
		waiting = append(waiting, s)
	}
	for _, s := range waiting {
		e.must(s.ch.Register())
		e.must(s.ch.Close())
		s.probe.awaitEnd()
	}
}

func connectTwice(e *env) {
	p := e.newPair().connect()
	addr := p.server.ch.Parent().LocalAddr()
	if err := e.wait(p.client.ch.Connect(addr, nil)); !errors.Is(err, channel.ErrConnected) {
		e.Errorf("the second connect: %v, want ErrConnected", err)
	}
	e.must(p.client.ch.WriteAndFlush(buffer.CopyString("x"))) // it did no harm
	p.server.probe.awaitBytes(1)
}

func connectUnregistered(e *env) {
	p := e.newPair()
	addr := p.listen()
	ch, err := e.newClient(p.client).CreateUnregistered()
	if err != nil {
		e.Fatal(err)
	}
	if err := e.wait(ch.Connect(addr, nil)); !errors.Is(err, channel.ErrNotRegistered) {
		e.Errorf("connect before register: %v", err)
	}
	e.must(ch.Register())
	if err := e.wait(ch.Register()); !errors.Is(err, channel.ErrRegistered) {
		e.Errorf("second register: %v", err)
	}
	if err := e.wait(ch.Bind(addr)); err == nil {
		e.Error("a client was bound like a listener")
	}
	e.must(ch.Connect(addr, nil))
}

type strangeAddr struct{}

func (strangeAddr) Network() string { return "strange" }
func (strangeAddr) String() string  { return "strange" }

func connectWrongAddr(e *env) {
	p := e.newPair()
	ch := e.unconnected(p.client)
	if err := e.wait(ch.Connect(strangeAddr{}, nil)); err == nil {
		e.Error("connected to a strange address")
	}
	p.client.probe.awaitEnd()
	l := channel.New(e.serverGroup.Next(), e.transport.NewListener(), config(nil), nil)
	e.must(l.Register())
	if err := e.wait(l.Bind(strangeAddr{})); err == nil {
		e.Error("bound to a strange address")
	}
	e.must(l.Bind(e.maker.Addr(e.T))) // it did no harm
}

func connectLocal(e *env) {
	if e.maker.LocalAddr == nil {
		e.Skip("has no local addresses for clients")
	}
	p := e.newPair()
	addr := p.listen()
	ch := e.unconnected(p.client)
	local := e.maker.LocalAddr(e.T)
	e.must(ch.Connect(addr, local))
	p.server.probe.awaitEvent("OnActive")
	if got := p.server.probe.channel().RemoteAddr(); !sameHost(got, local) {
		e.Errorf("the server sees %v, want %v", got, local)
	}
}

// sameHost compares addresses, without the port where the second has none.
func sameHost(a, b net.Addr) bool {
	x, ok := a.(*net.TCPAddr)
	y, ok2 := b.(*net.TCPAddr)
	if !ok || !ok2 {
		return a.String() == b.String()
	}
	return x.IP.Equal(y.IP) && (y.Port == 0 || x.Port == y.Port)
}

func addresses(e *env) {
	p := e.newPair().connect()
	s, c := p.server.ch, p.client.ch
	if c.RemoteAddr().String() != s.LocalAddr().String() || c.LocalAddr().String() != s.RemoteAddr().String() {
		e.Errorf("the client says %v-%v, the server %v-%v", c.LocalAddr(), c.RemoteAddr(), s.LocalAddr(), s.RemoteAddr())
	}
	if s.Parent().LocalAddr().String() != s.LocalAddr().String() {
		e.Errorf("the listener says %v, its connection %v", s.Parent().LocalAddr(), s.LocalAddr())
	}
	e.must(c.Close())
	if c.RemoteAddr() == nil || c.LocalAddr() == nil {
		e.Error("a closed channel has forgotten its addresses")
	}
}

func bindTwice(e *env) {
	p := e.newPair().connect()
	l := p.server.ch.Parent()
	if err := e.wait(l.Bind(e.maker.Addr(e.T))); !errors.Is(err, channel.ErrConnected) {
		e.Errorf("the second bind: %v, want ErrConnected", err)
	}
	if !l.IsActive() {
		e.Error("the second bind has done harm")
	}
}

func bindInUse(e *env) {
	p := e.newPair().connect()
	l := channel.New(e.serverGroup.Next(), e.transport.NewListener(), config(nil), nil)
	e.must(l.Register())
	if err := e.wait(l.Bind(p.server.ch.Parent().LocalAddr())); !isErrno(err, syscall.EADDRINUSE, 10048) {
		e.Errorf("the bind failed with %v, want EADDRINUSE", err)
	}
	e.must(l.Close())
}
