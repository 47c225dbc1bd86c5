package tls

import (
	"errors"
	"fmt"
	"io"

	"millrace.dev/buffer"
	"millrace.dev/channel"
	"millrace.dev/future"
)

const (
	// recordRoom is how much is gathered for one record (RFC 8446 section 5.1).
	recordRoom = 16 << 10
	// copied is up to how many bytes are copied behind what was written before.
	copied = 4 << 10
	// filePiece is how much of a file is read at a time.
	filePiece = 64 << 10
)

// queued is what waits behind a file region, or is one.
type queued struct {
	msg     any // *buffer.Buffer or *channel.FileRegion
	done    *future.Promise[future.Void]
	flushed bool
}

// Write implements channel.WriteHandler.
func (h *Handler) Write(ctx *channel.Context, msg any) channel.Future {
	err := h.refusal()
	var size int64
	switch m := msg.(type) {
	case *buffer.Buffer:
		if err == nil && len(h.queue) == 0 {
			return h.write(m)
		}
		size = int64(m.Len())
	case *channel.FileRegion:
		size = m.Count
	default:
		err = fmt.Errorf("%w: %T", channel.ErrUnsupportedMessage, msg)
	}
	if err != nil {
		channel.Dispose(msg)
		return future.Failed[future.Void](ctx.Loop(), err)
	}
	ctx.Channel().Hold(size)
	done := future.NewPromise[future.Void](ctx.Loop())
	done.SetUncancellable()
	h.queue = append(h.queue, queued{msg: msg, done: done})
	return done.Future()
}

// refusal says why nothing more can be written.
func (h *Handler) refusal() error {
	switch {
	case h.is(isOver):
		return channel.ErrClosed
	case h.is(isShut), h.hs != nil && h.hs.shutdown != nil:
		return channel.ErrOutputShutdown
	}
	return nil
}

// write gathers b, which it takes over.
func (h *Handler) write(b *buffer.Buffer) channel.Future {
	n := b.Len()
	if n == 0 && h.plain == nil {
		b.Close()
		return future.Succeeded(h.ctx.Loop(), future.Void{})
	}
	if h.is(isOpen) && h.plain != nil && (n > copied || n > len(h.plain.Writable())) {
		h.send() // a record of its own costs less than a copy
	}
	h.ctx.Channel().Hold(int64(n))
	switch {
	case h.plain != nil && n <= len(h.plain.Writable()):
		h.gather(b)
	case h.plain != nil:
		h.plain.Append(b)
	case n > copied:
		h.plain = b
	default:
		h.plain = h.ctx.Allocator().Allocate(recordRoom)
		h.gather(b)
	}
	f := h.promised()
	if h.is(isOpen) && h.plain.Len() >= recordRoom {
		h.send()
	}
	return f
}

// gather copies b behind what was written before, and closes it.
func (h *Handler) gather(b *buffer.Buffer) {
	_, _ = b.WriteTo(h.plain)
	b.Close()
}

// promised returns the future of what is in plain: that of the next write to the transport
// if there is nobody in between, so that a write nobody listens to costs no allocation.
func (h *Handler) promised() channel.Future {
	if h.is(isOpen) && h.wait == nil {
		if f, ok := h.ctx.NextWrite(); ok {
			return f
		}
	}
	if h.wait == nil {
		h.wait = future.NewPromise[future.Void](h.ctx.Loop())
		h.wait.SetUncancellable()
	}
	return h.wait.Future()
}

// send encrypts what was written, and writes that, and what crypto/tls has to say, to the
// transport.
func (h *Handler) send() { h.post(h.seal()) }

// post writes to the transport what is encrypted, among it n bytes of what was written. err is
// what has kept the rest from that.
func (h *Handler) post(n int, err error) {
	if out := h.wire.take(); out != nil {
		f := h.ctx.Write(out)
		if n > 0 && h.wait != nil {
			p := h.wait
			h.wait = nil
			f.CascadeTo(p)
		}
	}
	h.ctx.Channel().Release(int64(n))
	if err != nil && !h.is(isOver) {
		h.fail(&RecordError{err})
	}
}

// seal encrypts what was written, of n bytes.
func (h *Handler) seal() (n int, err error) {
	b := h.plain
	if b == nil || !h.is(isOpen) {
		return 0, nil
	}
	h.plain = nil
	defer b.Close()
	n = b.Len()
	h.wire.reserve(n + n/32 + 256) // records are short at first, see DynamicRecordSizingDisabled
	if len(b.Readable()) < n && n <= recordRoom {
		_, err = h.conn.Write(b.Bytes())
		return n, err
	}
	_, err = b.WriteTo(h.conn)
	return n, err
}

// Flush implements channel.FlushHandler.
func (h *Handler) Flush(ctx *channel.Context) {
	switch {
	case h.is(isOpen):
		for i := range h.queue {
			h.queue[i].flushed = true
		}
		h.send()
		h.pump()
	case h.hs != nil:
		h.hs.flush = true
		return
	}
	ctx.Flush()
}

// pump writes what waits in the queue and was flushed, of a file one piece at a time.
func (h *Handler) pump() {
	for len(h.queue) > 0 && h.queue[0].flushed && h.is(isOpen) && !h.is(pieceOut) {
		q := h.queue[0]
		if r, ok := q.msg.(*channel.FileRegion); ok {
			h.pumpFile(r, q.done)
			continue
		}
		b := q.msg.(*buffer.Buffer)
		n := int64(b.Len())
		h.dequeue()
		f := h.write(b)
		h.send()
		h.ctx.Channel().Release(n)
		f.CascadeTo(q.done)
	}
}

func (h *Handler) dequeue() {
	n := copy(h.queue, h.queue[1:])
	h.queue[n] = queued{}
	h.queue = h.queue[:n]
	if n == 0 {
		h.queue = nil
	}
}

// pumpFile writes a piece of a file, and goes on when the transport has taken it.
func (h *Handler) pumpFile(r *channel.FileRegion, done *future.Promise[future.Void]) {
	b := h.ctx.Allocator().Allocate(int(min(r.Count, filePiece)))
	room := b.Writable()
	room = room[:min(int64(len(room)), r.Count)]
	n, err := r.File.ReadAt(room, r.Offset)
	if n < len(room) {
		b.Advance(n)
		h.write(b)
		h.send()
		h.ctx.Flush()
		if err == nil || errors.Is(err, io.EOF) {
			err = channel.ErrFileTruncated
		}
		h.fail(err) // what was promised can't be sent any more
		return
	}
	b.Advance(n)
	r.Offset += int64(n)
	r.Count -= int64(n)
	last := r.Count == 0
	if last {
		h.dequeue()
		r.Close()
	}
	h.flags |= pieceOut
	f := h.write(b)
	h.send()
	h.ctx.Channel().Release(int64(n))
	if last {
		f.CascadeTo(done)
	}
	f.OnCompleteWith(h, pieceDone)
}

func pieceDone(arg any, f channel.Future) {
	h := arg.(*Handler)
	h.flags &^= pieceOut
	if f.IsFailed() || len(h.queue) == 0 {
		return
	}
	h.ctx.Contain(func() {
		h.pump()
		h.ctx.Flush()
	})
}

// failWrites fails what was written and not encrypted.
func (h *Handler) failWrites(err error) {
	ch := h.ctx.Channel()
	if b := h.plain; b != nil {
		h.plain = nil
		ch.Release(int64(b.Len()))
		b.Close()
	}
	if p := h.wait; p != nil {
		h.wait = nil
		p.TryFail(err)
	}
	queue := h.queue
	h.queue = nil
	for _, q := range queue {
		switch m := q.msg.(type) {
		case *buffer.Buffer:
			ch.Release(int64(m.Len()))
		case *channel.FileRegion:
			ch.Release(m.Count)
		}
		channel.Dispose(q.msg)
		q.done.TryFail(err)
	}
}
