package bootstrap

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"

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
	// Group runs the connections, and loop.Options.Allocator chooses the kind of its buffers.
	// If nil, the server makes one with the default options, and shuts it down at the end.
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
	ownGroup  bool
	listeners []*channel.Channel
	sets      map[*loop.Loop]*channel.Set
	drained   *future.Promise[future.Void] // done when open has come down to 0 for good
	closed    atomic.Bool
	open      atomic.Int64
	refused   refusals
}

// Bind binds a listener, on each loop or on one, and returns the first of them once all
// accept connections. With port 0 all of them get the port that the first one got. When one
// fails, or the future is cancelled, none of them is left.
func (s *Server) Bind(local net.Addr) future.Future[*channel.Channel] {
	if err := s.start(); err != nil {
		return future.Failed[*channel.Channel](nil, err)
	}
	loops := s.Group.Loops()
	if s.OneAcceptor || !s.Transport.Shares() {
		loops = []*loop.Loop{s.Group.Next()}
	}
	return s.bind(loops, local)
}

// Adopt serves with a listener that is bound already, such as std.NewListenerFrom makes of
// a net.Listener. The server closes it, also when the future fails.
func (s *Server) Adopt(listener channel.Transport) future.Future[*channel.Channel] {
	if err := s.start(); err != nil {
		_ = listener.Close()
		return future.Failed[*channel.Channel](nil, err)
	}
	return s.openListener(s.newListener(s.Group.Next(), listener), nil)
}

// Listen is Bind for an address as of net.Listen. It waits, so it is not for loops.
func (s *Server) Listen(network, address string) (*channel.Channel, error) {
	a, err := ResolveAddr(network, address)
	if err != nil {
		return nil, err
	}
	return s.Bind(a).Wait(context.Background())
}

// start fills in the defaults, once.
func (s *Server) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed.Load():
		return ErrServerClosed
	case s.started:
		return nil
	case s.Init == nil:
		return errors.New("bootstrap: Server.Init: is not set")
	}
	if s.Config == nil {
		s.Config = channel.NewConfig()
	}
	if err := s.Config.Validate(); err != nil {
		return err
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
	if s.Logger == nil {
		s.Logger = slog.Default()
	}
	s.sets = make(map[*loop.Loop]*channel.Set)
	for _, l := range s.Group.Loops() {
		s.sets[l] = &channel.Set{OnRemove: s.connClosed}
	}
	s.started = true
	return nil
}

// Connections returns how many accepted connections are open.
func (s *Server) Connections() int { return int(s.open.Load()) }

// Refused returns how many connections came above MaxConns.
func (s *Server) Refused() int64 { return s.refused.total.Load() }

// Listeners returns the channels that are listening.
func (s *Server) Listeners() []*channel.Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	var open []*channel.Channel
	for _, ch := range s.listeners { // one that has closed leaves a moment later
		if ch.IsOpen() {
			open = append(open, ch)
		}
	}
	return open
}
