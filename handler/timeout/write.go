package timeout

import (
	"time"

	"millrace.dev/channel"
	"millrace.dev/loop"
)

// Write fires ErrWrite and closes the channel when messages wait to be sent and the
// transport has taken nothing for some time. What counts is that it takes something, not
// that a message is done: a large answer to a slow peer may take as long as it likes while it
// moves.
//
// A flush costs looking whether the timer is set; the timer is set once while the channel
// is in use. One handler is for one channel.
type Write struct {
	limit time.Duration
	ctx   *channel.Context
	timer loop.Timer
}

// NewWrite returns a handler that allows d without progress. It panics if d is not positive.
func NewWrite(d time.Duration) *Write {
	mustBePositive(d)
	return &Write{limit: d}
}

// Added implements channel.AddedHandler.
func (w *Write) Added(ctx *channel.Context) {
	mustBeFree(w.ctx)
	w.ctx = ctx
	w.timer.Init(ctx.Loop(), w)
	if ctx.Channel().IsActive() {
		w.watch()
	}
}

// Removed implements channel.RemovedHandler.
func (w *Write) Removed(*channel.Context) { w.timer.Stop() }

// OnInactive implements channel.InactiveHandler.
func (w *Write) OnInactive(ctx *channel.Context) {
	w.timer.Stop()
	ctx.FireInactive()
}

// OnActive implements channel.ActiveHandler: what was flushed before is sent now.
func (w *Write) OnActive(ctx *channel.Context) {
	w.watch()
	ctx.FireActive()
}

// Flush implements channel.FlushHandler.
func (w *Write) Flush(ctx *channel.Context) {
	w.watch()
	ctx.Flush()
}

// watch looks at the output after the limit. What begins to wait until then is found
// waiting, and for how long.
func (w *Write) watch() {
	if !w.timer.Active() && w.ctx.Channel().IsActive() {
		w.timer.Reset(w.limit)
	}
}

// RunTimer implements loop.TimerTask.
func (w *Write) RunTimer(*loop.Timer) {
	blocked, since := w.ctx.Channel().OutputBlocked()
	if !blocked {
		return // the next flush sets the timer
	}
	if left := since + w.limit - w.ctx.Loop().Now(); left > 0 {
		w.timer.Reset(left)
		return
	}
	w.ctx.Contain(func() { w.ctx.FireError(ErrWrite) })
	w.ctx.Close()
}
