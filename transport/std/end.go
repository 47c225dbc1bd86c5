package std

import (
	"errors"
	"os"
	"time"
)

// endOfInput is the reading goroutine's word to the loop that Read has seen the end.
//
// It may be false: a reset is told to one system call only, and when a write under way has
// been told, Read is left with what looks like an end in order. So the write is asked first.
type endOfInput struct{ conn *conn }

// RunTask implements loop.Task.
func (e endOfInput) RunTask() {
	c := e.conn
	if c.flags&flagClosed != 0 {
		return
	}
	if c.writing == nil || !isSocket(c.nc) || c.nc.SetWriteDeadline(time.Unix(1, 0)) != nil {
		c.in.End(nil)
		return
	}
	c.flags |= flagEnding // the write ends now, if it has not
}

// ended goes on after a write that the end of input has cut short, and returns how the write
// has ended for the channel.
func (c *conn) ended(err error) error {
	if c.flags&flagEnding == 0 {
		return err
	}
	c.flags &^= flagEnding
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	if err == nil {
		err = c.nc.SetWriteDeadline(time.Time{})
	}
	if err == nil {
		c.in.End(nil)
	}
	return err
}
