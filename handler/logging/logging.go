package logging

import (
	"context"
	"log/slog"
	"net"

	"millrace.dev/buffer"
	"millrace.dev/buffer/hex"
	"millrace.dev/channel"
)

// Options configures a Handler. The zero value logs at debug level.
type Options struct {
	// Logger takes the records. nil: the channel's own logger.
	Logger *slog.Logger
	// Level is the level of the records. nil: slog.LevelDebug.
	Level slog.Leveler
	// Dump is how many bytes of each buffer are logged, in hexadecimal and as text. 0: none.
	// What users send then stands in the log.
	Dump int
}

// Handler logs every event and operation that passes it, and passes it on. It keeps nothing,
// so one can serve any number of channels. While its level is switched off it costs one look
// at the level for each event.
type Handler struct {
	logger *slog.Logger
	level  slog.Leveler
	dump   int
}

// New returns a handler.
func New(o Options) *Handler {
	if o.Level == nil {
		o.Level = slog.LevelDebug
	}
	return &Handler{o.Logger, o.Level, max(o.Dump, 0)}
}

// log writes a record, unless the level is off.
func (h *Handler) log(ctx *channel.Context, event string, attrs ...slog.Attr) {
	if !h.enabled(ctx) {
		return
	}
	attrs = append(attrs, slog.Any("channel", ctx.Channel()))
	h.loggerOf(ctx).LogAttrs(context.Background(), h.level.Level(), event, attrs...)
}

// enabled keeps what describing a message costs from where nobody reads it.
func (h *Handler) enabled(ctx *channel.Context) bool {
	return h.loggerOf(ctx).Enabled(context.Background(), h.level.Level())
}

func (h *Handler) loggerOf(ctx *channel.Context) *slog.Logger {
	if h.logger != nil {
		return h.logger
	}
	return ctx.Channel().Logger()
}

// logMessage logs an event that carries a message, described for as long as that is alive.
func (h *Handler) logMessage(ctx *channel.Context, event string, msg any) {
	if h.enabled(ctx) {
		h.log(ctx, event, describe(msg, h.dump)...)
	}
}

// describe tells what a message is without changing it.
func describe(msg any, dump int) []slog.Attr {
	switch m := msg.(type) {
	case *buffer.Buffer:
		attrs := []slog.Attr{slog.Int("bytes", m.Len())}
		if dump > 0 && m.Len() > 0 {
			attrs = append(attrs, slog.String("dump", string(hex.AppendLine(nil, m, dump))))
		}
		return attrs
	case *channel.FileRegion:
		return []slog.Attr{slog.String("type", "file region"), slog.Int64("bytes", m.Count)}
	case slog.LogValuer:
		return []slog.Attr{typeOf(msg), slog.Any("message", m)}
	}
	return []slog.Attr{typeOf(msg)}
}

// OnRegistered implements channel.RegisteredHandler.
func (h *Handler) OnRegistered(ctx *channel.Context) {
	h.log(ctx, "registered")
	ctx.FireRegistered()
}

// OnActive implements channel.ActiveHandler.
func (h *Handler) OnActive(ctx *channel.Context) {
	h.log(ctx, "active")
	ctx.FireActive()
}

// OnRead implements channel.ReadHandler.
func (h *Handler) OnRead(ctx *channel.Context, msg any) {
	h.logMessage(ctx, "received", msg)
	ctx.FireRead(msg)
}

// OnReadComplete implements channel.ReadCompleteHandler.
func (h *Handler) OnReadComplete(ctx *channel.Context) {
	h.log(ctx, "read complete")
	ctx.FireReadComplete()
}

// OnEvent implements channel.EventHandler.
func (h *Handler) OnEvent(ctx *channel.Context, event any) {
	if h.enabled(ctx) {
		h.log(ctx, "event", typeOf(event), slog.Any("event", event))
	}
	ctx.FireEvent(event)
}

// OnWritability implements channel.WritabilityHandler.
func (h *Handler) OnWritability(ctx *channel.Context, writable bool) {
	if h.enabled(ctx) {
		h.log(ctx, "writability", slog.Bool("writable", writable), slog.Int64("pending", ctx.Channel().PendingBytes()))
	}
	ctx.FireWritability(writable)
}

// OnShutdown implements channel.ShutdownHandler.
func (h *Handler) OnShutdown(ctx *channel.Context, d channel.Direction) {
	if h.enabled(ctx) {
		h.log(ctx, "direction ended", slog.String("direction", d.String()))
	}
	ctx.FireShutdown(d)
}

// OnInactive implements channel.InactiveHandler.
func (h *Handler) OnInactive(ctx *channel.Context) {
	h.log(ctx, "inactive")
	ctx.FireInactive()
}

// OnUnregistered implements channel.UnregisteredHandler.
func (h *Handler) OnUnregistered(ctx *channel.Context) {
	h.log(ctx, "unregistered")
	ctx.FireUnregistered()
}

// OnError implements channel.ErrorHandler.
func (h *Handler) OnError(ctx *channel.Context, err error) {
	if h.enabled(ctx) {
		h.log(ctx, "error", slog.Any("error", err))
	}
	ctx.FireError(err)
}

// Added implements channel.AddedHandler.
func (h *Handler) Added(ctx *channel.Context) { h.log(ctx, "handler added") }

// Removed implements channel.RemovedHandler.
func (h *Handler) Removed(ctx *channel.Context) { h.log(ctx, "handler removed") }

// Bind implements channel.BindHandler.
func (h *Handler) Bind(ctx *channel.Context, local net.Addr) channel.Future {
	if h.enabled(ctx) {
		h.log(ctx, "bind", address("local", local))
	}
	return ctx.Bind(local)
}

// Connect implements channel.ConnectHandler.
func (h *Handler) Connect(ctx *channel.Context, remote, local net.Addr) channel.Future {
	if h.enabled(ctx) {
		h.log(ctx, "connect", address("remote", remote), address("local", local))
	}
	return ctx.Connect(remote, local)
}

// Disconnect implements channel.DisconnectHandler.
func (h *Handler) Disconnect(ctx *channel.Context) channel.Future {
	h.log(ctx, "disconnect")
	return ctx.Disconnect()
}

// Close implements channel.CloseHandler.
func (h *Handler) Close(ctx *channel.Context) channel.Future {
	h.log(ctx, "close")
	return ctx.Close()
}

// Shutdown implements channel.OutboundShutdownHandler.
func (h *Handler) Shutdown(ctx *channel.Context, d channel.Direction) channel.Future {
	if h.enabled(ctx) {
		h.log(ctx, "shutdown", slog.String("direction", d.String()))
	}
	return ctx.Shutdown(d)
}

// Register implements channel.RegisterHandler.
func (h *Handler) Register(ctx *channel.Context) channel.Future {
	h.log(ctx, "register")
	return ctx.Register()
}

// Deregister implements channel.DeregisterHandler.
func (h *Handler) Deregister(ctx *channel.Context) channel.Future {
	h.log(ctx, "deregister")
	return ctx.Deregister()
}

// Read implements channel.OutboundReadHandler.
func (h *Handler) Read(ctx *channel.Context) {
	h.log(ctx, "read")
	ctx.Read()
}

// Write implements channel.WriteHandler.
func (h *Handler) Write(ctx *channel.Context, msg any) channel.Future {
	h.logMessage(ctx, "write", msg)
	return ctx.Write(msg)
}

// Flush implements channel.FlushHandler.
func (h *Handler) Flush(ctx *channel.Context) {
	h.log(ctx, "flush")
	ctx.Flush()
}

// SendEvent implements channel.SendEventHandler.
func (h *Handler) SendEvent(ctx *channel.Context, event any) channel.Future {
	if h.enabled(ctx) {
		h.log(ctx, "send event", typeOf(event), slog.Any("event", event))
	}
	return ctx.SendEvent(event)
}
