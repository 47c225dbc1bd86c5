package bootstrap

import (
	"net"

	"millrace.dev/channel"
	"millrace.dev/future"
	"millrace.dev/loop"
)

// How a server opens its listeners: all of one Bind, or none.

// bind opens a listener on each of the loops. The first one finds out the port, which the
// others then share.
func (s *Server) bind(loops []*loop.Loop, local net.Addr) future.Future[*channel.Channel] {
	first := s.newListener(loops[0], s.Transport.NewListener())
	all := &listeners{first} // for the first one's loop
	bound := future.FlatMap(s.openListener(first, local), func(ch *channel.Channel) future.Future[*channel.Channel] {
		var opening []future.Future[*channel.Channel]
		for _, l := range loops[1:] {
			other := s.newListener(l, s.Transport.NewListener())
			*all = append(*all, other)
			opening = append(opening, s.openListener(other, ch.LocalAddr()))
		}
		opened := future.All(ch.Loop(), opening...)
		return future.Map(opened, func([]*channel.Channel) (*channel.Channel, error) { return ch, nil })
	})
	bound.OnCompleteWith(all, closeListeners)
	return bound
}

// listeners are those of one Bind.
type listeners []*channel.Channel

// closeListeners closes them if one has failed or the Bind was cancelled. Those that are
// still about to open are closed when they have.
func closeListeners(all any, f future.Future[*channel.Channel]) {
	if f.IsFailed() {
		for _, ch := range *all.(*listeners) {
			ch.Close()
		}
	}
}

func (s *Server) newListener(l *loop.Loop, t channel.Transport) *channel.Channel {
	config := channel.NewConfig()
	config.Logger = s.Logger
	return channel.New(l, t, config, nil)
}

// openListener registers a listener and binds it, unless its transport is bound already.
func (s *Server) openListener(ch *channel.Channel, local net.Addr) future.Future[*channel.Channel] {
	o := &opening{server: s, ch: ch, local: local, promise: future.NewPromise[*channel.Channel](ch.Loop())}
	if err := ch.Loop().Run(o); err != nil {
		_ = ch.Transport().Close() // it may be bound already, and nobody else has it
		o.promise.TryFail(err)
	}
	return o.promise.Future()
}

// opening is a listener on its way to its loop.
type opening struct {
	server  *Server
	ch      *channel.Channel
	local   net.Addr
	promise *future.Promise[*channel.Channel]
}

// RunTask is for the loop.
func (o *opening) RunTask() {
	if o.promise.Future().IsDone() { // cancelled
		o.ch.Close()
		return
	}
	if err := initialise(o.ch, o.server.initListener); err != nil {
		o.fail(err)
		return
	}
	o.ch.Register().OnComplete(func(f channel.Future) {
		if err := f.Err(); err != nil {
			o.fail(err)
			return
		}
		if !o.ch.IsActive() {
			o.ch.Bind(o.local).OnComplete(o.done)
			return
		}
		o.done(f)
	})
}

func (o *opening) done(f channel.Future) {
	switch err := f.Err(); {
	case err != nil:
		o.fail(err)
	case !o.ch.IsOpen(): // the server was shut down meanwhile
		o.fail(ErrServerClosed)
	case !o.promise.TrySucceed(o.ch):
		o.ch.Close() // cancelled
	}
}

func (o *opening) fail(err error) {
	o.ch.Close()
	o.promise.TryFail(err)
}

func (s *Server) initListener(ch *channel.Channel) error {
	if s.InitListener != nil {
		if err := s.InitListener(ch); err != nil {
			return err
		}
	}
	return ch.Pipeline().AddLast("acceptor", &acceptor{server: s})
}
