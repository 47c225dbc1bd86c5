package tls

import (
	"millrace.dev/channel"
	"millrace.dev/future"
)

// Close implements channel.CloseHandler: it says that nothing more will come, if that is true.
func (h *Handler) Close(ctx *channel.Context) channel.Future {
	if len(h.queue) == 0 {
		h.sayClosed()
	}
	return ctx.Close()
}

// sayClosed sends a close_notify alert behind what was written. (What was not flushed would
// be lost without harm too, but its future may be that of the write which the alert is.)
func (h *Handler) sayClosed() {
	if !h.is(isOpen) || h.is(isShut) {
		return
	}
	h.flags |= isShut
	n, err := h.seal()
	if err == nil {
		err = h.conn.CloseWrite()
	}
	h.post(n, err)
	h.ctx.Flush()
}

// Shutdown implements channel.OutboundShutdownHandler: the end of the output is said by a
// close_notify alert behind what was written.
func (h *Handler) Shutdown(ctx *channel.Context, d channel.Direction) channel.Future {
	if d != channel.Outbound || h.is(isOver) || !ctx.Channel().IsActive() {
		return ctx.Shutdown(d)
	}
	if hs := h.hs; hs != nil {
		if hs.shutdown == nil {
			hs.shutdown = future.NewPromise[future.Void](ctx.Loop())
			hs.shutdown.SetUncancellable()
		}
		return hs.shutdown.Future()
	}
	if n := len(h.queue); n > 0 {
		last := h.queue[n-1].done.Future()
		return future.FlatMap(last, func(future.Void) channel.Future { return h.Shutdown(ctx, d) })
	}
	h.sayClosed()
	return ctx.Shutdown(d)
}
