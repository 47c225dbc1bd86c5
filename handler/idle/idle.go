package idle

import (
	"math"
	"time"

	"millrace.dev/channel"
	"millrace.dev/loop"
)

// Kind is what a channel has not done.
type Kind uint8

// The kinds of idleness.
const (
	Reader Kind = iota // nothing was received
	Writer             // nothing was sent
	All                // neither
	kinds
)

// String returns "reader", "writer" or "all".
func (k Kind) String() string {
	switch k {
	case Reader:
		return "reader"
	case Writer:
		return "writer"
	}
	return "all"
}

// Event is the inbound user event that Handler fires. It is a value.
type Event struct {
	Kind Kind
	// First is true for the first event after something was read or written, and false for
	// those that follow while the channel stays idle.
	First bool
}

// boxed are all events as interface values, so that firing one allocates nothing.
var boxed = [kinds][2]any{
	Reader: {Event{Reader, false}, Event{Reader, true}},
	Writer: {Event{Writer, false}, Event{Writer, true}},
	All:    {Event{All, false}, Event{All, true}},
}

// Options says after what time a channel is idle, for each kind; 0 switches one off.
type Options struct {
	Reader time.Duration // nothing received for so long
	Writer time.Duration // nothing sent for so long
	All    time.Duration // neither
}

// Handler fires an Event each time that its channel has been idle for the time of a kind,
// and again after the same time for as long as it stays so. Put it next to the transport.
//
// What is received counts when it passes the handler, what is sent when it is flushed past
// it and, for a slow peer, whenever the transport takes some of it. A message costs storing
// the time; the handler has one timer, which is only set when it fires. An event comes up to
// one tick of the loop's timers late, never early. One handler is for one channel.
type Handler struct {
	limits  [kinds]time.Duration
	told    [kinds]time.Duration // when the kind's last event was fired
	read    time.Duration        // when the last message was read
	flushed time.Duration        // when the last flush was asked for
	ctx     *channel.Context
	timer   loop.Timer
	started bool
}

// longest is what longer times count as: a moment so far from now is still a time.
const longest = math.MaxInt64 / 2

// New returns a handler. Negative times count as 0.
func New(o Options) *Handler {
	h := &Handler{}
	for k, limit := range [kinds]time.Duration{Reader: o.Reader, Writer: o.Writer, All: o.All} {
		h.limits[k] = min(limit, longest)
	}
	return h
}

// Added implements channel.AddedHandler.
func (h *Handler) Added(ctx *channel.Context) {
	if h.ctx != nil && !h.ctx.Removed() {
		panic("idle: handler: is in a pipeline already, and one is for one channel")
	}
	h.ctx = ctx
	h.timer.Init(ctx.Loop(), h)
	if ctx.Channel().IsActive() {
		h.start()
	}
}

// OnActive implements channel.ActiveHandler.
func (h *Handler) OnActive(ctx *channel.Context) {
	h.start()
	ctx.FireActive()
}

// OnInactive implements channel.InactiveHandler.
func (h *Handler) OnInactive(ctx *channel.Context) {
	h.stop()
	ctx.FireInactive()
}

// Removed implements channel.RemovedHandler.
func (h *Handler) Removed(*channel.Context) { h.stop() }

// OnRead implements channel.ReadHandler.
func (h *Handler) OnRead(ctx *channel.Context, msg any) {
	h.read = ctx.Loop().Now()
	ctx.FireRead(msg)
}

// Flush implements channel.FlushHandler.
func (h *Handler) Flush(ctx *channel.Context) {
	h.flushed = ctx.Loop().Now()
	ctx.Flush()
}

func (h *Handler) start() {
	if h.started {
		return
	}
	h.started = true
	now := h.ctx.Loop().Now()
	h.read, h.flushed = now, now
	h.arm(now)
}

func (h *Handler) stop() {
	if h.started {
		h.started = false
		h.timer.Stop()
	}
}

// RunTimer implements loop.TimerTask.
func (h *Handler) RunTimer(*loop.Timer) { h.ctx.Contain(h.check) }

// check fires what is due and waits for what comes next.
func (h *Handler) check() {
	now := h.ctx.Loop().Now()
	for k := range kinds {
		if h.limits[k] <= 0 || h.due(k) > now {
			continue
		}
		first := 0
		if h.told[k] <= h.last(k) {
			first = 1
		}
		h.told[k] = now
		h.ctx.FireEvent(boxed[k][first])
		if !h.started { // the event has closed the channel or removed the handler
			return
		}
	}
	h.arm(now)
}

// last returns when the channel last did what the kind is about.
func (h *Handler) last(k Kind) time.Duration {
	if k == Reader {
		return h.read
	}
	// A peer that takes a large message slowly keeps it moving long after its flush.
	_, took := h.ctx.Channel().OutputBlocked()
	sent := max(h.flushed, took)
	if k == Writer {
		return sent
	}
	return max(h.read, sent)
}

// due returns when the kind's next event is due unless something happens before.
func (h *Handler) due(k Kind) time.Duration { return max(h.last(k), h.told[k]) + h.limits[k] }

// arm sets the timer for the event that may come first.
func (h *Handler) arm(now time.Duration) {
	var next time.Duration
	for k := range kinds {
		if h.limits[k] <= 0 {
			continue
		}
		if due := h.due(k); next == 0 || due < next {
			next = due
		}
	}
	if next > 0 {
		h.timer.Reset(next - now)
	}
}
