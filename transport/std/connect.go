package std

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"
)

// connectRetry is how long a connect waits for room in the backlog of a Unix socket's
// listener. The system doesn't tell when there is some (connect(2): EAGAIN).
const connectRetry = 10 * time.Millisecond

// Connect implements channel.Transport.
func (c *conn) Connect(remote, local net.Addr) error {
	network, err := networkOf("connect", remote)
	if err != nil {
		return err
	}
	c.SetAddrs(nil, remote)
	dialer := &net.Dialer{KeepAlive: -1, KeepAliveConfig: c.options.KeepAlive}
	if local != nil {
		dialer.LocalAddr = local
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.giveUp = cancel
	l := c.driver.Loop()
	go func() {
		nc, err := dial(ctx, dialer, network, remote.String())
		if l.Run(&dialled{c, nc, err}) != nil && nc != nil {
			_ = nc.Close() // the loop has ended, and closed the channel
		}
	}()
	return nil
}

func dial(ctx context.Context, d *net.Dialer, network, address string) (net.Conn, error) {
	for {
		nc, err := d.DialContext(ctx, network, address)
		if err == nil || network != "unix" || !errors.Is(err, syscall.EAGAIN) {
			return nc, err
		}
		retry := time.NewTimer(connectRetry)
		select {
		case <-retry.C:
		case <-ctx.Done():
			retry.Stop()
			return nil, err
		}
	}
}

// dialled is the outcome of a connect on its way to the loop.
type dialled struct {
	conn *conn
	nc   net.Conn
	err  error
}

// RunTask is for the loop.
func (d *dialled) RunTask() {
	c := d.conn
	switch {
	case c.flags&flagClosed != 0:
		if d.nc != nil {
			go d.nc.Close() // given up too late
		}
	case d.err != nil:
		c.giveUp()
		c.driver.ConnectDone(d.err)
	default:
		c.giveUp() // lets go of the context
		c.options.configure(d.nc)
		c.nc = d.nc
		c.SetAddrs(d.nc.LocalAddr(), d.nc.RemoteAddr())
		c.driver.ConnectDone(nil)
	}
}
