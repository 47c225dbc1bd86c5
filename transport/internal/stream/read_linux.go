package stream

import (
	"syscall"

	"golang.org/x/sys/unix"

	"millrace.dev/loop"
	"millrace.dev/transport/internal/rawsys"
)

// HandleIO implements loop.Handle.
func (c *Conn) HandleIO(ev loop.Event) {
	if ev.Ops&loop.OpShutdown != 0 {
		c.driver.LoopEnding(ev.Ops&loop.OpDone != 0)
		return
	}
	if c.flags&flagConnecting != 0 {
		c.finishConnect()
		return
	}
	if ev.Ops&(loop.OpRead|loop.OpHangup|loop.OpError) != 0 {
		switch {
		case c.flags&flagReading != 0:
			c.readBatch()
		case ev.Ops&(loop.OpHangup|loop.OpError) != 0:
			c.hungUp()
		}
	}
	if ev.Ops&loop.OpWrite != 0 && c.flags&flagWriteWait != 0 {
		c.flags &^= flagWriteWait
		c.driver.WriteReady()
		if c.fd >= 0 && c.flags&flagWriteWait == 0 {
			c.rearm()
		}
	}
}

// readBatch reads until the socket is empty, the batch is full, or nobody wants more.
func (c *Conn) readBatch() {
	d := c.driver
	ch := d.Channel()
	allocator, config := ch.Allocator(), ch.Config()
	var begun, ended bool
	var failed syscall.Errno
	for range config.MaxReadsPerTurn {
		b := allocator.Allocate(c.sizing.Next())
		room := b.Writable()
		n, errno := rawsys.Read(int(c.fd), room)
		if n <= 0 {
			b.Close()
			ended = errno == 0
			if errno != unix.EAGAIN {
				failed = errno
			}
			break
		}
		b.Advance(n)
		c.sizing.Record(n, len(room), config)
		if !begun {
			begun = true
			d.BeginBatch()
		}
		d.Read(b)
		if n < len(room) || !d.Reading() {
			break
		}
	}
	if begun {
		d.EndBatch()
	}
	switch {
	case c.fd < 0:
	case ended && d.Reading(): // else the next read finds it again
		d.InputClosed()
	case failed != 0:
		d.Fail(c.opError("read", failed))
	}
}

// hungUp handles the end of a connection, or of the peer's direction, while nobody reads.
// An error ends the channel now. Otherwise there may be bytes that somebody will still
// read, and the end after them: the poller must only stop to report it.
func (c *Conn) hungUp() {
	errno, err := unix.GetsockoptInt(int(c.fd), unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = syscall.Errno(errno)
	}
	if err != nil {
		c.driver.Fail(c.opError("read", err))
		return
	}
	if c.flags&flagHungUp != 0 {
		c.flags |= flagGone // this side had ended its direction before
	}
	c.flags |= flagHungUp
	c.rearm()
}
