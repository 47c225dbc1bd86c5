package channel

import (
	"fmt"
	"time"

	"millrace.dev/buffer"
)

// sizeOf returns the bytes that a message counts for, and whether the transport takes it.
func (ch *Channel) sizeOf(msg any) (int64, bool) {
	switch m := msg.(type) {
	case *buffer.Buffer:
		if m.IsClosed() {
			return 0, false
		}
		return int64(m.Len()), true
	case *FileRegion:
		return m.Count, m.Offset >= 0 && m.Count >= 0
	}
	if t, ok := ch.transport.(MessageTransport); ok {
		return t.MessageSize(msg)
	}
	return 0, false
}

// enqueue is Write at the head.
func (ch *Channel) enqueue(msg any) Future {
	size, ok := ch.sizeOf(msg)
	if !ok {
		if b, ok := msg.(*buffer.Buffer); ok {
			return ch.writeClosed(b)
		}
		// Few listen to the futures of writes, so this would otherwise be silence.
		ch.Logger().Warn("message can't be sent by the transport; it was disposed of",
			"channel", ch, "message", typeName(msg), "pipeline", ch.pipeline.Names())
		Dispose(msg)
		return ch.failed(fmt.Errorf("%w: %T", ErrUnsupportedMessage, msg))
	}
	if ch.state == closed || ch.outputState != outputOpen {
		Dispose(msg)
		return ch.failed(ch.refusal())
	}
	write := ch.queue.add(msg, size)
	ch.addPending(size)
	return ch.writeFuture(write)
}

// writeClosed ends the write of a closed buffer by the panic that its use is, and contains that
// if no outbound handler's entry does.
func (ch *Channel) writeClosed(b *buffer.Buffer) (f Future) {
	if !ch.outbound {
		defer ch.leaveOutbound(ch.current, nil, 0, &f)
	}
	_ = b.Len()
	return f
}

// refusal returns why no more can be written.
func (ch *Channel) refusal() error {
	o := ch.failure.Load()
	switch {
	case ch.state == closed:
		return ErrClosed
	case o != nil: // an I/O error, and the channel is about to close; or ErrOutputShutdown
		return o.err
	}
	return ErrOutputShutdown
}

// requestFlush is Flush at the head. The flush is done at the end of the read batch that
// it came from, or of the loop's turn, so that many become one system call.
func (ch *Channel) requestFlush() {
	if ch.outputState != outputOpen || !ch.queue.flush() || ch.state == closed {
		return
	}
	ch.flushWanted = true
	if ch.inBatch || ch.flushQueued || ch.writeBlocked {
		return
	}
	ch.flushQueued = true
	ch.loop.AtTurnEnd((*turnEndFlush)(ch))
}

// turnEndFlush is a Channel that has a flush to do when its loop's turn ends.
type turnEndFlush Channel

// TurnEnd is for the loop.
func (t *turnEndFlush) TurnEnd() {
	ch := (*Channel)(t)
	ch.flushQueued = false
	ch.flushNow()
}

// flushNow gives what is flushed to the transport, unless it waits for WriteReady.
func (ch *Channel) flushNow() {
	ch.flushWanted = false
	if ch.writeBlocked || ch.state != registered || !ch.public.has(isActive) {
		return
	}
	if !ch.queue.Empty() {
		if err := ch.writeOut(); err != nil {
			ch.fail(err)
			return
		}
		if ch.state != registered { // a write's listener has closed or deregistered it
			return
		}
		ch.writeBlocked = !ch.queue.Empty()
	}
	switch {
	case ch.writeBlocked:
		ch.tookAt = ch.loop.Now()
	case ch.outputState == outputDraining:
		ch.finishOutput()
	}
}

// writeOut has the transport take what it can. It panics over a buffer that was closed after it
// was written; that ends the channel and not the work of whoever has the flush done.
func (ch *Channel) writeOut() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = newPanicError(nil, v)
		}
	}()
	return ch.transport.Write(&ch.queue)
}

// writeReady goes on with what the transport has refused.
func (ch *Channel) writeReady() {
	bytes, done, tookAt := ch.queue.bytes, ch.doneWrites.Load(), ch.tookAt
	ch.writeBlocked = false
	ch.flushNow()
	switch {
	case !ch.writeBlocked:
		ch.tookAt = ch.loop.Now()
	case bytes == ch.queue.bytes && done == ch.doneWrites.Load():
		ch.tookAt = tookAt // it took nothing
	}
}

// OutputBlocked reports whether flushed messages wait because the transport takes no more,
// and when a transport that had refused some last took something, in the loop's time (0:
// it never refused any). A peer that stops reading shows as blocked for ever longer. On
// the loop only.
func (ch *Channel) OutputBlocked() (blocked bool, since time.Duration) {
	return ch.writeBlocked, ch.tookAt
}

// Hold counts n bytes that a handler keeps on their way out, so that back pressure covers
// them; Release, with the same n, ends it. On the loop only.
func (ch *Channel) Hold(n int64) {
	ch.held += n
	ch.addPending(n)
}

// Release takes back what Hold has counted. On the loop only.
func (ch *Channel) Release(n int64) {
	ch.held -= n
	ch.dropped(n)
	ch.checkLowWatermark()
}

// addPending counts n more pending bytes and crosses the high watermark.
func (ch *Channel) addPending(n int64) {
	if ch.shard != nil {
		ch.shard.pending.add(n)
	}
	if ch.PendingBytes() > int64(ch.config.WriteBufferHigh) && !ch.public.has(isUnwritable) {
		ch.public.set(isUnwritable)
		_ = ch.loop.Run((*unwritableTask)(ch)) // refused: the loop has ended
	}
}

// checkLowWatermark makes the channel writable again.
func (ch *Channel) checkLowWatermark() {
	if ch.public.has(isUnwritable) && ch.PendingBytes() <= int64(ch.config.WriteBufferLow) && ch.state != closed {
		ch.public.clear(isUnwritable)
		_ = ch.loop.Run((*writableTask)(ch))
	}
}

// One event per edge, in the order of the edges, and never from inside a Write: the events
// are tasks.
type (
	unwritableTask Channel
	writableTask   Channel
)

// RunTask is for the loop.
func (t *unwritableTask) RunTask() { (*Channel)(t).fireWritability(false) }

// RunTask is for the loop.
func (t *writableTask) RunTask() { (*Channel)(t).fireWritability(true) }

// sent counts n bytes as taken by the transport.
func (ch *Channel) sent(n int64) {
	if ch.shard != nil {
		ch.shard.bytesOut.add(n)
		ch.shard.pending.add(-n)
	}
}

// dropped takes back n pending bytes that were not sent.
func (ch *Channel) dropped(n int64) {
	if ch.shard != nil {
		ch.shard.pending.add(-n)
	}
}
