package std

import (
	"io"

	"millrace.dev/channel"
)

// startReader starts the reading goroutine, once the connection is there.
func (c *conn) startReader() {
	if c.nc == nil || c.flags&(flagReader|flagClosed) != 0 {
		return
	}
	c.flags |= flagReader
	go c.read(c.driver.Channel())
}

// read fills the inbox until the connection ends. The end of the channel shows as an error
// of Read or as an inbox that takes nothing more.
func (c *conn) read(ch *channel.Channel) {
	allocator, config := ch.Allocator(), ch.Config()
	for {
		for c.in.Room(1) == 0 {
			<-c.room
		}
		b := allocator.Allocate(c.sizing.Next())
		room := b.Writable()
		n, err := c.nc.Read(room)
		if n > 0 {
			b.Advance(n)
			c.sizing.Record(n, len(room), config)
		}
		if n <= 0 || !c.in.Put(b) {
			b.Close()
		}
		switch err {
		case nil:
		case io.EOF:
			c.in.End(nil)
			return
		default:
			c.in.End(err)
			return
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
