package bootstrap

import (
	"context"
	"errors"
	"time"

	"millrace.dev/channel"
	"millrace.dev/future"
	"millrace.dev/loop"
)

// How a server ends: no new connections, a chance for the old ones to finish, and then the
// rest is closed.

// connClosed counts a connection that has gone.
func (s *Server) connClosed(*channel.Channel) {
	if s.open.Add(-1) > 0 {
		return
	}
	s.mu.Lock()
	drained := s.drained
	s.mu.Unlock()
	if drained != nil {
		drained.TrySucceed(future.Void{})
	}
}

// Shutdown stops accepting, fires Drain into every connection, and waits until they have
// closed. When ctx is done first, the rest are closed, and its error is returned. It is not
// for loops. A second call waits as well.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closed.Store(true)
	listeners := append([]*channel.Channel(nil), s.listeners...)
	started := s.started
	s.mu.Unlock()
	if !started {
		return nil
	}
	for _, ch := range listeners {
		ch.Close()
	}
	for _, ch := range listeners {
		if _, err := ch.CloseFuture().Wait(ctx); err != nil {
			break // no more time: the connections are closed below
		}
	}
	err := s.drain(ctx)
	if err != nil {
		s.closeAll()
	}
	if s.ownGroup {
		_, _ = s.Group.Shutdown(0, time.Second).Wait(context.Background()) // it keeps to its own timeout
	}
	return err
}

// drain waits until the last connection has closed, or ctx is done.
func (s *Server) drain(ctx context.Context) error {
	// Made only now that none can come any more: what reaches 0 stays there.
	s.mu.Lock()
	if s.drained == nil {
		s.drained = future.NewPromise[future.Void](nil)
	}
	drained := s.drained
	s.mu.Unlock()
	if err := s.EachConnection(ctx, func(ch *channel.Channel) { ch.FireEvent(Drain{}) }); err != nil {
		return err
	}
	if s.open.Load() == 0 {
		drained.TrySucceed(future.Void{})
	}
	_, err := drained.Future().Wait(ctx)
	return err
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

// EachConnection calls f on the loop of each open connection, and returns when all have
// been called or ctx is done. It is not for loops; a handler that writes to many channels
// keeps them in a Group of package channel/group.
func (s *Server) EachConnection(ctx context.Context, f func(ch *channel.Channel)) error {
	s.mu.Lock()
	sets := s.sets
	s.mu.Unlock()
	var visits []*visit
	for l, set := range sets {
		v := &visit{set: set, f: f, done: future.NewPromise[future.Void](l)}
		if err := l.Run(v); err != nil {
			continue // the loop has ended, with its connections
		}
		visits = append(visits, v)
	}
	for _, v := range visits {
		if _, err := v.done.Future().Wait(ctx); err != nil && !errors.Is(err, loop.ErrShutdown) {
			return err
		}
	}
	return nil
}

// visit is a call for each connection of one loop.
type visit struct {
	set  *channel.Set
	f    func(ch *channel.Channel)
	done *future.Promise[future.Void]
}

// RunTask is for the loop.
func (v *visit) RunTask() {
	defer v.done.TrySucceed(future.Void{}) // also when f panics, which the loop reports
	v.set.Each(v.f)
}
