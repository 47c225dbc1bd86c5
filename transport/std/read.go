package std

import (
	"io"

	"millrace.dev/channel"
	"millrace.dev/transport/internal/inbox"
)

// startReader starts the reading goroutine, once the connection is there.
func (c *conn) startReader() {
	if c.nc == nil || c.readerEnded != nil || c.flags&flagClosed != 0 {
		return
	}
	c.readerEnded = make(chan struct{})
	go c.read(c.driver.Channel())
}

// read fills the inbox until the connection ends. The end of the channel shows as an error
// of Read or as an inbox that takes nothing more.
func (c *conn) read(ch *channel.Channel) {
	defer close(c.readerEnded)
	allocator, config := ch.Allocator(), ch.Config()
	for {
		if !c.awaitRoom() {
			return
		}
		b := allocator.Allocate(c.sizing.Next())
		room := b.Writable()
		n, err := c.nc.Read(room)
		if n > 0 {
			b.Advance(n)
			c.sizing.Record(n, len(room), config)
		}
		if n <= 0 {
			b.Close()
		} else if !c.in.Put(b) {
			c.dropped = true
			b.Close()
			return
		}
		switch err {
		case nil:
		case io.EOF:
			_ = c.driver.Loop().Run(endOfInput{c}) // refused: the loop has ended, and closed the channel
			return
		default:
			c.in.End(err)
			return
		}
	}
}

// awaitRoom waits until the inbox has room; false: the channel has closed.
func (c *conn) awaitRoom() bool {
	for {
		switch c.in.Room(1) {
		case inbox.Closed:
			return false
		case 0:
			<-c.room
		default:
			return true
		}
	}
}

// wakeReader lets the reading goroutine go on.
func (c *conn) wakeReader() {
	select {
	case c.room <- struct{}{}:
	default: // it was told already
	}
}
