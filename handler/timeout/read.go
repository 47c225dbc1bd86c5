package timeout

import (
	"time"

	"millrace.dev/channel"
	"millrace.dev/loop"
)

// Read fires ErrRead and closes the channel when nothing was received for some time. Only
// the time counts during which the channel waits for input: while reading is stopped, since
// this side is busy, the peer can't be late. Put it next to the transport.
//
// A message costs storing the time; the timer is only set when it fires. One handler is for
// one channel.
type Read struct {
	limit time.Duration
	since time.Duration // when it began to wait for what comes next
	ctx   *channel.Context
	timer loop.Timer
}

// NewRead returns a handler that allows d between two messages. It panics if d is not
// positive.
func NewRead(d time.Duration) *Read {
	mustBePositive(d)
	return &Read{limit: d}
}

func mustBePositive(d time.Duration) {
	if d <= 0 {
		panic("timeout: d: must be positive")
	}
}

// mustBeFree panics when a handler that has ctx already is added to another pipeline.
func mustBeFree(ctx *channel.Context) {
	if ctx != nil && !ctx.Removed() {
		panic("timeout: handler: is in a pipeline already, and one is for one channel")
	}
}

// Added implements channel.AddedHandler.
func (r *Read) Added(ctx *channel.Context) {
	mustBeFree(r.ctx)
	r.ctx = ctx
	r.timer.Init(ctx.Loop(), r)
	if ctx.Channel().IsActive() && ctx.Channel().Reading() {
		r.wait()
	}
}

// Removed implements channel.RemovedHandler.
func (r *Read) Removed(*channel.Context) { r.timer.Stop() }

// OnInactive implements channel.InactiveHandler.
func (r *Read) OnInactive(ctx *channel.Context) {
	r.timer.Stop()
	ctx.FireInactive()
}

// OnActive implements channel.ActiveHandler: a Read from before the connection waits from
// now on.
func (r *Read) OnActive(ctx *channel.Context) {
	if r.timer.Active() || ctx.Channel().Reading() {
		r.wait()
	}
	ctx.FireActive()
}

// OnRead implements channel.ReadHandler.
func (r *Read) OnRead(ctx *channel.Context, msg any) {
	r.since = ctx.Loop().Now()
	ctx.FireRead(msg)
}

// Read implements channel.OutboundReadHandler: it passes for each batch that is waited for.
func (r *Read) Read(ctx *channel.Context) {
	if ctx.Channel().IsActive() {
		r.wait()
	}
	ctx.Read()
}

// wait counts from now on.
func (r *Read) wait() {
	r.since = r.ctx.Loop().Now()
	if !r.timer.Active() {
		r.timer.Reset(r.limit)
	}
}

// RunTimer implements loop.TimerTask.
func (r *Read) RunTimer(*loop.Timer) {
	ch := r.ctx.Channel()
	if !ch.Reading() {
		return // the next Read sets the timer
	}
	if left := r.since + r.limit - r.ctx.Loop().Now(); left > 0 {
		r.timer.Reset(left)
		return
	}
	r.ctx.Contain(func() { r.ctx.FireError(ErrRead) })
	r.ctx.Close()
}
