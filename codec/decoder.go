package codec

import (
	"io"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

// Decoder turns bytes into messages. It is pure: no I/O, no channel, no clock.
//
// A decoder may have these methods besides, which its handler then calls:
//
//	DecodeLast(in *buffer.Buffer, out *OutputList) error // see LastDecoder
//	Close()                                              // when the handler is removed: lets go of what it holds
//	Added(ctx *channel.Context)                          // when the handler is added
type Decoder interface {
	// Decode takes whole messages off the front of in and puts them into out. What it does
	// not take stays in in, and is there again at the next call, with more behind it. It is
	// called again for as long as it takes bytes or gives messages, so one message a call
	// is enough; taking and giving nothing means that it needs more.
	//
	// in belongs to the caller: the decoder gets its bytes by Split, or copies them. Any
	// number of bytes may come at a time, and they need not be contiguous.
	//
	// After an error that is Resumable it goes on; after any other it isn't called again.
	Decode(in *buffer.Buffer, out *OutputList) error
}

// LastDecoder is a Decoder that has something to say at the end of the input.
type LastDecoder interface {
	Decoder
	// DecodeLast is called once, when Decode has taken what it could and nothing will
	// follow. in has what is left, and may be empty. Bytes that it leaves are an
	// io.ErrUnexpectedEOF.
	DecodeLast(in *buffer.Buffer, out *OutputList) error
}

// DecoderHandler is the handler around a Decoder: it keeps the bytes that don't make a
// message yet, and passes each message on as soon as it is decoded. A message that is wholly
// inside the buffer that was received is not copied, and while no part of a message waits
// no memory is held.
//
// Errors are fired as *DecodeError. When the input ends, DecodeLast is called, and bytes
// that are left over are fired as an io.ErrUnexpectedEOF. When the handler is removed before
// that, what it has not decoded is passed on as it is, to what takes its place.
//
// Once a handler that gets a message closes the channel, nothing more is decoded. Messages
// other than *buffer.Buffer pass through. One handler is for one channel, and panics when it is
// added again: it would give one peer's bytes to another.
type DecoderHandler struct {
	// KeepOpen leaves the channel open after an error. By default it is closed, once the
	// handlers have been told. Set it before the handler is added.
	KeepOpen bool
	// MergeLimit is the number of bytes up to which pieces of a message are copied
	// together; larger ones are joined as parts of a composite buffer. 0 is
	// DefaultMergeLimit; negative: never copy. Set it before the handler is added.
	MergeLimit int

	decoder Decoder
	left    *buffer.Buffer // not decoded yet; nil: nothing

	added    bool
	busy     bool // on the stack already
	decoding bool // inside the decoder
	made     bool // a message was passed on since the last OnReadComplete
	stopped  bool // nothing is decoded any more
	ended    bool // the input has ended
	wasOpen  bool // the channel was open when the run began
	removed  bool // the handler was removed while it was busy
}

// NewDecoderHandler returns a handler around d.
func NewDecoderHandler(d Decoder) *DecoderHandler { return &DecoderHandler{decoder: d} }

// Decoder returns the decoder.
func (h *DecoderHandler) Decoder() Decoder { return h.decoder }

// addedOnce panics when a handler that is for one channel is added a second time.
func addedOnce(added *bool) {
	if *added {
		panic("codec: decoder handler: was added before, and one is for one channel")
	}
	*added = true
}

// Added implements channel.AddedHandler.
func (h *DecoderHandler) Added(ctx *channel.Context) {
	addedOnce(&h.added)
	if d, ok := h.decoder.(channel.AddedHandler); ok {
		d.Added(ctx)
	}
}

// OnRead implements channel.ReadHandler.
func (h *DecoderHandler) OnRead(ctx *channel.Context, msg any) {
	in, ok := msg.(*buffer.Buffer)
	if !ok {
		h.made = true
		ctx.FireRead(msg)
		return
	}
	switch {
	case h.stopped || h.ended:
		in.Close()
		return
	case h.left == nil:
		h.left = in
	case h.busy: // it comes from what a message has set off, and the loop further out goes on
		h.left.Append(in) // which keeps the buffer that the decoder may be looking at
		return
	default:
		h.left = merge(ctx.Allocator(), h.left, in, h.mergeLimit())
	}
	if !h.busy {
		h.run(ctx)
	}
}

func (h *DecoderHandler) mergeLimit() int {
	if h.MergeLimit == 0 {
		return DefaultMergeLimit
	}
	return max(h.MergeLimit, 0)
}

// run decodes what there is.
func (h *DecoderHandler) run(ctx *channel.Context) {
	out := newOutput(ctx)
	h.busy = true
	h.wasOpen = ctx.Channel().IsOpen()
	defer h.leave(ctx, out)
	for !h.stopped && !h.removed && h.left != nil && !h.left.IsEmpty() {
		before := h.left.Len()
		h.decoding = true
		err := h.decoder.Decode(h.left, out)
		h.decoding = false
		again := h.left.Len() != before || out.Len() > 0
		h.pass(ctx, out)
		if err != nil {
			h.failed(ctx, err)
		}
		if !again {
			break
		}
	}
	if h.ended && !h.stopped && !h.removed {
		h.finish(ctx, out)
	}
}

// pass gives the messages to the next handler.
func (h *DecoderHandler) pass(ctx *channel.Context, out *OutputList) {
	for out.Len() > 0 && !h.stopped {
		h.made = true
		ctx.Deliver(out.Take())
		h.stopped = h.wasOpen && !ctx.Channel().IsOpen() // a handler has closed it
	}
	if h.stopped {
		out.Dispose()
	}
}

// failed deals with an error of the decoder.
func (h *DecoderHandler) failed(ctx *channel.Context, err error) {
	resumed := h.KeepOpen && isResumable(err)
	if !resumed {
		h.stopped = true
	}
	ctx.Contain(func() { ctx.FireError(&DecodeError{Err: err, Resumed: resumed}) })
	if !h.KeepOpen {
		ctx.Channel().Close()
	}
}

// finish gives the decoder its last chance.
func (h *DecoderHandler) finish(ctx *channel.Context, out *OutputList) {
	if d, ok := h.decoder.(LastDecoder); ok {
		if h.left == nil {
			h.left = buffer.New(0)
		}
		h.decoding = true
		err := d.DecodeLast(h.left, out)
		h.decoding = false
		h.pass(ctx, out)
		if err != nil {
			h.failed(ctx, err)
		}
	}
	if h.left != nil && !h.left.IsEmpty() && !h.stopped {
		h.failed(ctx, io.ErrUnexpectedEOF)
	}
	h.stopped = true
}

// leave ends a run, also one that the decoder's panic has ended.
func (h *DecoderHandler) leave(ctx *channel.Context, out *OutputList) {
	h.busy = false
	if h.decoding { // it has panicked, and nobody knows where in the input
		h.decoding = false
		h.stopped = true
		if !h.KeepOpen {
			ctx.Channel().Close()
		}
	}
	out.Recycle()
	switch {
	case h.removed:
		h.release(ctx)
	case h.stopped:
		h.drop()
	case h.left != nil:
		h.left = tidy(h.left)
	}
}

// drop gives up what was not decoded.
func (h *DecoderHandler) drop() {
	left := h.left
	h.left = nil
	if left != nil && !left.IsClosed() { // a decoder that has panicked may have closed it
		left.Close()
	}
}

// OnReadComplete implements channel.ReadCompleteHandler. When a batch has made no message
// and the channel reads on demand, it asks for another: somebody waits for one.
func (h *DecoderHandler) OnReadComplete(ctx *channel.Context) {
	made := h.made
	h.made = false
	if !made && !h.stopped && !ctx.Channel().AutoRead() {
		ctx.Read()
	}
	ctx.FireReadComplete()
}

// OnShutdown implements channel.ShutdownHandler.
func (h *DecoderHandler) OnShutdown(ctx *channel.Context, d channel.Direction) {
	if d == channel.Inbound {
		h.end(ctx)
	}
	ctx.FireShutdown(d)
}

// OnInactive implements channel.InactiveHandler.
func (h *DecoderHandler) OnInactive(ctx *channel.Context) {
	h.end(ctx)
	ctx.FireInactive()
}

// end decodes the last bytes. Only what the peer has ended is whole: when this side has
// closed the channel, or it was lost, the rest is dropped.
func (h *DecoderHandler) end(ctx *channel.Context) {
	switch {
	case h.ended || h.stopped:
		return
	case !ctx.Channel().InputClosed():
		h.stopped = true
		if !h.busy {
			h.drop()
		}
		return
	}
	h.ended = true
	if h.busy {
		return // the run further out sees to it
	}
	h.made = false
	h.run(ctx)
	if h.made {
		h.made = false
		ctx.FireReadComplete()
	}
}

// Removed implements channel.RemovedHandler.
func (h *DecoderHandler) Removed(ctx *channel.Context) {
	if h.busy {
		h.removed = true // when the decoder has returned
		return
	}
	h.release(ctx)
}

// release lets go of everything, and passes on what was not decoded.
func (h *DecoderHandler) release(ctx *channel.Context) {
	if d, ok := h.decoder.(interface{ Close() }); ok {
		d.Close()
	}
	if h.stopped || h.left == nil || h.left.IsEmpty() {
		h.stopped = true
		h.drop()
		return
	}
	h.stopped = true
	left := h.left
	h.left = nil
	ctx.Deliver(left)
	ctx.FireReadComplete()
}
