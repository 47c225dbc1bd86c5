package channel_test

import (
	"fmt"
	"net"
	"strings"

	"millrace.dev/channel"
)

// journal is what happened, in order.
type journal struct{ lines []string }

func (j *journal) add(format string, args ...any) {
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

// take returns what was added since the last time.
func (j *journal) take() string {
	s := strings.Join(j.lines, " ")
	j.lines = nil
	return s
}

// spy takes every event, notes it, and passes it on.
type spy struct {
	name string
	*journal
}

func (s *spy) OnRegistered(ctx *channel.Context) {
	s.add("%s.registered", s.name)
	ctx.FireRegistered()
}
func (s *spy) OnActive(ctx *channel.Context) { s.add("%s.active", s.name); ctx.FireActive() }
func (s *spy) OnRead(ctx *channel.Context, msg any) {
	s.add("%s.read(%v)", s.name, msg)
	ctx.FireRead(msg)
}
func (s *spy) OnReadComplete(ctx *channel.Context) {
	s.add("%s.complete", s.name)
	ctx.FireReadComplete()
}
func (s *spy) OnEvent(ctx *channel.Context, event any) {
	s.add("%s.event(%v)", s.name, event)
	ctx.FireEvent(event)
}
func (s *spy) OnWritability(ctx *channel.Context, writable bool) {
	s.add("%s.writable(%v)", s.name, writable)
	ctx.FireWritability(writable)
}
func (s *spy) OnShutdown(ctx *channel.Context, d channel.Direction) {
	s.add("%s.shutdown(%v)", s.name, d)
	ctx.FireShutdown(d)
}
func (s *spy) OnInactive(ctx *channel.Context) { s.add("%s.inactive", s.name); ctx.FireInactive() }
func (s *spy) OnUnregistered(ctx *channel.Context) {
	s.add("%s.unregistered", s.name)
	ctx.FireUnregistered()
}
func (s *spy) OnError(ctx *channel.Context, err error) {
	s.add("%s.error(%v)", s.name, err)
	ctx.FireError(err)
}
func (s *spy) Bind(ctx *channel.Context, local net.Addr) channel.Future {
	s.add("%s.Bind", s.name)
	return ctx.Bind(local)
}
func (s *spy) Connect(ctx *channel.Context, remote, local net.Addr) channel.Future {
	s.add("%s.Connect", s.name)
	return ctx.Connect(remote, local)
}
func (s *spy) Disconnect(ctx *channel.Context) channel.Future {
	s.add("%s.Disconnect", s.name)
	return ctx.Disconnect()
}
func (s *spy) Close(ctx *channel.Context) channel.Future {
	s.add("%s.Close", s.name)
	return ctx.Close()
}
func (s *spy) Shutdown(ctx *channel.Context, d channel.Direction) channel.Future {
	s.add("%s.Shutdown(%v)", s.name, d)
	return ctx.Shutdown(d)
}
func (s *spy) Register(ctx *channel.Context) channel.Future {
	s.add("%s.Register", s.name)
	return ctx.Register()
}
func (s *spy) Deregister(ctx *channel.Context) channel.Future {
	s.add("%s.Deregister", s.name)
	return ctx.Deregister()
}
func (s *spy) Read(ctx *channel.Context) { s.add("%s.Read", s.name); ctx.Read() }
func (s *spy) Write(ctx *channel.Context, msg any) channel.Future {
	s.add("%s.Write(%v)", s.name, msg)
	return ctx.Write(msg)
}
func (s *spy) Flush(ctx *channel.Context) { s.add("%s.Flush", s.name); ctx.Flush() }
func (s *spy) SendEvent(ctx *channel.Context, event any) channel.Future {
	s.add("%s.SendEvent(%v)", s.name, event)
	return ctx.SendEvent(event)
}
func (s *spy) Added(*channel.Context)   { s.add("%s.added", s.name) }
func (s *spy) Removed(*channel.Context) { s.add("%s.removed", s.name) }

// reader does what it is told with each message.
type reader func(ctx *channel.Context, msg any)

func (f reader) OnRead(ctx *channel.Context, msg any) { f(ctx, msg) }

// completer does what it is told at the end of a batch.
type completer func(ctx *channel.Context)

func (f completer) OnReadComplete(ctx *channel.Context) { f(ctx) }

// writer does what it is told with each write.
type writer func(ctx *channel.Context, msg any) channel.Future

func (f writer) Write(ctx *channel.Context, msg any) channel.Future { return f(ctx, msg) }

// flusher does what it is told at each flush.
type flusher func(ctx *channel.Context)

func (f flusher) Flush(ctx *channel.Context) { f(ctx) }

// catcher takes errors.
type catcher func(ctx *channel.Context, err error)

func (f catcher) OnError(ctx *channel.Context, err error) { f(ctx, err) }

// eventer takes user events.
type eventer func(ctx *channel.Context, event any)

func (f eventer) OnEvent(ctx *channel.Context, event any) { f(ctx, event) }

// adder does what it is told when it is added.
type adder func(ctx *channel.Context)

func (f adder) Added(ctx *channel.Context) { f(ctx) }

// remover does what it is told when it is removed.
type remover func(ctx *channel.Context)

func (f remover) Removed(ctx *channel.Context) { f(ctx) }

// tracked is a message that counts how often it was closed.
type tracked struct{ closes int }

func (m *tracked) Close()         { m.closes++ }
func (m *tracked) IsClosed() bool { return m.closes > 0 }
func (m *tracked) String() string { return "tracked" }

// quiet is a configuration whose tail keeps what reaches it.
type tail struct {
	msgs   []any
	errors []error
}

func (t *tail) config() *channel.Config {
	c := channel.NewConfig()
	c.UnhandledMessage = func(_ *channel.Channel, msg any) { t.msgs = append(t.msgs, msg) }
	c.UnhandledError = func(_ *channel.Channel, err error) { t.errors = append(t.errors, err) }
	return c
}
