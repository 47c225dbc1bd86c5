package std_test

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
	"millrace.dev/transport/std"
)

func TestOptionsReachBothEnds(t *testing.T) {
	t.Parallel()
	ctx, g := setUp(t)
	transport := std.New(std.Options{
		Nagle:     true,
		KeepAlive: net.KeepAliveConfig{Enable: true, Idle: 91 * time.Second, Interval: 7 * time.Second, Count: 4},
	})
	r := newRecorder()
	init := func(ch *channel.Channel) error { return ch.Pipeline().AddLast("recorder", r) }
	s := &bootstrap.Server{Group: g, Transport: transport, Init: init}
	l, err := s.Bind(loopback("127.0.0.1")(t)).Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c := &bootstrap.Client{Group: g, Transport: transport, Init: init}
	if _, err := c.Connect(l.LocalAddr()).Wait(ctx); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		ch := receive(t, "both ends", r.active)
		for _, o := range []struct {
			name                string
			level, option, want int
		}{
			{"TCP_NODELAY", unix.IPPROTO_TCP, unix.TCP_NODELAY, 0},
			{"SO_KEEPALIVE", unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
			{"TCP_KEEPIDLE", unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 91},
			{"TCP_KEEPINTVL", unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 7},
			{"TCP_KEEPCNT", unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 4},
		} {
			if got := sockopt(t, ch, o.level, o.option); got != o.want {
				t.Errorf("%s of %v is %d, want %d", o.name, ch, got, o.want)
			}
		}
	}
}

func sockopt(t *testing.T, ch *channel.Channel, level, option int) (value int) {
	t.Helper()
	done := make(chan error, 1)
	if err := ch.Loop().Execute(func() {
		nc := ch.Transport().(interface{ NetConn() net.Conn }).NetConn()
		raw, err := nc.(*net.TCPConn).SyscallConn()
		if err == nil {
			err = raw.Control(func(fd uintptr) { value, _ = unix.GetsockoptInt(int(fd), level, option) })
		}
		done <- err
	}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return value
}
