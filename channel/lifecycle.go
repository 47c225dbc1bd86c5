package channel

import (
	"errors"
	"net"
	"runtime/debug"

	"millrace.dev/future"
	"millrace.dev/loop"
)

// What the outbound operations do when they reach the head.

func (ch *Channel) register() Future {
	switch ch.state {
	case closed:
		return ch.failed(ErrClosed)
	case registered:
		return ch.failed(ErrRegistered)
	}
	if err := ch.transport.Register(Driver{ch}); err != nil {
		ch.close(err)
		return ch.failed(err)
	}
	ch.unpark()
	ch.state = registered
	ch.toldOfStart = true
	ch.fireRegistered()
	if ch.state == registered && ch.transport.Active() {
		ch.activate()
	}
	return Future{}
}

func (ch *Channel) deregister() Future {
	if ch.state != registered {
		return Future{}
	}
	ch.transport.StopRead()
	if err := ch.transport.Deregister(); err != nil {
		return ch.failed(err)
	}
	ch.state = deregistered
	ch.writeBlocked = false // WriteReady won't come; after the next Register it is tried again
	if ch.wantRead && !ch.inBatch {
		ch.readAgain = true // asked for and not answered
	}
	ch.wantRead = false
	ch.fireUnregistered()
	if ch.state == deregistered {
		ch.park()
	}
	return Future{}
}

// parked is a deregistered channel that waits for its loop's end, of which its transport doesn't
// hear any more: afterwards nobody could close it.
type parked struct {
	ch  *Channel
	reg loop.Registration
}

// HandleIO implements loop.Handle.
func (p *parked) HandleIO(ev loop.Event) {
	if ev.Ops&loop.OpShutdown != 0 {
		Driver{p.ch}.LoopEnding(ev.Ops&loop.OpDone != 0)
	}
}

func (ch *Channel) park() {
	if ch.parked != nil {
		return // from inside of OnUnregistered
	}
	p := &parked{ch: ch}
	var err error
	if p.reg, err = ch.loop.Attach(p); err != nil { // the loop ends now
		ch.close(err)
		return
	}
	ch.parked = p
}

func (ch *Channel) unpark() {
	if p := ch.parked; p != nil {
		ch.parked = nil
		_ = p.reg.Deregister() // it has no descriptor
	}
}

// activate is called once, when the transport has become active.
func (ch *Channel) activate() {
	if !ch.wasActive {
		ch.wasActive = true
		ch.public.set(isActive)
		ch.countOpen()
		ch.fireActive()
	}
	ch.flushNow() // what was flushed before there was a connection
	ch.resumeRead()
	if ch.state == registered && !ch.wantRead {
		ch.transport.StopRead() // lets it watch for the end of the connection
	}
}

func (ch *Channel) bind(local net.Addr) Future {
	switch ch.state {
	case closed:
		return ch.failed(ErrClosed)
	case created, deregistered:
		return ch.failed(ErrNotRegistered)
	}
	if ch.transport.Active() {
		return ch.failed(ErrConnected)
	}
	if err := ch.transport.Bind(local); err != nil {
		return ch.failed(err)
	}
	if ch.transport.Active() {
		ch.activate()
	}
	return Future{}
}

// connecting is a connect under way.
type connecting struct {
	promise  *future.Promise[future.Void]
	timeout  loop.Timer
	ch       *Channel
	starting bool // the transport's Connect has not returned
}

// RunTask completes a connect that was done at once. Nobody could have had its future any
// sooner.
func (c *connecting) RunTask() {
	if c.ch.connecting == c {
		c.ch.connectDone(nil)
	}
}

// RunTimer ends a connect that takes too long.
func (c *connecting) RunTimer(*loop.Timer) { c.ch.connectDone(ErrConnectTimeout) }

func (ch *Channel) connect(remote, local net.Addr) Future {
	switch {
	case ch.state == closed:
		return ch.failed(ErrClosed)
	case ch.state != registered:
		return ch.failed(ErrNotRegistered)
	case ch.connecting != nil:
		return ch.failed(ErrConnectPending)
	case ch.transport.Active():
		return ch.failed(ErrConnected)
	}
	c := &connecting{ch: ch, promise: future.NewPromise[future.Void](ch.loop)}
	ch.connecting = c
	c.timeout.Init(ch.loop, c)
	if d := ch.config.ConnectTimeout; d > 0 {
		c.timeout.Reset(d)
	}
	c.promise.OnCancel(func() { ch.abandonConnect(c) })
	c.starting = true
	err := ch.transport.Connect(remote, local)
	c.starting = false
	if err != nil {
		ch.connectDone(err)
	}
	return c.promise.Future()
}

// abandonConnect closes the channel of a connect whose future was cancelled.
func (ch *Channel) abandonConnect(c *connecting) {
	if ch.connecting == c {
		c.timeout.Stop()
		ch.connecting = nil
		ch.close(future.ErrCancelled)
	}
}

// connectDone ends a connect: a failed one closes the channel, and then its future fails.
// One that succeeds completes its future before OnActive, so that a listener can still
// change the pipeline.
func (ch *Channel) connectDone(err error) {
	c := ch.connecting
	if c == nil {
		return
	}
	if err != nil {
		ch.close(err)
		return
	}
	if c.starting {
		_ = ch.loop.Run(c) // refused: the loop has ended, and closes the channel
		return
	}
	ch.connecting = nil
	c.timeout.Stop()
	ch.public.set(isActive)
	if !c.promise.TrySucceed(future.Void{}) { // cancelled, and about to be closed
		ch.close(future.ErrCancelled)
		return
	}
	if ch.state == registered {
		ch.activate()
	}
}

// close closes the channel. Everything that still waits fails with cause.
func (ch *Channel) close(cause error) Future {
	if ch.state == closed {
		return ch.CloseFuture()
	}
	if ch.flushWanted && ch.state == registered && ch.public.has(isActive) && errors.Is(cause, ErrClosed) {
		// What was flushed before the close may still leave, as it would have at once if
		// flushes were not gathered.
		ch.flushWanted = false
		if !ch.writeBlocked {
			_ = ch.writeOut() // it is closed whatever comes
		}
		if ch.state == closed {
			return ch.CloseFuture()
		}
	}
	unknown := ch.state == created // to its handlers, and perhaps to its loop
	ch.unpark()
	ch.state = closed
	ch.public.clear(isOpen | isActive)
	ch.autoRead, ch.wantRead = false, false
	if err := ch.closeTransport(); err != nil {
		ch.Logger().Debug("transport did not close cleanly", "channel", ch.id, "error", err)
	}
	ch.countClosed()
	if ch.set != nil {
		ch.set.remove(ch)
	}
	ch.queue.fail()
	ch.failWrites(cause)
	ch.failPending(cause)
	if p := ch.closing.Load(); p != nil {
		p.TrySucceed(future.Void{})
	}
	// The handler that closes the channel returns before the last events come.
	end := (*closeTask)(ch)
	if unknown || ch.loop.Run(end) != nil {
		end.RunTask()
	}
	return ch.CloseFuture()
}

// closeTransport closes the transport. It may panic over messages that others have closed by
// mistake; the channel ends all the same.
func (ch *Channel) closeTransport() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = newPanicError(nil, v)
			ch.Logger().Error("transport panicked when it was closed", "channel", ch.id, "panic", v, "stack", string(debug.Stack()))
		}
	}()
	return ch.transport.Close()
}

// failPending fails the operations that would have ended later.
func (ch *Channel) failPending(cause error) {
	if c := ch.connecting; c != nil {
		ch.connecting = nil
		c.timeout.Stop()
		c.promise.TryFail(cause)
	}
	if p := ch.shutdownOp; p != nil {
		ch.shutdownOp = nil
		p.TryFail(cause)
	}
}

// closeTask is a closed Channel that has its last events to pass on.
type closeTask Channel

// RunTask is for the loop.
func (t *closeTask) RunTask() {
	ch := (*Channel)(t)
	if ch.wasActive {
		ch.fireInactive()
	}
	ch.fireUnregistered()
	ch.pipeline.removeAll()
}

func (ch *Channel) shutdown(d Direction) Future {
	switch {
	case ch.state == closed:
		return ch.failed(ErrClosed)
	case !ch.public.has(isActive):
		return ch.failed(ErrNotConnected)
	case d == Inbound:
		return ch.shutdownInput()
	case ch.outputState != outputOpen:
		if p := ch.shutdownOp; p != nil {
			return p.Future()
		}
		return Future{}
	}
	// Everything flushed leaves first; what was never flushed can't leave any more.
	ch.outputState = outputDraining
	ch.flushNow()
	switch o := ch.failure.Load(); {
	case o != nil && o.err == ErrOutputShutdown: // flushNow has sent the last of it
		return Future{}
	case o != nil: // an error has closed the channel, or is about to
		return ch.failed(o.err)
	case ch.queue.Empty():
		return ch.finishOutput()
	}
	ch.shutdownOp = future.NewPromise[future.Void](ch.loop)
	ch.shutdownOp.SetUncancellable()
	return ch.shutdownOp.Future()
}

// finishOutput shuts the output down, once the queue's flushed part is empty.
func (ch *Channel) finishOutput() Future {
	ch.outputState = outputShut
	err := ch.transport.Shutdown(Outbound)
	p := ch.shutdownOp
	ch.shutdownOp = nil
	if err != nil {
		ch.failWrites(err)
		if p != nil {
			p.TryFail(err)
		}
		ch.fail(err)
		return ch.failed(err)
	}
	ch.queue.fail()
	ch.failWrites(ErrOutputShutdown)
	ch.checkLowWatermark() // who waits to write had better be refused than wait on
	if p != nil {
		p.TrySucceed(future.Void{})
	}
	if ch.state != closed { // a listener may have closed it
		ch.fireShutdown(Outbound)
	}
	if ch.inputClosed {
		ch.close(ErrClosed)
	}
	return Future{}
}

func (ch *Channel) shutdownInput() Future {
	if ch.inputClosed {
		return Future{}
	}
	ch.inputClosed = true
	ch.wantRead, ch.readAgain = false, false
	ch.transport.StopRead()
	err := ch.transport.Shutdown(Inbound)
	ch.fireShutdown(Inbound)
	if ch.outputState == outputShut {
		ch.close(ErrClosed)
	}
	if err != nil {
		return ch.failed(err)
	}
	return Future{}
}

// fail passes an I/O error on and closes the channel. The writes fail with it first, as
// a handler that closes the channel in OnError would have them fail with ErrClosed.
func (ch *Channel) fail(err error) {
	if ch.state == closed {
		return
	}
	ch.outputState = outputShut
	ch.failWrites(err)
	ch.inbound(func() { ch.fireError(err) })
	ch.close(err)
}
