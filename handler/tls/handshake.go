package tls

import (
	"fmt"
	"sync/atomic"

	"millrace.dev/future"
	"millrace.dev/loop"
)

// handshake is what a Handler has while its handshake is to come or runs. It runs on a
// goroutine of its own: crypto/tls waits for the peer in it, and computes signatures, and calls
// what a tls.Config has to choose certificates. A server's begins with the first record that
// has come, so that connections which send nothing have no goroutine.
type handshake struct {
	h       *Handler
	timer   loop.Timer
	more    chan struct{} // has an element when there is something new to be read
	sending atomic.Bool   // a task is queued that sends what was written
	running bool          // the goroutine runs
	err     error         // how it has ended

	flush    bool                         // somebody has flushed what waits
	shutdown *future.Promise[future.Void] // of a Shutdown(Outbound) that waits
}

func (h *Handler) newHandshake() *handshake {
	hs := &handshake{h: h, more: make(chan struct{}, 1)}
	hs.timer.Init(h.ctx.Loop(), hs)
	return hs
}

// run is the goroutine.
func (hs *handshake) run() {
	hs.err = hs.perform()
	_ = hs.h.ctx.Loop().Run((*handshakeDone)(hs)) // refused: the loop has ended, and the channel with it
}

func (hs *handshake) perform() (err error) {
	defer func() {
		if v := recover(); v != nil { // of a callback
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return hs.h.conn.Handshake()
}

// wrote has the loop send what the goroutine has written.
func (hs *handshake) wrote() {
	if hs.sending.CompareAndSwap(false, true) {
		_ = hs.h.ctx.Loop().Run((*handshakeOutput)(hs))
	}
}

// wants has the loop read more if it has stopped.
func (hs *handshake) wants() { _ = hs.h.ctx.Loop().Run((*handshakeInput)(hs)) }

type handshakeInput handshake

// RunTask is for the loop.
func (t *handshakeInput) RunTask() {
	if t.h.is(readHeld) && !t.h.is(isOpen|isOver) {
		t.h.ctx.Contain(t.h.readForHandshake)
	}
}

type handshakeOutput handshake

// RunTask is for the loop.
func (t *handshakeOutput) RunTask() {
	t.sending.Store(false)
	h := t.h
	h.ctx.Contain(func() {
		h.send()
		h.ctx.Flush()
	})
}

type handshakeDone handshake

// RunTask is for the loop.
func (t *handshakeDone) RunTask() {
	t.h.handshakeEnded((*handshake)(t))
}

// RunTimer implements loop.TimerTask.
func (hs *handshake) RunTimer(*loop.Timer) { hs.h.failHandshake(ErrHandshakeTimeout) }
