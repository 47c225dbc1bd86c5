package bootstrap

import (
	"sync/atomic"
	"time"

	"millrace.dev/channel"
	"millrace.dev/loop"
)

// acceptor is the last handler of a listener: it turns accepted transports into channels.
type acceptor struct {
	server *Server
}

// OnActive makes the listener known to Shutdown.
func (a *acceptor) OnActive(ctx *channel.Context) {
	s := a.server
	s.mu.Lock()
	closed := s.closed
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

// OnRead accepts a connection or refuses it.
func (a *acceptor) OnRead(ctx *channel.Context, msg any) {
	t, ok := msg.(channel.Transport)
	if !ok {
		ctx.FireRead(msg)
		return
	}
	s := a.server
	if n := s.open.Add(1); s.MaxConns > 0 && n > int64(s.MaxConns) {
		s.connClosed(nil)
		_ = t.Close() // nothing was said on it yet
		s.refused.add(s)
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
	if err := l.Run((*admission)(&pending{s, ch})); err != nil {
		s.connClosed(nil)
		_ = t.Close() // the loop has ended: the server is going down
	}
}

// OnError logs what went wrong with the listener.
func (a *acceptor) OnError(ctx *channel.Context, err error) {
	a.server.Logger.Error("listener failed", "channel", ctx.Channel(), "error", err)
}

// pending is a channel on its way from the acceptor's loop to its own.
type pending struct {
	server *Server
	ch     *channel.Channel
}

type admission pending

// RunTask is for the loop.
func (p *admission) RunTask() { p.server.admit(p.ch) }

// admit initialises and registers a channel, on its loop.
func (s *Server) admit(ch *channel.Channel) {
	s.sets[ch.Loop()].Add(ch)
	if err := s.Init(ch); err != nil {
		s.Logger.Error("connection could not be initialised", "channel", ch, "error", err)
		ch.Close()
		return
	}
	if err := ch.Register().Err(); err != nil {
		s.Logger.Error("connection could not be registered", "channel", ch, "error", err)
	}
}

// refusals counts refused connections and speaks of them at most once a second.
type refusals struct {
	total  atomic.Int64
	logged atomic.Int64 // when, in the loop's time
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

var _ loop.Task = (*admission)(nil)
