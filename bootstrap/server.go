package bootstrap

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"millrace.dev/channel"
	"millrace.dev/future"
	"millrace.dev/loop"
)

// Drain is the event that a server's Shutdown fires into every connection: finish what is
// under way, then close. Connections that don't are closed at the deadline.
type Drain struct{}

// ErrServerClosed fails a Bind after Shutdown.
var ErrServerClosed = errors.New("bootstrap: server was shut down")

// Server accepts connections. Set the fields, then call Bind, once for each address; they
// must not be changed afterwards. Its methods may be called from any goroutine.
type Server struct {
	// Init fills the pipeline of each accepted channel, on the channel's loop, before it
	// is registered. An error closes the connection. Required.
	Init func(ch *channel.Channel) error
	// Group runs the connections. If nil, the server makes one with the default options,
	// and shuts it down at the end.
	Group *loop.Group
	// Transport is the kind of listeners. Default DefaultTransport().
	Transport Transport
	// Config is for the accepted channels. Default channel.NewConfig().
	Config *channel.Config
	// InitListener, if set, may add handlers to a listener's pipeline, before the one that
	// accepts. On the listener's loop.
	InitListener func(ch *channel.Channel) error
	// MaxConns bounds the open connections; what comes above it is closed at once, and
	// said in the log. 0 is without bound.
	MaxConns int
	// OneAcceptor has a single listener give connections to the loops in turn, even where
	// the transport could have one listener for each loop.
	OneAcceptor bool
	// Logger takes what the server has to say. Default slog.Default().
	Logger *slog.Logger

	mu        sync.Mutex
	started   bool
	closed    bool
	ownGroup  bool
	listeners []*channel.Channel
	sets      map[*loop.Loop]*channel.Set
	open      atomic.Int64
	refused   refusals
	emptied   chan struct{} // receives when open has come down to 0
}

// Bind binds a listener, on each loop or on one, and returns the first of them once all
// accept connections. With port 0 all of them get the port that the first one got.
func (s *Server) Bind(local net.Addr) future.Future[*channel.Channel] {
	p, err := s.bind(local)
	if err != nil {
		return future.Failed[*channel.Channel](nil, err)
	}
	return p
}

// Listen is Bind for an address as of net.Listen. It waits, so it is not for loops.
func (s *Server) Listen(network, address string) (*channel.Channel, error) {
	a, err := ResolveAddr(network, address)
	if err != nil {
		return nil, err
	}
	return s.Bind(a).Wait(context.Background())
}

func (s *Server) bind(local net.Addr) (f future.Future[*channel.Channel], err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return f, ErrServerClosed
	}
	if err := s.start(); err != nil {
		return f, err
	}
	loops := s.Group.Loops()
	if s.OneAcceptor || !s.Transport.Shares() {
		loops = []*loop.Loop{s.Group.Next()}
	}
	first := s.newListener(loops[0])
	return future.FlatMap(s.open1(first, local), func(ch *channel.Channel) future.Future[*channel.Channel] {
		bound := ch.LocalAddr() // the port is known now
		var others []future.Future[*channel.Channel]
		for _, l := range loops[1:] {
			others = append(others, s.open1(s.newListener(l), bound))
		}
		all := future.All(ch.Loop(), others...)
		return future.Map(all, func([]*channel.Channel) (*channel.Channel, error) { return ch, nil })
	}), nil
}

// start fills in the defaults, once. s.mu is held.
func (s *Server) start() error {
	if s.started {
		return nil
	}
	if s.Init == nil {
		return errors.New("bootstrap: Server.Init: is not set")
	}
	if s.Group == nil {
		g, err := loop.NewGroup(loop.Options{})
		if err != nil {
			return err
		}
		s.Group, s.ownGroup = g, true
	}
	if s.Transport == nil {
		s.Transport = DefaultTransport()
	}
	if s.Config == nil {
		s.Config = channel.NewConfig()
	}
	if s.Logger == nil {
		s.Logger = slog.Default()
	}
	s.emptied = make(chan struct{}, 1)
	s.sets = make(map[*loop.Loop]*channel.Set)
	for _, l := range s.Group.Loops() {
		s.sets[l] = &channel.Set{OnRemove: s.connClosed}
	}
	s.started = true
	return nil
}

func (s *Server) connClosed(*channel.Channel) {
	if s.open.Add(-1) == 0 {
		select {
		case s.emptied <- struct{}{}:
		default:
		}
	}
}

func (s *Server) newListener(l *loop.Loop) *channel.Channel {
	config := channel.NewConfig()
	config.Logger = s.Logger
	return channel.New(l, s.Transport.NewListener(), config, nil)
}

// open1 registers and binds one listener.
func (s *Server) open1(ch *channel.Channel, local net.Addr) future.Future[*channel.Channel] {
	p := future.NewPromise[*channel.Channel](ch.Loop())
	err := ch.Loop().Execute(func() {
		if err := s.initListener(ch); err != nil {
			ch.Close()
			p.TryFail(err)
			return
		}
		if err := ch.Register().Err(); err != nil {
			p.TryFail(err)
			return
		}
		ch.Bind(local).OnComplete(func(f channel.Future) {
			if err := f.Err(); err != nil {
				ch.Close()
				p.TryFail(err)
				return
			}
			p.TrySucceed(ch)
		})
	})
	if err != nil {
		p.TryFail(err)
	}
	return p.Future()
}

func (s *Server) initListener(ch *channel.Channel) error {
	if s.InitListener != nil {
		if err := s.InitListener(ch); err != nil {
			return err
		}
	}
	return ch.Pipeline().AddLast("acceptor", &acceptor{server: s})
}

// Connections returns how many accepted connections are open.
func (s *Server) Connections() int { return int(s.open.Load()) }

// Refused returns how many connections came above MaxConns.
func (s *Server) Refused() int64 { return s.refused.total.Load() }

// Listeners returns the listening channels.
func (s *Server) Listeners() []*channel.Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*channel.Channel(nil), s.listeners...)
}

// EachConnection calls f on the loop of each open connection, and returns when all have
// been called or ctx is done. It is not for loops.
func (s *Server) EachConnection(ctx context.Context, f func(ch *channel.Channel)) error {
	s.mu.Lock()
	sets := s.sets
	s.mu.Unlock()
	for l, set := range sets {
		p := future.NewPromise[future.Void](l)
		err := l.Execute(func() {
			set.Each(f)
			p.TrySucceed(future.Void{})
		})
		if err != nil {
			continue // the loop has ended, with its connections
		}
		if _, err := p.Future().Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Shutdown stops accepting, fires Drain into every connection, and waits until they have
// closed. When ctx is done first, the rest are closed, and its error is returned. It is not
// for loops. A second call waits as well.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	listeners := s.listeners
	started := s.started
	s.mu.Unlock()
	if !started {
		return nil
	}
	for _, ch := range listeners {
		if _, err := ch.Close().Wait(ctx); err != nil && !errors.Is(err, loop.ErrShutdown) {
			break // no more time: the connections are closed below
		}
	}
	drained := s.EachConnection(ctx, func(ch *channel.Channel) { ch.FireEvent(Drain{}) })
	for drained == nil && s.open.Load() > 0 {
		select {
		case <-s.emptied:
		case <-ctx.Done():
			drained = ctx.Err()
		}
	}
	if drained != nil {
		s.closeAll()
	}
	if s.ownGroup {
		_, _ = s.Group.Shutdown(0, time.Second).Wait(context.Background()) // it keeps to its own timeout
	}
	return drained
}

// closeAll closes every connection, for want of time.
func (s *Server) closeAll() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if n := s.Connections(); n > 0 {
		s.Logger.Warn("closing connections that have not drained in time", "connections", n)
	}
	_ = s.EachConnection(ctx, func(ch *channel.Channel) { ch.Close() }) // a stuck loop can't be helped
}
