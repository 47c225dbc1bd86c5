package conformance

import (
	"bytes"
	"fmt"
	"net"
	"sync"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

// probe is a handler that takes every event and operation, notes it, does what the test
// wants to be done there, and passes it on. It keeps the bytes that it reads.
type probe struct {
	t       fataler
	on      map[string]func(ctx *channel.Context) // by the name of the handler method
	echo    bool
	discard bool                   // count the bytes, don't keep them
	takeErr bool                   // OnError ends here
	read    func(b *buffer.Buffer) // sees the bytes instead

	mu      sync.Mutex
	changed chan struct{} // closed at the next change
	ch      *channel.Channel
	events  []string
	errs    []error
	data    bytes.Buffer
	count   int64
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

func newProbe(t fataler) *probe {
	return &probe{t: t, on: map[string]func(*channel.Context){}, changed: make(chan struct{})}
}

// note records an event and runs its hook.
func (p *probe) note(ctx *channel.Context, name, detail string) {
	p.mu.Lock()
	p.ch = ctx.Channel()
	if detail != "" {
		p.events = append(p.events, name+" "+detail)
	} else {
		p.events = append(p.events, name)
	}
	p.signal()
	p.mu.Unlock()
	if hook := p.on[name]; hook != nil {
		hook(ctx)
	}
}

func (p *probe) signal() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// seen returns how often the event came. A name with a space asks for that detail, too.
func (p *probe) seen(event string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, e := range p.events {
		if e == event || len(e) > len(event) && e[:len(event)] == event && e[len(event)] == ' ' {
			n++
		}
	}
	return n
}

func (p *probe) list() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.events...)
}

// summary is list without repetitions, for messages.
func (p *probe) summary() []string {
	var short []string
	for _, e := range p.list() {
		switch e {
		case "OnRead", "OnReadComplete", "Read", "Write", "Flush":
			if len(short) > 0 && short[len(short)-1] == "…" {
				continue
			}
			e = "…"
		}
		short = append(short, e)
	}
	return short
}

func (p *probe) errors() []error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]error(nil), p.errs...)
}

func (p *probe) bytes() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Clone(p.data.Bytes())
}

func (p *probe) received() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

// channel returns the channel once an event has come.
func (p *probe) channel() *channel.Channel {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ch
}

// await waits until cond, which asks the probe, is true.
func (p *probe) await(what string, cond func() bool) {
	p.t.Helper()
	deadline := newDeadline()
	for {
		p.mu.Lock()
		changed := p.changed
		p.mu.Unlock()
		if cond() {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			p.t.Fatalf("waited in vain for %s; events: %q, errors: %v, %d bytes", what, p.summary(), p.errors(), p.received())
		}
	}
}

// awaitEvent waits for the first event of that name.
func (p *probe) awaitEvent(event string) { p.t.Helper(); p.awaitEvents(event, 1) }

func (p *probe) awaitEvents(event string, n int) {
	p.t.Helper()
	p.await(fmt.Sprintf("%d × %s", n, event), func() bool { return p.seen(event) >= n })
}

func (p *probe) awaitBytes(n int64) {
	p.t.Helper()
	p.await(fmt.Sprintf("%d bytes", n), func() bool { return p.received() >= n })
}

// awaitEnd waits until the handler was removed, after which nothing may come.
func (p *probe) awaitEnd() { p.t.Helper(); p.awaitEvent("Removed") }

func (p *probe) Added(ctx *channel.Context) { p.note(ctx, "Added", "") }

func (p *probe) Removed(ctx *channel.Context) { p.note(ctx, "Removed", "") }

func (p *probe) OnRegistered(ctx *channel.Context) {
	p.note(ctx, "OnRegistered", "")
	ctx.FireRegistered()
}

func (p *probe) OnActive(ctx *channel.Context) {
	p.note(ctx, "OnActive", "")
	ctx.FireActive()
}

func (p *probe) OnRead(ctx *channel.Context, msg any) {
	b := msg.(*buffer.Buffer)
	p.mu.Lock()
	p.count += int64(b.Len())
	if !p.discard && p.read == nil {
		p.data.Write(b.Bytes())
	}
	p.mu.Unlock()
	if p.read != nil {
		p.read(b)
	}
	if p.echo {
		ctx.Write(b)
	} else {
		b.Close()
	}
	p.note(ctx, "OnRead", "")
}

func (p *probe) OnReadComplete(ctx *channel.Context) {
	if p.echo {
		ctx.Flush()
	}
	p.note(ctx, "OnReadComplete", "")
	ctx.FireReadComplete()
}

func (p *probe) OnEvent(ctx *channel.Context, event any) {
	p.note(ctx, "OnEvent", fmt.Sprint(event))
	ctx.FireEvent(event)
}

func (p *probe) OnWritability(ctx *channel.Context, writable bool) {
	p.note(ctx, "OnWritability", fmt.Sprint(writable))
	ctx.FireWritability(writable)
}

func (p *probe) OnShutdown(ctx *channel.Context, d channel.Direction) {
	p.note(ctx, "OnShutdown", d.String())
	ctx.FireShutdown(d)
}

func (p *probe) OnInactive(ctx *channel.Context) {
	p.note(ctx, "OnInactive", "")
	ctx.FireInactive()
}

func (p *probe) OnUnregistered(ctx *channel.Context) {
	p.note(ctx, "OnUnregistered", "")
	ctx.FireUnregistered()
}

func (p *probe) OnError(ctx *channel.Context, err error) {
	p.mu.Lock()
	p.errs = append(p.errs, err)
	p.mu.Unlock()
	p.note(ctx, "OnError", "")
	if !p.takeErr {
		ctx.FireError(err)
	}
}

func (p *probe) Bind(ctx *channel.Context, local net.Addr) channel.Future {
	p.note(ctx, "Bind", "")
	return ctx.Bind(local)
}

func (p *probe) Connect(ctx *channel.Context, remote, local net.Addr) channel.Future {
	p.note(ctx, "Connect", "")
	return ctx.Connect(remote, local)
}

func (p *probe) Disconnect(ctx *channel.Context) channel.Future {
	p.note(ctx, "Disconnect", "")
	return ctx.Disconnect()
}

func (p *probe) Close(ctx *channel.Context) channel.Future {
	p.note(ctx, "Close", "")
	return ctx.Close()
}

func (p *probe) Shutdown(ctx *channel.Context, d channel.Direction) channel.Future {
	p.note(ctx, "Shutdown", d.String())
	return ctx.Shutdown(d)
}

func (p *probe) Register(ctx *channel.Context) channel.Future {
	p.note(ctx, "Register", "")
	return ctx.Register()
}

func (p *probe) Deregister(ctx *channel.Context) channel.Future {
	p.note(ctx, "Deregister", "")
	return ctx.Deregister()
}

func (p *probe) Read(ctx *channel.Context) {
	p.note(ctx, "Read", "")
	ctx.Read()
}

func (p *probe) Write(ctx *channel.Context, msg any) channel.Future {
	f := ctx.Write(msg)
	p.note(ctx, "Write", "")
	return f
}

func (p *probe) Flush(ctx *channel.Context) {
	ctx.Flush()
	p.note(ctx, "Flush", "")
}

func (p *probe) SendEvent(ctx *channel.Context, event any) channel.Future {
	p.note(ctx, "SendEvent", fmt.Sprint(event))
	return ctx.SendEvent(event)
}
