package tls

import (
	"errors"
	"io"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/handler/tls/internal/rawinput"
	"millrace.dev/loop"
)

// plainRoom is the least room that input is decrypted into, in bytes.
const plainRoom = 512

// scratch is the memory of a loop that records are received in.
type scratch struct{ memory []byte }

var scratches = loop.NewLocal(func(*loop.Loop) scratch {
	return scratch{}
}, nil)

// OnRead implements channel.ReadHandler.
func (h *Handler) OnRead(ctx *channel.Context, msg any) {
	b, ok := msg.(*buffer.Buffer)
	if !ok {
		ctx.FireRead(msg)
		return
	}
	if h.is(isOver|peerShut) || h.conn == nil {
		b.Close()
		return
	}
	whole := h.wire.receive(b)
	switch {
	case h.is(isOpen):
		h.readOn()
	case whole && !h.hs.running:
		h.start()
	}
}

// readOn passes on what has come, if somebody wants it: reading may be off, and what has come
// all the same was read for the handshake.
func (h *Handler) readOn() {
	if h.is(readAsked) {
		h.flags = h.flags&^readAsked | inBatch
	}
	if h.is(inBatch) || h.ctx.Channel().AutoRead() {
		h.flags &^= unread
		h.decrypt()
	} else {
		h.flags |= unread
	}
}

// decrypt passes on the messages that have come whole.
func (h *Handler) decrypt() {
	if h.is(decrypting) { // it comes from a message, and the loop further out goes on
		return
	}
	h.flags |= decrypting
	defer func() { h.flags &^= decrypting }()
	lent := scratches.Get(h.ctx.Loop())
	memory := lent.memory
	lent.memory = nil // a message may have another channel of the loop decrypt
	rawinput.Lend(h.conn, memory)
	for more := true; more && h.is(isOpen); {
		b := h.ctx.Allocator().Allocate(max(h.wire.whole+rawinput.Held(h.conn), plainRoom))
		err := h.fill(b)
		if b.IsEmpty() {
			b.Close()
		} else {
			h.flags |= made
			h.ctx.Deliver(b)
		}
		switch {
		case err == nil: // there was no room for all, which only a crypto/tls that we don't know does
		case err == errNoInput:
			more = h.wire.whole > 0 // a message has had more read
		default:
			more = false
			h.readFailed(err)
		}
	}
	if m := rawinput.Return(h.conn); cap(m) > 0 {
		lent.memory = m
	}
	h.answer()
}

// fill decrypts into b until that is full, or there is nothing more.
func (h *Handler) fill(b *buffer.Buffer) error {
	for {
		room := b.Writable()
		if len(room) == 0 {
			return nil
		}
		n, err := h.conn.Read(room)
		b.Advance(n)
		if err != nil {
			if errors.Is(err, errNoInput) {
				err = errNoInput
			}
			return err
		}
	}
}

// answer sends what crypto/tls has had to say to what has come, such as an update of keys.
func (h *Handler) answer() {
	if h.is(isOpen) && h.wire.out != nil {
		h.send()
		h.ctx.Flush()
	}
}

// readFailed deals with the end of what can be decrypted.
func (h *Handler) readFailed(err error) {
	if err != io.EOF {
		h.fail(&RecordError{err})
		return
	}
	h.flags |= peerShut | endHeld
	h.wire.drop()
}

// passEnd tells that the peer has said that nothing more will come. Like a message that is
// only told when somebody wants it.
func (h *Handler) passEnd() {
	ch := h.ctx.Channel()
	if !h.is(endHeld) || !h.is(readAsked) && !ch.AutoRead() {
		return
	}
	h.flags &^= endHeld
	h.ctx.Contain(func() { h.ctx.FireEvent(&Closed{}) })
	if ch.Config().AllowHalfClosure {
		ch.Shutdown(channel.Inbound)
	} else {
		ch.Close()
	}
}

// OnReadComplete implements channel.ReadCompleteHandler. A batch that has made no message is not
// passed on; when somebody waits for one, it asks for another.
func (h *Handler) OnReadComplete(ctx *channel.Context) {
	if !h.is(isOpen | isOver) { // the handshake reads on whatever the others want
		if !ctx.Channel().AutoRead() {
			h.readForHandshake()
		}
		return
	}
	h.readComplete()
}

// readForHandshake has more read, once the handshake has taken what there is: so little waits,
// and an end that comes behind it comes in its turn.
func (h *Handler) readForHandshake() {
	if h.hs != nil && h.hs.running && h.wire.hasInput() {
		h.flags |= readHeld
		return
	}
	h.flags &^= readHeld
	h.ctx.Read()
}

func (h *Handler) readComplete() {
	switch was := h.flags; {
	case was&(made|endHeld) == made:
		h.flags &^= made | inBatch
		h.ctx.FireReadComplete()
	case was&made != 0:
		h.flags &^= made | inBatch
		h.ctx.Contain(h.ctx.FireReadComplete) // the end follows whatever it does
	case was&endHeld != 0:
		h.flags = h.flags&^inBatch | readAsked
	case was&inBatch != 0:
		h.ctx.Read()
	}
	h.passEnd()
}

// Read implements channel.OutboundReadHandler.
func (h *Handler) Read(ctx *channel.Context) {
	h.flags &^= readAsked
	if !ctx.Channel().AutoRead() {
		h.flags |= readAsked
	}
	switch {
	case h.is(unread | endHeld):
		_ = ctx.Loop().Execute(func() { ctx.Contain(h.readLate) })
	case !h.is(isOpen | isOver):
		h.readForHandshake()
	default:
		ctx.Read()
	}
}

// readLate goes on with a Read that came when there was something for it already: what has
// come, as a batch of its own, or the end.
func (h *Handler) readLate() {
	h.readUnread()
	h.passEnd()
	if h.is(isOpen) && !h.is(peerShut) && h.ctx.Channel().AutoRead() {
		h.ctx.Read()
	}
}

// readUnread passes on what has come before anybody wanted it.
func (h *Handler) readUnread() {
	if !h.is(isOpen) || !h.is(unread) {
		return
	}
	h.readOn()
	if h.is(unread) {
		return
	}
	h.ctx.Contain(h.readComplete)
	if h.is(shutdownHeld) {
		h.flags &^= shutdownHeld
		h.inputEnded()
		h.ctx.FireShutdown(channel.Inbound)
	}
}

// OnShutdown implements channel.ShutdownHandler.
func (h *Handler) OnShutdown(ctx *channel.Context, d channel.Direction) {
	if d == channel.Inbound && !h.is(isOver) {
		if h.hs != nil {
			h.flags |= shutdownHeld
			if !h.hs.running {
				h.fail(&HandshakeError{io.EOF})
				return
			}
			h.wire.finish(io.EOF)
			return
		}
		h.inputEnded()
	}
	ctx.FireShutdown(d)
}

// inputEnded says that the transport's input has ended, unless the peer has said so.
func (h *Handler) inputEnded() {
	if h.is(isOpen) && !h.is(peerShut) {
		h.flags |= peerShut
		h.ctx.FireEvent(&Closed{ErrTruncated})
	}
}
