package stream

import (
	"syscall"

	"golang.org/x/sys/unix"

	"millrace.dev/channel"
	"millrace.dev/transport/internal/rawsys"
)

// maxWritesPerTurn bounds the system calls of one Write, so that a fast reader of a long
// answer leaves room for other channels; maxRegion bounds one sendfile, in bytes.
const (
	maxWritesPerTurn = 16
	maxRegion        = 512 << 10
)

// Write implements channel.Transport.
func (c *Conn) Write(q *channel.Queue) error {
	for range maxWritesPerTurn {
		if q.Empty() {
			return nil
		}
		sent, wanted, errno := c.writeOnce(q)
		switch {
		case errno == unix.EAGAIN:
			return c.waitWritable()
		case errno != 0:
			return c.opError("write", errno)
		}
		// Progress runs listeners, which may close the channel.
		q.Progress(int64(sent))
		if c.fd < 0 {
			return nil
		}
		if sent < wanted {
			return c.waitWritable()
		}
	}
	return c.waitWritable()
}

// writeOnce makes one system call for what is in front of the queue.
func (c *Conn) writeOnce(q *channel.Queue) (sent, wanted int, errno syscall.Errno) {
	if run, ok := q.Front(); ok {
		if len(run) == 0 {
			return 0, 0, 0
		}
		n, errno := rawsys.Write(int(c.fd), run)
		return n, len(run), errno
	}
	if r := q.Region(); r != nil {
		return c.sendRegion(r)
	}
	var storage [rawsys.MaxRuns][]byte
	runs := q.Gather(storage[:0])
	switch len(runs) {
	case 0:
		return 0, 0, 0 // empty buffers only
	case 1:
		n, errno := rawsys.Write(int(c.fd), runs[0])
		return n, len(runs[0]), errno
	}
	for _, run := range runs {
		wanted += len(run)
	}
	n, errno := rawsys.Writev(int(c.fd), runs)
	return n, wanted, errno
}

// sendRegion copies from the file to the socket inside the kernel. It may wait for the
// disk, so the scheduler is told.
func (c *Conn) sendRegion(r *channel.FileRegion) (sent, wanted int, errno syscall.Errno) {
	wanted = int(min(r.Count, maxRegion))
	if wanted == 0 {
		return 0, 0, 0
	}
	offset := r.Offset
	n, err := unix.Sendfile(int(c.fd), int(r.File.Fd()), &offset, wanted)
	switch {
	case err == nil && n == 0:
		return 0, wanted, unix.ENODATA // the file is shorter than promised
	case err == nil:
		return n, n, 0 // a short count is the file's doing as often as the socket's
	}
	e, _ := err.(syscall.Errno)
	if e == unix.EINTR {
		return 0, 0, 0
	}
	return 0, wanted, e
}

// waitWritable asks for WriteReady.
func (c *Conn) waitWritable() error {
	c.flags |= flagWriteWait
	return c.arm()
}
