package conformance

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"millrace.dev/bootstrap"
	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/future"
	"millrace.dev/loop"
)

// patience is how long a test waits for what must happen. Only a failure takes that long.
const patience = 3 * time.Minute

func newDeadline() <-chan time.Time { return time.After(patience) }

// poll asks until cond is true; false when it never was.
func poll(cond func() bool) bool {
	deadline := newDeadline()
	for !cond() {
		select {
		case <-deadline:
			return false
		default:
			runtime.Gosched()
		}
	}
	return true
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// env is the loops and the transport of one test.
type env struct {
	*testing.T
	maker            Maker
	transport        bootstrap.Transport
	clientTransport  bootstrap.Transport
	serverGroup      *loop.Group
	clientGroup      *loop.Group
	ctx              context.Context
	barrierConnected *pair
}

func newEnv(t *testing.T, m Maker) *env {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	e := &env{T: t, maker: m, ctx: ctx, transport: m.Transport(t)}
	e.clientTransport = e.transport
	if m.ClientTransport != nil {
		e.clientTransport = m.ClientTransport(t)
	}
	e.serverGroup = e.newGroup()
	e.clientGroup = e.serverGroup
	if !m.OneLoop {
		e.clientGroup = e.newGroup()
	}
	t.Cleanup(func() {
		cancel()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		for _, g := range []*loop.Group{e.clientGroup, e.serverGroup} {
			if _, err := g.Shutdown(0, patience).Wait(ctx); err != nil {
				t.Errorf("loops did not end: %v", err)
			}
		}
	})
	return e
}

func (e *env) newGroup() *loop.Group {
	e.Helper()
	g, err := loop.NewGroup(loop.Options{Loops: 1, Logger: quiet})
	if err != nil {
		e.Fatal(err)
	}
	return g
}

// config returns a configuration with the changes that edit makes.
func config(edit func(c *channel.Config)) *channel.Config {
	c := channel.NewConfig()
	c.Logger = quiet
	if edit != nil {
		edit(c)
	}
	return c
}

// side is one end of a connection under test.
type side struct {
	probe  *probe
	config func(c *channel.Config)
	ch     *channel.Channel
}

// pair is a connection with a probe at each end.
type pair struct {
	env            *env
	server, client *side
}

// ends returns the two ends, the one called first in front, for tests that hold for both.
func (p *pair) ends(first string) (a, b *side) {
	if first == "server" {
		return p.server, p.client
	}
	return p.client, p.server
}

func (e *env) newPair() *pair {
	return &pair{env: e, server: &side{probe: newProbe(e)}, client: &side{probe: newProbe(e)}}
}

// both runs a test once for each end.
func both(run func(e *env, end string)) func(e *env) {
	return func(e *env) {
		for _, end := range []string{"server", "client"} {
			e.Run(end, func(t *testing.T) {
				t.Parallel()
				run(newEnv(t, e.maker), end)
			})
		}
	}
}

// connect makes the connection and waits until both ends are active.
func (p *pair) connect() *pair {
	p.env.Helper()
	f := p.start(p.listen())
	if _, err := f.Wait(p.env.ctx); err != nil {
		p.env.Fatalf("connect: %v", err)
	}
	p.server.probe.awaitEvent("OnActive")
	p.client.probe.awaitEvent("OnActive")
	p.server.ch, p.client.ch = p.server.probe.channel(), p.client.probe.channel()
	return p
}

// listen binds a server for one connection and returns its address.
func (p *pair) listen() net.Addr {
	e := p.env
	e.Helper()
	s := &bootstrap.Server{
		Group: e.serverGroup, Transport: e.transport, Logger: quiet, Config: config(p.server.config),
		Init: e.init(p.server, false),
	}
	l, err := s.Bind(e.maker.Addr(e.T)).Wait(e.ctx)
	if err != nil {
		e.Fatalf("bind: %v", err)
	}
	return l.LocalAddr()
}

// start connects the client.
func (p *pair) start(addr net.Addr) future.Future[*channel.Channel] {
	return p.env.newClient(p.client).Connect(addr)
}

func (e *env) newClient(s *side) *bootstrap.Client {
	return &bootstrap.Client{
		Group: e.clientGroup, Transport: e.clientTransport, Config: config(s.config),
		Init: e.init(s, true),
	}
}

// init fills the pipeline of one end.
func (e *env) init(s *side, client bool) func(ch *channel.Channel) error {
	return func(ch *channel.Channel) error {
		if wrap := e.maker.Wrap; wrap != nil {
			if err := wrap(ch.Pipeline(), client); err != nil {
				return err
			}
		}
		return ch.Pipeline().AddLast("probe", s.probe)
	}
}

// barrier returns when whatever the system had for the loops before the call has reached
// them: a message has gone round through both.
func (e *env) barrier() {
	e.Helper()
	p := e.barrierConnected
	if p == nil {
		p = e.newPair()
		p.server.probe.echo = true
		p.connect()
		e.barrierConnected = p
	}
	for range 3 { // a batch that was cut short goes on in the next turn
		want := p.client.probe.received() + 1
		p.client.ch.WriteAndFlush(buffer.CopyString("x"))
		p.client.probe.awaitBytes(want)
	}
}

// wait returns the error of a future that must be done in time.
func (e *env) wait(f channel.Future) error {
	e.Helper()
	_, err := f.Wait(e.ctx)
	if e.ctx.Err() != nil {
		e.Fatal("waited in vain for a future")
	}
	return err
}

// must waits for a future that must succeed.
func (e *env) must(f channel.Future) {
	e.Helper()
	if err := e.wait(f); err != nil {
		e.Fatal(err)
	}
}

// onLoop runs fn on the channel's loop and waits for it.
func (e *env) onLoop(ch *channel.Channel, fn func()) {
	e.Helper()
	done := make(chan struct{})
	if err := ch.Loop().Execute(func() { defer close(done); fn() }); err != nil {
		e.Fatal(err)
	}
	select {
	case <-done:
	case <-newDeadline():
		e.Fatal("the loop is stuck")
	}
}

// fill writes to s, whose peer reads nothing, until the transport takes no more: however
// much the system holds for a connection, and then as much again as that could still grow.
// It returns how many bytes that were, and the future of the last write, which is pending.
func (e *env) fill(s *side) (total int64, last channel.Future) {
	e.Helper()
	const piece, more = 1 << 20, 8 << 20
	pending := func() (n int64) {
		e.onLoop(s.ch, func() { n = s.ch.PendingBytes() })
		return n
	}
	for still := 0; still < 10; { // barriers without progress
		before := pending()
		if before < piece {
			s.ch.WriteAndFlush(buffer.Wrap(make([]byte, piece)))
			total += piece
			still = 0
			continue
		}
		e.barrier()
		if still++; pending() < before {
			still = 0
		}
	}
	last = s.ch.WriteAndFlush(buffer.Wrap(make([]byte, more)))
	total += more
	e.barrier()
	if last.IsDone() {
		e.Fatalf("the transport refuses bytes, but the last write is done: %v", last.Err())
	}
	return total, last
}

// abort has s reset the connection, of which other is the other end. Where only unread
// input does that, s must not be reading.
func (e *env) abort(s, other *side) {
	e.Helper()
	if e.maker.NoReset {
		e.Skip("has no way to reset a connection")
	}
	if e.maker.ResetByUnread {
		e.must(other.ch.WriteAndFlush(buffer.CopyString("unread")))
	}
	e.onLoop(s.ch, func() {
		if l, ok := s.ch.Transport().(interface{ SetLingerZero() }); ok && !e.maker.ResetByUnread {
			l.SetLingerZero()
		}
		s.ch.Close()
	})
}

// isLost recognises the error of a connection that the peer has reset.
func isLost(err error) bool {
	return isErrno(err, syscall.ECONNRESET, 10054) || isErrno(err, syscall.ECONNABORTED, 10053) || errors.Is(err, syscall.EPIPE)
}

// isErrno looks for an error number, or the one that Windows has for sockets instead.
func isErrno(err error, number, winsock syscall.Errno) bool {
	return errors.Is(err, number) || errors.Is(err, winsock)
}

// pattern returns n bytes, up to 16 MiB, that show where each belongs.
func pattern(n int) []byte { return bytes.Clone(patternTable()[:n]) }

var patternTable = sync.OnceValue(func() []byte {
	p := make([]byte, 16<<20)
	for i := range p {
		p[i] = byte(i ^ i>>8 ^ i>>16)
	}
	return p
})

// Socket returns an unused address for a Unix socket, short enough for every system: where the
// directory for temporary files has a long name, it isn't there.
func Socket(t *testing.T) net.Addr {
	t.Helper()
	parent := os.TempDir()
	if len(parent) > 80 { // of some hundred bytes
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "mr")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return &net.UnixAddr{Net: "unix", Name: filepath.Join(dir, "s")}
}

// UnusedPort returns an address at which TCP connects are refused. The port is that of a client
// until the test ends, so that nobody else can come to listen there.
func UnusedPort(t *testing.T) net.Addr {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.LocalAddr()
}

func autoReadOff(c *channel.Config) { c.AutoRead = false }
func halfClosure(c *channel.Config) { c.AllowHalfClosure = true }
