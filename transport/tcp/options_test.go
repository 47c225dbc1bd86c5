//go:build linux

package tcp_test

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
	"millrace.dev/loop"
	"millrace.dev/transport/tcp"
)

const patience = time.Minute

// rig has both ends of one connection with the same options.
type rig struct {
	*testing.T
	ctx            context.Context
	group          *loop.Group
	server, client *channel.Channel
}

type accepting chan *channel.Channel

func (a accepting) OnActive(ctx *channel.Context) { a <- ctx.Channel() }

func newRig(t *testing.T, o tcp.Options) *rig {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	g, err := loop.NewGroup(loop.Options{Loops: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := g.Shutdown(0, patience).Wait(ctx); err != nil {
			t.Error(err)
		}
		cancel()
	})
	r := &rig{T: t, ctx: ctx, group: g}
	accepted := make(accepting, 1)
	s := &bootstrap.Server{Group: g, Transport: tcp.New(o), Init: func(ch *channel.Channel) error {
		return ch.Pipeline().AddLast("accepted", accepted)
	}}
	l, err := s.Bind(loopback("127.0.0.1")(t)).Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c := &bootstrap.Client{Group: g, Transport: tcp.New(o), Init: func(ch *channel.Channel) error {
		return ch.Pipeline().AddLast("ignored", make(accepting, 1))
	}}
	if r.client, err = c.Connect(l.LocalAddr()).Wait(ctx); err != nil {
		t.Fatal(err)
	}
	r.server = <-accepted
	return r
}

// option reads a socket option of an end.
func (r *rig) option(ch *channel.Channel, level, option int) int {
	r.Helper()
	value := make(chan int, 1)
	if err := ch.Loop().Execute(func() {
		fd := ch.Transport().(interface{ Descriptor() int }).Descriptor()
		v, err := unix.GetsockoptInt(fd, level, option)
		if err != nil {
			r.Error(err)
		}
		value <- v
	}); err != nil {
		r.Fatal(err)
	}
	return <-value
}

func TestOptionsReachBothEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t, tcp.Options{
		KeepAlive:     tcp.KeepAlive{Idle: 90*time.Second + 1, Interval: 7 * time.Second, Count: 4},
		UserTimeout:   12 * time.Second,
		ReceiveBuffer: 20 << 10, SendBuffer: 30 << 10,
	})
	for _, c := range []struct {
		name                string
		level, option, want int
	}{
		{"TCP_NODELAY", unix.IPPROTO_TCP, unix.TCP_NODELAY, 1},
		{"SO_KEEPALIVE", unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		{"TCP_KEEPIDLE", unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 91}, // rounded up
		{"TCP_KEEPINTVL", unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 7},
		{"TCP_KEEPCNT", unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 4},
		{"TCP_USER_TIMEOUT", unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 12000},
		{"SO_RCVBUF", unix.SOL_SOCKET, unix.SO_RCVBUF, 40 << 10}, // the kernel doubles it
		{"SO_SNDBUF", unix.SOL_SOCKET, unix.SO_SNDBUF, 60 << 10},
	} {
		for name, ch := range map[string]*channel.Channel{"server": r.server, "client": r.client} {
			if got := r.option(ch, c.level, c.option); got != c.want {
				t.Errorf("%s of the %s is %d, want %d", c.name, name, got, c.want)
			}
		}
	}
}

func TestOptionsThatAreOff(t *testing.T) {
	t.Parallel()
	r := newRig(t, tcp.Options{Nagle: true})
	for _, ch := range []*channel.Channel{r.server, r.client} {
		if r.option(ch, unix.IPPROTO_TCP, unix.TCP_NODELAY) != 0 || r.option(ch, unix.SOL_SOCKET, unix.SO_KEEPALIVE) != 0 {
			t.Error("an option is set that was not asked for")
		}
	}
}

// lost is a handler that waits for the error of a reset.
type lost chan error

func (l lost) OnError(_ *channel.Context, err error) { l <- err }

func TestLingerZeroResets(t *testing.T) {
	t.Parallel()
	r := newRig(t, tcp.Options{LingerZero: true})
	errs := make(lost, 1)
	added := make(chan error, 1)
	if err := r.client.Loop().Execute(func() { added <- r.client.Pipeline().AddLast("lost", errs) }); err != nil {
		t.Fatal(err)
	}
	if err := <-added; err != nil {
		t.Fatal(err)
	}
	r.server.Close()
	select {
	case err := <-errs:
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the client's error: %v", err)
		}
	case <-time.After(patience):
		t.Error("the connection was not reset")
	}
}

func TestReusePort(t *testing.T) {
	t.Parallel()
	r := newRig(t, tcp.Options{})
	transport := tcp.New(tcp.Options{ReusePort: true})
	if !transport.Shares() || tcp.New(tcp.Options{}).Shares() {
		t.Error("Shares doesn't say what ReusePort does")
	}
	bind := func(transport *tcp.Transport, a net.Addr) (*channel.Channel, error) {
		ch := channel.New(r.group.Next(), transport.NewListener(), nil, nil)
		if _, err := ch.Register().Wait(r.ctx); err != nil {
			t.Fatal(err)
		}
		_, err := ch.Bind(a).Wait(r.ctx)
		return ch, err
	}
	first, err := bind(transport, loopback("127.0.0.1")(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bind(transport, first.LocalAddr()); err != nil {
		t.Errorf("the second listener: %v", err)
	}
	if _, err := bind(tcp.New(tcp.Options{}), first.LocalAddr()); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a listener without the option: %v", err)
	}
}

func TestWildcardTakesIPv4Too(t *testing.T) {
	t.Parallel()
	r := newRig(t, tcp.Options{})
	accepted := make(accepting, 1)
	s := &bootstrap.Server{Group: r.group, Transport: tcp.New(tcp.Options{}), Init: func(ch *channel.Channel) error {
		return ch.Pipeline().AddLast("accepted", accepted)
	}}
	l, err := s.Bind(&net.TCPAddr{}).Wait(r.ctx)
	if err != nil {
		t.Skipf("no IPv6 here: %v", err)
	}
	port := l.LocalAddr().(*net.TCPAddr).Port
	c, err := net.DialTCP("tcp4", nil, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ch := <-accepted
	if got := ch.RemoteAddr().String(); got != c.LocalAddr().String() {
		t.Errorf("the peer is %s, want %s", got, c.LocalAddr())
	}
	if got := ch.LocalAddr().String(); got != c.RemoteAddr().String() {
		t.Errorf("the local address is %s, want %s", got, c.RemoteAddr())
	}

	only, err := (&bootstrap.Server{Group: r.group, Transport: tcp.New(tcp.Options{IPv6Only: true}), Init: s.Init}).
		Bind(&net.TCPAddr{}).Wait(r.ctx)
	if err != nil {
		t.Fatal(err)
	}
	port = only.LocalAddr().(*net.TCPAddr).Port
	if c, err := net.DialTCP("tcp4", nil, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}); err == nil {
		_ = c.Close()
		t.Error("an IPv6-only listener took an IPv4 connection")
	}
}

// A port of the ephemeral range on which nobody listens can be connected to itself.
func TestConnectToItselfIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, tcp.Options{})
	l, err := net.Listen("tcp", "127.0.0.9:0") // where nobody else takes the port meanwhile
	if err != nil {
		t.Fatal(err)
	}
	free := l.Addr()
	_ = l.Close()
	ch := channel.New(r.group.Next(), tcp.New(tcp.Options{}).NewConn(), nil, nil)
	if _, err := ch.Register().Wait(r.ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := ch.Connect(free, free).Wait(r.ctx); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the connect ended with %v", err)
	}
}
