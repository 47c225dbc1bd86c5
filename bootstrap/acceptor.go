package bootstrap

import (
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"millrace.dev/channel"
	"millrace.dev/future"
)

// acceptor is the last handler of a listener: it turns accepted transports into channels.
type acceptor struct {
	server *Server
}

// OnActive makes the listener known to Shutdown.
func (a *acceptor) OnActive(ctx *channel.Context) {
	s := a.server
	s.mu.Lock()
	closed := s.closed.Load()
	if !closed {
		s.listeners = append(s.listeners, ctx.Channel())
	}
	s.mu.Unlock()
	if closed {
		ctx.Close()
		return
	}
	ctx.FireActive()
}

// OnInactive forgets the listener.
func (a *acceptor) OnInactive(ctx *channel.Context) {
	s := a.server
	s.mu.Lock()
	s.listeners = slices.DeleteFunc(s.listeners, func(ch *channel.Channel) bool { return ch == ctx.Channel() })
	s.mu.Unlock()
	ctx.FireInactive()
}

// OnRead accepts a connection or refuses it.
func (a *acceptor) OnRead(ctx *channel.Context, msg any) {
	t, ok := msg.(channel.Transport)
	if !ok {
		ctx.FireRead(msg)
		return
	}
	s := a.server
	n := s.open.Add(1)
	switch {
	case s.closed.Load():
		s.drop(t)
		return
	case s.MaxConns > 0 && n > int64(s.MaxConns):
		s.refused.add(s)
		s.drop(t)
		return
	}
	l := ctx.Loop()
	if s.OneAcceptor || !s.Transport.Shares() {
		l = s.Group.Next()
	}
	ch := channel.New(l, t, s.Config, ctx.Channel())
	if l == ctx.Loop() {
		s.admit(ch)
		return
	}
	if err := l.Run(&admission{s, ch}); err != nil {
		s.drop(t) // the loop has ended: the server is going down
	}
}

// drop closes a connection on which nothing was said yet, after it has stopped counting: whoever
// sees it close finds the figures right.
func (s *Server) drop(t channel.Transport) {
	s.connClosed(nil)
	_ = t.Close()
}

// OnError logs what went wrong with the listener.
func (a *acceptor) OnError(ctx *channel.Context, err error) {
	a.server.Logger.Error("listener failed", "channel", ctx.Channel(), "error", err)
}

// admission is a channel on its way from the acceptor's loop to its own.
type admission struct {
	server *Server
	ch     *channel.Channel
}

// RunTask is for the loop.
func (a *admission) RunTask() { a.server.admit(a.ch) }

// admit initialises and registers a channel, on its loop.
func (s *Server) admit(ch *channel.Channel) {
	s.sets[ch.Loop()].Add(ch)
	if err := initialise(ch, s.Init); err != nil {
		s.Logger.Error("connection could not be initialised", "channel", ch, "error", err)
		ch.Close()
		return
	}
	if !ch.IsOpen() {
		return // Init has refused it
	}
	if err := ch.Register().Err(); err != nil && ch.IsOpen() {
		s.Logger.Error("connection could not be registered", "channel", ch, "error", err)
		ch.Close()
	}
}

// initialise calls an Init function. One that panics must not leave the channel behind.
func initialise(ch *channel.Channel, init func(*channel.Channel) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &future.PanicError{Value: v, Stack: debug.Stack()}
			ch.Logger().Error("Init panicked", "channel", ch, "panic", v, "stack", string(debug.Stack()))
		}
	}()
	return init(ch)
}

// refusals counts refused connections and speaks of them at most once a second.
type refusals struct {
	total  atomic.Int64
	logged atomic.Int64 // when, in nanoseconds
}

func (r *refusals) add(s *Server) {
	total := r.total.Add(1)
	now := time.Now().UnixNano()
	last := r.logged.Load()
	if now-last < int64(time.Second) || !r.logged.CompareAndSwap(last, now) {
		return
	}
	s.Logger.Warn("refused a connection: the server has as many as it may", "max", s.MaxConns, "refused", total)
}
