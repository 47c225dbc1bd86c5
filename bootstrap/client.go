package bootstrap

import (
	"context"
	"errors"
	"net"
	"sync"

	"millrace.dev/channel"
	"millrace.dev/future"
	"millrace.dev/loop"
)

// Client connects channels. Set the fields, then use it; they must not be changed
// afterwards. Its methods may be called from any goroutine.
type Client struct {
	// Init fills the pipeline of each new channel, on the channel's loop (for
	// CreateUnregistered: on the caller's goroutine) before it is registered. An error
	// fails the connect. Required.
	Init func(ch *channel.Channel) error
	// Group runs the channels, each on the next of its loops. Required, but for ConnectOn:
	// connections share loops, and the group's owner shuts it down.
	Group *loop.Group
	// Transport is the kind of connections. Default DefaultTransport().
	Transport Transport
	// Config is for the channels. Its ConnectTimeout bounds a connect. Default
	// channel.NewConfig().
	Config *channel.Config
	// LocalAddr, if set, is what the connections are bound to.
	LocalAddr net.Addr

	once sync.Once
}

func (c *Client) defaults() error {
	c.once.Do(func() {
		if c.Transport == nil {
			c.Transport = DefaultTransport()
		}
		if c.Config == nil {
			c.Config = channel.NewConfig()
		}
	})
	if c.Init == nil {
		return errors.New("bootstrap: Client.Init: is not set")
	}
	return c.Config.Validate()
}

// next returns the group's loop for a new channel.
func (c *Client) next() (*loop.Loop, error) {
	if err := c.defaults(); err != nil {
		return nil, err
	}
	if c.Group == nil {
		return nil, errors.New("bootstrap: Client.Group: is not set")
	}
	return c.Group.Next(), nil
}

// CreateUnregistered returns an initialised channel at once. The caller registers and
// connects it, or closes it.
func (c *Client) CreateUnregistered() (*channel.Channel, error) {
	l, err := c.next()
	if err != nil {
		return nil, err
	}
	ch := channel.New(l, c.Transport.NewConn(), c.Config, nil)
	if err := initialise(ch, c.Init); err != nil {
		ch.Close()
		return nil, err
	}
	return ch, nil
}

// Connect connects a new channel. It is reachable once it is connected; cancelling the
// future ends the attempt.
func (c *Client) Connect(remote net.Addr) future.Future[*channel.Channel] {
	l, err := c.next()
	if err != nil {
		return future.Failed[*channel.Channel](nil, err)
	}
	return c.ConnectOn(l, remote)
}

// ConnectOn is Connect on a loop of one's choice: that of another channel, so that handlers
// of both run on one goroutine, as those of a proxy should.
func (c *Client) ConnectOn(l *loop.Loop, remote net.Addr) future.Future[*channel.Channel] {
	if err := c.defaults(); err != nil {
		return future.Failed[*channel.Channel](nil, err)
	}
	a := &attempt{
		client:  c,
		remote:  remote,
		ch:      channel.New(l, c.Transport.NewConn(), c.Config, nil),
		promise: future.NewPromise[*channel.Channel](l),
	}
	if err := l.Run(a); err != nil {
		a.promise.TryFail(err)
		return a.promise.Future()
	}
	a.promise.OnCancel(func() { a.ch.Close() })
	return a.promise.Future()
}

// attempt is a connect on its way to the channel's loop.
type attempt struct {
	client  *Client
	remote  net.Addr
	ch      *channel.Channel
	promise *future.Promise[*channel.Channel]
}

// RunTask is for the loop.
func (a *attempt) RunTask() {
	if a.promise.Future().IsDone() { // cancelled before it began
		a.ch.Close()
		return
	}
	if err := initialise(a.ch, a.client.Init); err != nil {
		a.fail(err)
		return
	}
	a.ch.Register().OnComplete(func(f channel.Future) {
		if err := f.Err(); err != nil {
			a.fail(err)
			return
		}
		a.ch.Connect(a.remote, a.client.LocalAddr).OnComplete(func(f channel.Future) {
			if err := f.Err(); err != nil {
				a.fail(err)
			} else if !a.promise.TrySucceed(a.ch) {
				a.ch.Close() // cancelled meanwhile, so nobody else can
			}
		})
	})
}

func (a *attempt) fail(err error) {
	a.ch.Close()
	a.promise.TryFail(err)
}

// Dial is Connect for an address as of net.Dial; ctx cancels it. It waits, so it is not for
// loops.
func (c *Client) Dial(ctx context.Context, network, address string) (*channel.Channel, error) {
	remote, err := ResolveAddr(network, address)
	if err != nil {
		return nil, err
	}
	f := c.Connect(remote)
	ch, err := f.Wait(ctx)
	if err == nil || f.Cancel() {
		return ch, err
	}
	return f.Result() // ctx was done, but so was the connect: the channel needs an owner
}
