package httpserver

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"math"
	"net"
	nethttp "net/http"
	"sync"
	"time"

	"millrace.dev/bootstrap"
	"millrace.dev/channel"
	"millrace.dev/codec/http"
	"millrace.dev/codec/http1"
	"millrace.dev/codec/http2"
	"millrace.dev/loop"
	"millrace.dev/transport/std"
)

// ErrServerClosed is what ListenAndServe returns after Shutdown or Close.
var ErrServerClosed = errors.New("httpserver: server closed")

// Server is an HTTP/1.1 and HTTP/2 server: both on the same port, which a client chooses by
// what it sends first. Set the fields, then call Listen, once for each address, or
// ListenAndServe; they must not be changed afterwards. Its methods may be called from any
// goroutine, those that wait not from a loop's.
//
// Where neither Native nor Handler takes a request it is answered with 404.
type Server struct {
	// Native is asked first, on the connection's loop.
	Native NativeHandler
	// Handler gets what Native doesn't take, on a goroutine.
	Handler nethttp.Handler

	// Group runs the connections, and loop.Options.Allocator chooses the kind of its buffers.
	// If nil, the server makes one with the default options, and shuts it down at the end.
	Group *loop.Group
	// Transport is the kind of listeners. Default bootstrap.DefaultTransport().
	Transport bootstrap.Transport
	// OneAcceptor has a single listener give connections to the loops in turn, even where
	// the transport could have one listener for each loop.
	OneAcceptor bool
	// Config is for the connections' channels. Half-closure is allowed whatever it says: a
	// client that has ended its direction still gets its answers. Default
	// channel.NewConfig().
	Config *channel.Config
	// InitChannel, if set, adds handlers to a new connection's pipeline before those that
	// speak HTTP, and behind the one for TLS. On the channel's loop; an error closes the
	// connection.
	InitChannel func(ch *channel.Channel) error

	// TLS, if set, has connections encrypted. Of NextProtos, which ALPN offers, it gets
	// "h2" and "http/1.1" if it has none itself. See crypto/tls for certificates. Leave it nil
	// for listeners that encrypt by themselves (Serve).
	TLS *tls.Config

	// Limits bounds what a request may be; see http.Limits for the defaults.
	Limits http.Limits
	// NoHTTP2 leaves HTTP/2 out: the server speaks HTTP/1.1 only.
	NoHTTP2 bool
	// HTTP2 configures HTTP/2 connections. Its Limits and timeouts are the server's, whatever
	// it says.
	HTTP2 http2.Options
	// MaxInFlight is how many requests of one connection may be unanswered; above it the
	// server stops reading from the connection. Default http1.DefaultMaxInFlight. With HTTP/2
	// it is HTTP2.MaxStreams that counts.
	MaxInFlight int
	// MaxConns bounds the open connections; what comes above it is closed at once, and said
	// in the log. 0 is without bound.
	MaxConns int
	// Timeouts end connections on which nothing moves. All have defaults.
	Timeouts Timeouts

	// BaseContext, if set, returns the context that the contexts of net/http requests are
	// derived from; listener is nil for a connection whose channel has no parent.
	BaseContext func(listener *channel.Channel) context.Context
	// ConnContext, if set, changes the context for the requests of one connection. It runs
	// on the channel's loop, when the first request for Handler arrives.
	ConnContext func(ctx context.Context, ch *channel.Channel) context.Context

	// Logger takes panics of handlers and what else the server has to say. Default
	// slog.Default().
	Logger *slog.Logger
	// Metrics counts the connections and their bytes, if set. It has to be for Group.
	Metrics *channel.Metrics

	once     sync.Once
	startErr error
	boot     bootstrap.Server
	tls      *tls.Config
	codecs   *http1.ServerCodecs
	codecs2  *http2.ServerCodecs
	ownGroup bool
	uploads  uploadPool

	maxHandlers int // of Handler that run at once for one connection

	mu     sync.Mutex
	shards map[*loop.Loop]*shard

	done     chan struct{} // closed when the server has begun to shut down
	doneOnce sync.Once
}

// start fills in the defaults, once.
func (s *Server) start() error {
	s.once.Do(func() { s.startErr = s.prepare() })
	return s.startErr
}

func (s *Server) prepare() error {
	if s.Logger == nil {
		s.Logger = slog.Default()
	}
	s.done = make(chan struct{})
	s.shards = make(map[*loop.Loop]*shard)
	s.Timeouts = s.Timeouts.effective()
	s.tls = s.tlsConfig()
	s.codecs = http1.NewServerCodecs(http1.ServerOptions{
		Limits:         s.Limits,
		MaxInFlight:    s.MaxInFlight,
		Preface:        !s.NoHTTP2,
		ManualContinue: true, // a 100 is sent when a handler wants the content
	})
	s.codecs2 = http2.NewServerCodecs(s.http2Options())
	s.maxHandlers = 2 * http2.DefaultMaxStreams
	if n := s.HTTP2.MaxStreams; n > 0 {
		s.maxHandlers = int(min(2*int64(n), math.MaxInt32))
	}
	config := s.Config
	if config == nil {
		config = channel.NewConfig()
	}
	config = config.Clone()
	config.AllowHalfClosure = true
	if config.Logger == nil {
		config.Logger = s.Logger
	}
	if s.Metrics != nil {
		config.Metrics = s.Metrics
	}
	s.boot.Init = s.Init
	s.boot.Transport = s.Transport
	s.boot.OneAcceptor = s.OneAcceptor
	s.boot.Config = config
	s.boot.MaxConns = s.MaxConns
	s.boot.Logger = s.Logger
	return nil
}

// group makes sure that there is one. It is not part of prepare because a server whose Init
// is used with another bootstrap needs none.
func (s *Server) group() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.boot.Group != nil {
		return nil
	}
	if s.Group == nil {
		g, err := loop.NewGroup(loop.Options{Logger: s.Logger})
		if err != nil {
			return err
		}
		s.Group, s.ownGroup = g, true
	}
	s.boot.Group = s.Group
	return nil
}

// Listen binds a listener to an address as of net.Listen ("tcp", ":8080") and begins to
// serve. It returns the listening channel, of which closing ends only the accepting.
func (s *Server) Listen(network, address string) (*channel.Channel, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	ch, err := s.boot.Listen(network, address)
	return ch, closedError(err)
}

// open makes the server ready for listeners.
func (s *Server) open() error {
	if err := s.start(); err != nil {
		return err
	}
	if s.closing() {
		return ErrServerClosed
	}
	return s.group()
}

func closedError(err error) error {
	if errors.Is(err, bootstrap.ErrServerClosed) {
		return ErrServerClosed
	}
	return err
}

// ListenAndServe listens on a TCP address, ":http" if it is empty, or ":https" with TLS, and
// serves until Shutdown or Close. It then returns ErrServerClosed at once: wait for Shutdown
// to return.
func (s *Server) ListenAndServe(address string) error {
	if address == "" {
		address = ":http"
		if s.TLS != nil {
			address = ":https"
		}
	}
	if _, err := s.Listen("tcp", address); err != nil {
		return err
	}
	<-s.done
	return ErrServerClosed
}

// Serve serves the connections of l, which it closes, through Go's net package: for
// listeners that the system has handed to the process, and those of other packages, such
// as crypto/tls. It returns ErrServerClosed at once after Shutdown or Close, and
// net.ErrClosed if the listener ends before.
func (s *Server) Serve(l net.Listener) error {
	if err := s.open(); err != nil {
		_ = l.Close()
		return err
	}
	ch, err := s.boot.Adopt(std.NewListenerFrom(l)).Wait(context.Background())
	if err != nil {
		return closedError(err)
	}
	ended := make(chan struct{})
	ch.CloseFuture().OnComplete(func(channel.Future) { close(ended) })
	select {
	case <-s.done:
		return ErrServerClosed
	case <-ended:
		if s.closing() {
			return ErrServerClosed
		}
		return net.ErrClosed
	}
}

// Init fills the pipeline of a new channel, for a server that is used with a bootstrap of
// one's own. Its channels must allow half-closure, and its Shutdown drains them.
func (s *Server) Init(ch *channel.Channel) error {
	if err := s.start(); err != nil {
		return err
	}
	if s.tls != nil {
		if err := ch.Pipeline().AddLast("tls", s.newTLS()); err != nil {
			return err
		}
	}
	if s.InitChannel != nil {
		if err := s.InitChannel(ch); err != nil {
			return err
		}
	}
	codec := s.codecs.New()
	if err := ch.Pipeline().AddLast("http1", codec); err != nil {
		return err
	}
	return ch.Pipeline().AddLast("httpserver", &conn{shard: s.shard(ch.Loop()), proto: over1{codec}})
}

// http2Options returns HTTP2 with what the server decides.
func (s *Server) http2Options() http2.ServerOptions {
	o := http2.ServerOptions{Options: s.HTTP2, ManualContinue: true}
	o.Limits = s.Limits
	o.HeadTimeout = s.Timeouts.Header
	o.StallTimeout = s.Timeouts.Write
	return o
}

// Addr returns the address of the first listener, nil before Listen.
func (s *Server) Addr() net.Addr {
	for _, ch := range s.boot.Listeners() {
		if a := ch.LocalAddr(); a != nil {
			return a
		}
	}
	return nil
}

// Listeners returns the listening channels, of which there may be one for each loop.
func (s *Server) Listeners() []*channel.Channel { return s.boot.Listeners() }

// Connections returns how many connections are open.
func (s *Server) Connections() int { return s.boot.Connections() }

// Refused returns how many connections came above MaxConns.
func (s *Server) Refused() int64 { return s.boot.Refused() }

func (s *Server) closing() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// Shutdown stops accepting, closes idle connections, lets the others finish what is under
// way, and returns when all have closed. When ctx is done first, the rest are closed, and
// its error is returned. Connections that were hijacked or upgraded count: they are closed
// at the end of ctx unless they end before. A second call waits as well.
func (s *Server) Shutdown(ctx context.Context) error {
	if err := s.start(); err != nil {
		return err
	}
	s.doneOnce.Do(func() { close(s.done) })
	err := s.boot.Shutdown(ctx)
	s.mu.Lock()
	own := s.ownGroup
	shards := s.shards
	s.mu.Unlock()
	if own {
		_, _ = s.Group.Shutdown(0, time.Second).Wait(context.Background()) // it keeps to its own timeout
	}
	for _, sh := range shards {
		sh.close()
	}
	return err
}

// Close stops accepting and closes every connection, whatever it is doing.
func (s *Server) Close() error {
	if err := s.start(); err != nil {
		return err
	}
	s.doneOnce.Do(func() { close(s.done) })
	for _, ch := range s.boot.Listeners() {
		ch.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_ = s.boot.EachConnection(ctx, func(ch *channel.Channel) { ch.Close() }) // Shutdown tries again
	cancel()
	_ = s.Shutdown(ctx) // says that ctx was cancelled
	return nil
}

// closeTime is how long Close waits for loops that are busy.
const closeTime = time.Second
