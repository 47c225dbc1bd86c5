package codec

import (
	"millrace.dev/channel"
)

// MessageDecoder turns each message of type M into any number of others: none, when it waits
// for more. It is pure.
//
// It may also have a method Close, which is called when its handler is removed and lets go of
// what it holds, and a method Added(ctx *channel.Context).
type MessageDecoder[M any] interface {
	// DecodeMessage takes msg over, and puts what it makes of it into out.
	DecodeMessage(msg M, out *OutputList) error
}

// MessageDecoderHandler is the handler around a MessageDecoder. Messages of other types pass
// through. An error is fired as *DecodeError; a decoder whose error is not Resumable is not
// asked again, and later messages of type M are disposed of. Like a DecoderHandler it panics when
// it is added again.
type MessageDecoderHandler[M any] struct {
	// KeepOpen leaves the channel open after an error. By default it is closed, once the
	// handlers have been told.
	KeepOpen bool

	decoder MessageDecoder[M]
	added   bool
	made    bool // a message was passed on since the last OnReadComplete
	stopped bool
}

// NewMessageDecoderHandler returns a handler around d, for one channel.
func NewMessageDecoderHandler[M any](d MessageDecoder[M]) *MessageDecoderHandler[M] {
	return &MessageDecoderHandler[M]{decoder: d}
}

// Added implements channel.AddedHandler.
func (h *MessageDecoderHandler[M]) Added(ctx *channel.Context) {
	addedOnce(&h.added)
	if d, ok := h.decoder.(channel.AddedHandler); ok {
		d.Added(ctx)
	}
}

// OnRead implements channel.ReadHandler.
func (h *MessageDecoderHandler[M]) OnRead(ctx *channel.Context, msg any) {
	m, ok := msg.(M)
	switch {
	case !ok:
		h.made = true
		ctx.FireRead(msg)
		return
	case h.stopped:
		channel.Dispose(msg)
		return
	}
	out := newOutput(ctx)
	defer out.Recycle()
	err := h.decoder.DecodeMessage(m, out)
	for out.Len() > 0 {
		h.made = true
		ctx.Deliver(out.Take())
	}
	if err != nil {
		h.failed(ctx, err)
	}
}

func (h *MessageDecoderHandler[M]) failed(ctx *channel.Context, err error) {
	resumed := h.KeepOpen && isResumable(err)
	h.stopped = !resumed
	ctx.Contain(func() { ctx.FireError(&DecodeError{Err: err, Resumed: resumed}) })
	if !h.KeepOpen {
		ctx.Channel().Close()
	}
}

// OnReadComplete implements channel.ReadCompleteHandler. When a batch has made no message
// and the channel reads on demand, it asks for another: somebody waits for one.
func (h *MessageDecoderHandler[M]) OnReadComplete(ctx *channel.Context) {
	made := h.made
	h.made = false
	if !made && !h.stopped && !ctx.Channel().AutoRead() {
		ctx.Read()
	}
	ctx.FireReadComplete()
}

// Removed implements channel.RemovedHandler.
func (h *MessageDecoderHandler[M]) Removed(*channel.Context) {
	h.stopped = true
	if d, ok := h.decoder.(interface{ Close() }); ok {
		d.Close()
	}
}

// MessageEncoder turns each message of type M that is written into any number of others. It
// is pure.
type MessageEncoder[M any] interface {
	// EncodeMessage takes msg over, and puts what it makes of it into out. A message of
	// which it makes nothing counts as sent.
	EncodeMessage(msg M, out *OutputList) error
}

// MessageEncoderHandler is the handler around a MessageEncoder. Messages of other types pass
// through. An error fails the write's future, as *EncodeError, and nothing of the message
// is written.
type MessageEncoderHandler[M any] struct {
	encoder MessageEncoder[M]
}

// NewMessageEncoderHandler returns a handler around e. If e keeps nothing between messages,
// one handler can serve any number of channels.
func NewMessageEncoderHandler[M any](e MessageEncoder[M]) *MessageEncoderHandler[M] {
	return &MessageEncoderHandler[M]{e}
}

// Write implements channel.WriteHandler. Its future is that of the last message, which is
// sent when all are, or of the first that has failed at once.
func (h *MessageEncoderHandler[M]) Write(ctx *channel.Context, msg any) channel.Future {
	m, ok := msg.(M)
	if !ok {
		return ctx.Write(msg)
	}
	out := newOutput(ctx)
	defer out.Recycle()
	if err := h.encoder.EncodeMessage(m, out); err != nil {
		return encodeFailed(ctx, err)
	}
	var last channel.Future
	for out.Len() > 0 {
		f := ctx.Write(out.Take())
		if f.IsFailed() {
			return f
		}
		last = f
	}
	return last
}
