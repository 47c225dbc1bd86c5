package channel

import (
	"millrace.dev/buffer"
	"millrace.dev/loop"
)

// Driver is a transport's side of a channel: how it reports what has happened. Its methods
// are for the channel's loop. After any of them the channel may be closed: a transport
// asks Reading before it goes on.
type Driver struct{ ch *Channel }

// Channel returns the channel.
func (d Driver) Channel() *Channel { return d.ch }

// Loop returns the channel's loop.
func (d Driver) Loop() *loop.Loop { return d.ch.loop }

// Reading reports whether the channel still wants messages within this batch: it is open,
// and its reading was not stopped.
func (d Driver) Reading() bool { return d.ch.wantRead }

// BeginBatch starts a read batch, when there is a message for it: flushes wait for its end.
func (d Driver) BeginBatch() { d.ch.inBatch = true }

// Read passes one message into the pipeline.
func (d Driver) Read(msg any) {
	ch := d.ch
	if ch.shard != nil {
		if b, ok := msg.(*buffer.Buffer); ok {
			ch.shard.bytesIn.add(int64(b.Len()))
		}
	}
	n := ch.pipeline.firstRead
	if n == nil {
		ch.inbound(func() { ch.unhandledMessage(msg) })
		return
	}
	defer ch.leaveInbound(ch.current)
	ch.current = n
	ch.pipeline.readTo.OnRead(n, msg)
}

// EndBatch ends a read batch: it passes OnReadComplete on, sends what
// was flushed, and asks for more if more is wanted.
func (d Driver) EndBatch() {
	ch := d.ch
	if n := ch.pipeline.firstComplete; n != nil && ch.state != closed {
		ch.runReadComplete(n)
	}
	ch.inBatch = false
	if ch.flushWanted {
		ch.flushNow()
	}
	ch.batchDone()
}

func (ch *Channel) runReadComplete(n *Context) {
	defer ch.leaveInbound(ch.current)
	ch.current = n
	n.handler.(ReadCompleteHandler).OnReadComplete(n)
}

// InputClosed reports that the peer has ended its direction, after everything that it
// sent was passed on. Like a message it is only reported while Reading.
func (d Driver) InputClosed() {
	ch := d.ch
	if ch.inputClosed || ch.state == closed {
		return
	}
	ch.inputClosed = true
	ch.wantRead = false
	ch.transport.StopRead()
	if !ch.config.AllowHalfClosure || ch.outputState == outputShut {
		ch.close(ErrClosed)
		return
	}
	ch.fireShutdown(Inbound)
}

// ConnectDone reports the outcome of a Connect.
func (d Driver) ConnectDone(err error) { d.ch.connectDone(err) }

// WriteReady reports that the transport can take bytes again after a Write that left some.
func (d Driver) WriteReady() {
	d.ch.writeReady()
}

// LoopEnding reports that the loop is shutting down. The channel closes, which handlers may
// put off until they have said goodbye; with now it does so at once, for the loop won't
// go on.
func (d Driver) LoopEnding(now bool) {
	if now {
		d.ch.close(ErrClosed)
		return
	}
	d.ch.Close()
}

// Fail reports an error that ends the connection: it goes to the handlers, then the
// channel closes.
func (d Driver) Fail(err error) { d.ch.fail(err) }

// Error passes an error to the handlers without closing, as an accept that failed does.
func (d Driver) Error(err error) { d.ch.inbound(func() { d.ch.fireError(err) }) }
