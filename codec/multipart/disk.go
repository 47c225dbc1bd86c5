package multipart

import "millrace.dev/buffer"

// disk is content in a temporary file. Small pieces are gathered, so that a body that comes
// in crumbs doesn't cost a system call for each.
type disk struct {
	file      TempFile
	allocator buffer.Allocator
	pending   *buffer.Buffer // what is yet to be written, or nil
}

// Pieces from directWrite on are written as they are; smaller ones are gathered up to
// gatherRoom.
const (
	directWrite = 16 << 10
	gatherRoom  = 64 << 10
)

func (d *disk) write(p []byte) error {
	if len(p) >= directWrite {
		if err := d.flush(); err != nil {
			return err
		}
		return d.put(p)
	}
	if d.pending != nil && d.pending.Available() < len(p) {
		if err := d.flush(); err != nil {
			return err
		}
	}
	if d.pending == nil {
		d.pending = d.allocator.Allocate(gatherRoom)
	}
	d.pending.Write(p)
	return nil
}

func (d *disk) put(p []byte) error {
	if _, err := d.file.Write(p); err != nil {
		return &StorageError{"write", err}
	}
	return nil
}

func (d *disk) flush() error {
	if d.pending == nil || d.pending.IsEmpty() {
		return nil
	}
	err := d.put(d.pending.Readable())
	d.pending.Reset()
	return err
}

// finish writes everything, and gives up the memory.
func (d *disk) finish() error {
	err := d.flush()
	d.release()
	return err
}

func (d *disk) release() {
	if d.pending != nil {
		d.pending.Close()
		d.pending = nil
	}
}

func (d *disk) close() error {
	d.release()
	return d.file.Close()
}
