package std

import (
	"io"
	"net"
	"sync/atomic"
	"time"

	"millrace.dev/buffer"
	"millrace.dev/channel"
)

const (
	// maxRuns is how many runs one write gathers.
	maxRuns = 64
	// maxWrite bounds one write, in bytes: how far it has got shows only when it has ended.
	maxWrite = 64 << 10
	// closeGrace is how long a write that was under way at Close may go on.
	closeGrace = time.Second
)

// Write implements channel.Transport: it has another goroutine write what is in front of
// the queue, which keeps the messages until then.
func (c *conn) Write(q *channel.Queue) error {
	if c.failure != nil {
		return c.failure
	}
	for c.writing == nil && c.flags&flagClosed == 0 && !q.Empty() {
		op := &writeOp{conn: c, queue: q}
		if op.prepare() {
			c.writing = op
			go op.run()
			return nil
		}
		q.Progress(0) // empty messages only
	}
	return nil
}

// writeOp is one write under way.
type writeOp struct {
	conn   *conn
	queue  *channel.Queue
	region *channel.FileRegion // or
	runs   net.Buffers         // views into messages of the queue
	size   int64

	state   atomic.Uint32
	written int64
	err     error
	kept    []any // the messages, when Close has taken them out of the queue
}

// The states of a writeOp. Who gets it out of opRunning, the goroutine that writes or
// Close, decides who closes the connection.
const (
	opRunning = iota
	opDone
	opClosing
)

// prepare looks what is in front of the queue; false: nothing with bytes in it.
func (op *writeOp) prepare() bool {
	if r := op.queue.Region(); r != nil {
		op.region = r
		op.size = min(r.Count, maxWrite)
		return op.size > 0
	}
	op.runs = op.queue.Gather(make([][]byte, 0, maxRuns))
	for i, run := range op.runs {
		if left := maxWrite - op.size; int64(len(run)) >= left {
			op.runs[i] = run[:left]
			op.runs = op.runs[:i+1]
			op.size = maxWrite
			break
		}
		op.size += int64(len(run))
	}
	return op.size > 0
}

// run is the goroutine's.
func (op *writeOp) run() {
	c := op.conn
	if op.region != nil {
		op.written, op.err = sendFile(c.nc, op.region, op.size)
	} else {
		runs := op.runs // WriteTo consumes it
		op.written, op.err = runs.WriteTo(c.nc)
	}
	if op.state.CompareAndSwap(opRunning, opDone) {
		_ = c.driver.Loop().Run(op) // refused: the loop has ended, and closed the channel
		return
	}
	c.hangUp()
	op.dispose()
}

// dispose disposes of the messages that Close has taken out of the queue.
func (op *writeOp) dispose() {
	for _, msg := range op.kept {
		if b, ok := msg.(*buffer.Buffer); !ok || !b.IsClosed() { // by mistake of who wrote it
			channel.Dispose(msg)
		}
	}
}

// sendFile writes size bytes of the file, with the system's own means where nc has them.
func sendFile(nc net.Conn, r *channel.FileRegion, size int64) (int64, error) {
	if _, err := r.File.Seek(r.Offset, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.Copy(nc, io.LimitReader(r.File, size))
	if err == nil && n == 0 {
		err = channel.ErrFileTruncated
	}
	return n, err
}

// RunTask tells the channel how a write has ended, on its loop.
func (op *writeOp) RunTask() {
	c := op.conn
	if c.flags&flagClosed != 0 {
		return
	}
	c.writing = nil
	op.err = c.ended(op.err)
	op.queue.Progress(op.written)
	attached := c.flags&flagAttached != 0 // Progress runs listeners
	switch {
	case c.flags&flagClosed != 0:
	case op.err != nil && attached:
		c.driver.Fail(op.err)
	case op.err != nil:
		c.failure = op.err
	case attached:
		c.driver.WriteReady()
	}
}

// keep lets the write go on, for a while, when the channel closes; with reset it ends at
// once. It returns false when the write has ended already: then what it wrote counts.
func (op *writeOp) keep(reset bool) bool {
	if op.state.Load() == opDone {
		op.queue.Progress(op.written)
		return false
	}
	for left := op.size; left > 0 && !op.queue.Empty(); {
		msg := op.queue.Take()
		op.kept = append(op.kept, msg)
		left -= sizeOf(msg)
	}
	if op.state.CompareAndSwap(opRunning, opClosing) {
		grace := time.Now()
		if !reset {
			grace = grace.Add(closeGrace)
		}
		_ = op.conn.nc.SetWriteDeadline(grace) // without one the write ends with the connection
		return true
	}
	op.dispose()
	return false
}

func sizeOf(msg any) int64 {
	switch m := msg.(type) {
	case *buffer.Buffer:
		if m.IsClosed() {
			return 0
		}
		return int64(m.Len())
	case *channel.FileRegion:
		return m.Count
	}
	return 0
}
