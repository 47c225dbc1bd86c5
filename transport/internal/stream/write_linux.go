package stream

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"

	"millrace.dev/channel"
	"millrace.dev/transport/internal/rawsys"
)

// maxWritesPerTurn bounds the system calls of one Write, so that a fast reader of a long
// answer leaves room for other channels; maxRegion bounds one sendfile and maxCopy one
// copy, in bytes.
const (
	maxWritesPerTurn = 16
	maxRegion        = 512 << 10
	maxCopy          = 64 << 10
)

// Write implements channel.Transport.
func (c *Conn) Write(q *channel.Queue) error {
	for range maxWritesPerTurn {
		if q.Empty() {
			return nil
		}
		sent, wanted, err := c.writeOnce(q)
		switch {
		case err == unix.EAGAIN:
			return c.waitWritable()
		case err != nil:
			return c.opError("write", err)
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
func (c *Conn) writeOnce(q *channel.Queue) (sent, wanted int, err error) {
	if run, ok := q.Front(); ok {
		if len(run) == 0 {
			return 0, 0, nil
		}
		n, errno := rawsys.Write(int(c.fd), run)
		return n, len(run), errorOf(errno)
	}
	if r := q.Region(); r != nil {
		return c.sendRegion(r)
	}
	var storage [rawsys.MaxRuns][]byte
	runs := q.Gather(storage[:0])
	switch len(runs) {
	case 0:
		return 0, 0, nil // empty buffers only
	case 1:
		n, errno := rawsys.Write(int(c.fd), runs[0])
		return n, len(runs[0]), errorOf(errno)
	}
	for _, run := range runs {
		wanted += len(run)
	}
	n, errno := rawsys.Writev(int(c.fd), runs)
	return n, wanted, errorOf(errno)
}

func errorOf(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

// sendRegion copies from the file to the socket inside the kernel. It may wait for the
// disk, so the scheduler is told.
func (c *Conn) sendRegion(r *channel.FileRegion) (sent, wanted int, err error) {
	wanted = int(min(r.Count, maxRegion))
	if wanted == 0 {
		return 0, 0, nil
	}
	offset := r.Offset
	n, err := unix.Sendfile(int(c.fd), int(r.File.Fd()), &offset, wanted)
	switch err {
	case nil:
		if n == 0 {
			return 0, wanted, channel.ErrFileTruncated
		}
		return n, n, nil // a short count is the file's doing as often as the socket's
	case unix.EINTR:
		return 0, 0, nil
	case unix.EINVAL, unix.ENOSYS, unix.EOVERFLOW:
		return c.copyRegion(r) // a file of a kind that sendfile(2) can't read
	}
	return 0, wanted, err
}

// copyRegion reads a piece of the file and writes it. What the socket doesn't take is read
// again.
func (c *Conn) copyRegion(r *channel.FileRegion) (sent, wanted int, err error) {
	b := c.driver.Channel().Allocator().Allocate(int(min(r.Count, maxCopy)))
	defer b.Close()
	room := b.Writable()
	room = room[:min(int64(len(room)), r.Count)]
	wanted, err = r.File.ReadAt(room, r.Offset)
	switch {
	case wanted > 0:
		n, errno := rawsys.Write(int(c.fd), room[:wanted])
		return n, wanted, errorOf(errno)
	case err == io.EOF:
		err = channel.ErrFileTruncated
	}
	return 0, 0, err
}

// waitWritable asks for WriteReady.
func (c *Conn) waitWritable() error {
	c.flags |= flagWriteWait
	return c.arm()
}
