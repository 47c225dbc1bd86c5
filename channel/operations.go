package channel

import (
	"net"

	"millrace.dev/future"
)

// The outbound operations of a channel start at the pipeline's tail, from any goroutine.

// operation is an outbound call on its way to the loop. Until it gets there, cancelling its
// future keeps it from being carried out.
type operation struct {
	ch      *Channel
	run     func(ch *Channel) Future
	msg     any
	connect bool // which can be cancelled later, too
	promise *future.Promise[future.Void]
}

// RunTask is for the loop.
func (o *operation) RunTask() {
	if !o.connect && !o.promise.SetUncancellable() {
		Dispose(o.msg)
		return
	}
	o.call().CascadeTo(o.promise)
}

// call carries the operation out. What panics before it has come to a handler panics here: there
// is no caller to see it.
func (o *operation) call() (f Future) {
	ch := o.ch
	defer ch.leaveOutbound(ch.current, o.msg, ch.queue.next, &f)
	if o.run != nil {
		return o.run(ch)
	}
	return ch.writeLast(o.msg)
}

// queueOp has run carried out on the loop, or msg written.
func (ch *Channel) queueOp(msg any, run func(ch *Channel) Future) Future {
	return ch.submit(&operation{run: run, msg: msg})
}

// submit queues an operation for the loop; if the loop has ended, the future fails and the
// message is disposed of.
func (ch *Channel) submit(o *operation) Future {
	o.ch, o.promise = ch, future.NewPromise[future.Void](ch.loop)
	if err := ch.loop.Run(o); err != nil {
		Dispose(o.msg)
		return ch.failed(err)
	}
	return o.promise.Future()
}

func (ch *Channel) writeLast(msg any) Future { return ch.outWrite(ch.pipeline.lastWrite, msg) }

func (ch *Channel) flushLast() { ch.outFlush(ch.pipeline.lastFlush) }

// Write writes msg, and with it gives its ownership away; it is sent at the next Flush.
func (ch *Channel) Write(msg any) Future {
	if ch.loop.InLoop() {
		return ch.writeLast(msg)
	}
	return ch.queueOp(msg, nil)
}

// Flush sends what has been written.
func (ch *Channel) Flush() {
	if ch.loop.InLoop() {
		ch.flushLast()
		return
	}
	_ = ch.loop.Run((*flushTask)(ch)) // refused: the channel is closed, nothing is pending
}

// WriteAndFlush is Write followed by Flush.
func (ch *Channel) WriteAndFlush(msg any) Future {
	if ch.loop.InLoop() {
		f := ch.writeLast(msg)
		ch.flushLast()
		return f
	}
	return ch.queueOp(msg, func(ch *Channel) Future {
		f := ch.writeLast(msg)
		ch.flushLast()
		return f
	})
}

// flushTask is a Channel queued for a Flush from another goroutine.
type flushTask Channel

// RunTask is for the loop.
func (t *flushTask) RunTask() { (*Channel)(t).flushLast() }

// onLoop runs an operation at once on the loop, or queues it.
func (ch *Channel) onLoop(run func(ch *Channel) Future) Future {
	if ch.loop.InLoop() {
		return run(ch)
	}
	return ch.queueOp(nil, run)
}

// Read asks for one read batch; with AutoRead input comes by itself.
func (ch *Channel) Read() {
	ch.onLoop(func(ch *Channel) Future {
		ch.outRead(ch.pipeline.lastWith(capOutRead))
		return Future{}
	})
}

// Register attaches the channel to its loop's I/O. OnRegistered and, when it is connected,
// OnActive have been passed on when the future succeeds.
func (ch *Channel) Register() Future {
	return ch.onLoop(func(ch *Channel) Future { return ch.outRegister(ch.pipeline.lastWith(capRegister)) })
}

// Deregister detaches the channel from its loop's I/O without closing it.
func (ch *Channel) Deregister() Future {
	return ch.onLoop(func(ch *Channel) Future { return ch.outDeregister(ch.pipeline.lastWith(capDeregister)) })
}

// Bind binds a registered channel to a local address; a listener then listens.
func (ch *Channel) Bind(local net.Addr) Future {
	return ch.onLoop(func(ch *Channel) Future { return ch.outBind(ch.pipeline.lastWith(capBind), local) })
}

// Connect connects a registered channel; local may be nil. Cancelling the future ends the
// attempt and closes the channel.
func (ch *Channel) Connect(remote, local net.Addr) Future {
	connect := func(ch *Channel) Future { return ch.outConnect(ch.pipeline.lastWith(capConnect), remote, local) }
	if ch.loop.InLoop() {
		return connect(ch)
	}
	return ch.submit(&operation{run: connect, connect: true})
}

// Disconnect undoes Connect; a stream channel closes.
func (ch *Channel) Disconnect() Future {
	return ch.onLoop(func(ch *Channel) Future { return ch.outDisconnect(ch.pipeline.lastWith(capDisconnect)) })
}

// Close closes the channel; closing it again does nothing. What was flushed is offered to
// the transport once more; writes that it doesn't take fail with ErrClosed.
func (ch *Channel) Close() Future {
	return ch.onLoop(func(ch *Channel) Future { return ch.outClose(ch.pipeline.lastWith(capClose)) })
}

// Shutdown ends one direction. Outbound takes effect once what was flushed has been sent;
// writes after it fail with ErrOutputShutdown. Inbound stops reading for good.
func (ch *Channel) Shutdown(direction Direction) Future {
	return ch.onLoop(func(ch *Channel) Future {
		return ch.outShutdown(ch.pipeline.lastWith(capOutShutdown), direction)
	})
}

// SendEvent passes an outbound user event from the tail towards the head, where it fails
// with ErrUnsupportedEvent.
func (ch *Channel) SendEvent(event any) Future {
	send := func(ch *Channel) Future { return ch.outSendEvent(ch.pipeline.lastWith(capSendEvent), event) }
	if ch.loop.InLoop() {
		return send(ch)
	}
	return ch.queueOp(event, send)
}

// FireEvent passes an inbound user event from the head towards the tail.
func (ch *Channel) FireEvent(event any) {
	if ch.loop.InLoop() {
		ch.fireEvent(event)
		return
	}
	ch.queueOp(event, func(ch *Channel) Future {
		ch.fireEvent(event)
		return Future{}
	})
}

// SetAutoRead turns reading by itself on or off. Off stops the transport at once: nothing
// is delivered after the message whose handler turned it off.
func (ch *Channel) SetAutoRead(on bool) {
	ch.onLoop(func(ch *Channel) Future {
		ch.setAutoRead(on)
		return Future{}
	})
}

// Listeners for futures, to be given to OnCompleteWith with the channel or context as arg.

// CloseOnComplete closes arg, a *Channel, when the future is done.
func CloseOnComplete(arg any, _ Future) { arg.(*Channel).Close() }

// CloseOnFailure closes arg, a *Channel, if the future has failed.
func CloseOnFailure(arg any, f Future) {
	if f.IsFailed() {
		arg.(*Channel).Close()
	}
}

// FireErrorOnFailure passes the error of a failed future into the pipeline of arg, a
// *Channel.
func FireErrorOnFailure(arg any, f Future) {
	if err := f.Err(); err != nil {
		arg.(*Channel).inbound(func() { arg.(*Channel).fireError(err) })
	}
}
