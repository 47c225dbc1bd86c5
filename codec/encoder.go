package codec

import (
	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/future"
)

// Encoder turns messages of type M into bytes. It is pure: no I/O, no channel, no clock.
//
// An encoder may also have a method
//
//	EncodedSize(msg M) int
//
// that tells about how many bytes a message will take, so that its buffer need not grow.
type Encoder[M any] interface {
	// Encode writes msg behind what is in out. Both belong to the caller. After an error
	// nothing of the message is sent.
	Encode(msg M, out *buffer.Buffer) error
}

// EncoderHandler is the handler around an Encoder: each message of type M that is written
// leaves as a *buffer.Buffer, and is disposed of. Other messages pass through. An error fails
// the write's future, as *EncodeError; the channel stays open, as nothing was sent.
//
// Handlers for both directions are made by embedding one of each.
type EncoderHandler[M any] struct {
	encoder Encoder[M]
}

// NewEncoderHandler returns a handler around e. If e keeps nothing between messages, one
// handler can serve any number of channels.
func NewEncoderHandler[M any](e Encoder[M]) *EncoderHandler[M] { return &EncoderHandler[M]{e} }

// defaultEncodedSize is the room for a message of unknown size, in bytes.
const defaultEncodedSize = 256

// Write implements channel.WriteHandler.
func (h *EncoderHandler[M]) Write(ctx *channel.Context, msg any) channel.Future {
	m, ok := msg.(M)
	if !ok {
		return ctx.Write(msg)
	}
	size := defaultEncodedSize
	if s, ok := h.encoder.(interface{ EncodedSize(msg M) int }); ok {
		size = s.EncodedSize(m)
	}
	out, err := h.encode(m, ctx.Allocator().Allocate(size))
	channel.Dispose(msg)
	if err != nil {
		return encodeFailed(ctx, err)
	}
	return ctx.Write(out)
}

// encode fills out, and closes it when nothing comes of it.
func (h *EncoderHandler[M]) encode(msg M, out *buffer.Buffer) (*buffer.Buffer, error) {
	done := false
	defer func() {
		if !done { // an error, or a panic on its way to the pipeline
			out.Close()
		}
	}()
	if err := h.encoder.Encode(msg, out); err != nil {
		return nil, err
	}
	done = true
	return out, nil
}

func encodeFailed(ctx *channel.Context, err error) channel.Future {
	return future.Failed[future.Void](ctx.Executor(), &EncodeError{err})
}
