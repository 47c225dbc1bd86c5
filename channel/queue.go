package channel

import (
	"sync"

	"millrace.dev/buffer"
)

// Queue holds a channel's outbound messages in the order of their writes: first those
// that are flushed and wait for the transport, then those that wait for a flush.
//
// Writes are numbered, and they leave in order, so that one number, the last write done,
// is the state of every write future of the channel: the ledger reads it.
//
// The entries live in storage that the queue has only while it holds something: most
// channels of a server are idle.
type Queue struct {
	ch    *Channel
	store *queueStore // nil: empty
	bytes int64       // bytes in entries that have not been sent
	next  uint64      // the number of the last write accepted
}

// queueStore is a queue's contents.
type queueStore struct {
	entries []queued
	head    int    // entries before it have been sent
	flushed int    // entries before it may be sent
	taken   uint64 // the number of the last write taken, done at the next Progress
}

// keptEntries is the capacity up to which storage is kept for another queue, in entries.
const keptEntries = 64

var queueStores = sync.Pool{New: func() any { return &queueStore{entries: make([]queued, 0, 4)} }}

// queued is a message and the number of the last write that it holds: small buffers are
// gathered into one.
type queued struct {
	msg  any // *buffer.Buffer, *FileRegion, or what a MessageTransport takes
	last uint64
}

// mergeLimit is the size in bytes up to which a buffer is copied behind the one before
// it: a copy of that size costs less than an iovec of its own.
const mergeLimit = 512

// add takes over msg of size bytes and returns the write's number.
func (q *Queue) add(msg any, size int64) uint64 {
	q.next++
	q.bytes += size
	if q.store == nil {
		q.store = queueStores.Get().(*queueStore)
	}
	q.store.add(msg, size, q.next, q.ch.wholeMessage)
	return q.next
}

func (s *queueStore) add(msg any, size int64, write uint64, whole bool) {
	if b, ok := msg.(*buffer.Buffer); ok && !whole && size <= mergeLimit && len(s.entries) > s.flushed {
		tail := &s.entries[len(s.entries)-1]
		if t, ok := tail.msg.(*buffer.Buffer); ok && mergeInto(t, b) {
			tail.last = write
			return
		}
	}
	if len(s.entries) == cap(s.entries) && s.head > len(s.entries)/2 {
		s.slide()
	}
	s.entries = append(s.entries, queued{msg, write})
}

// slide moves the entries to the front of their slice, which a queue that never quite
// empties would grow for ever. They are at most as many as have been sent since the last
// time, so that it costs a constant for each.
func (s *queueStore) slide() {
	n := copy(s.entries, s.entries[s.head:])
	clear(s.entries[n:])
	s.entries = s.entries[:n]
	s.flushed -= s.head
	s.head = 0
}

// mergeInto copies b to the end of tail if there is room for it as it is.
func mergeInto(tail, b *buffer.Buffer) bool {
	if tail.IsClosed() {
		return false // by mistake: the flush will tell
	}
	run, room := b.Readable(), tail.Writable()
	if len(room) < len(run) || len(run) != b.Len() {
		return false
	}
	tail.Advance(copy(room, run))
	b.Close()
	return true
}

// flush marks everything written so far as ready to be sent, and reports whether anything
// waits.
func (q *Queue) flush() bool {
	s := q.store
	if s == nil {
		return false
	}
	s.flushed = len(s.entries)
	return s.flushed > s.head
}

// Empty reports whether nothing flushed waits to be sent.
func (q *Queue) Empty() bool { return q.store == nil || q.store.head == q.store.flushed }

// Bytes returns the bytes that wait, flushed or not.
func (q *Queue) Bytes() int64 { return q.bytes }

// Gather appends the flushed bytes in front, up to the first message that isn't a
// buffer and up to cap(dst) runs, for one vectored write. The views are valid until
// Progress.
func (q *Queue) Gather(dst [][]byte) [][]byte {
	s := q.store
	if s == nil {
		return dst
	}
	for i := s.head; i < s.flushed && len(dst) < cap(dst); i++ {
		b, ok := s.entries[i].msg.(*buffer.Buffer)
		if !ok {
			break
		}
		if run := b.Readable(); len(run) == b.Len() {
			if len(run) > 0 {
				dst = append(dst, run)
			}
			continue
		}
		// Not all of its runs: it may have any number.
		for at := 0; at < b.Len() && len(dst) < cap(dst); at += len(dst[len(dst)-1]) {
			dst = append(dst, b.RunAt(at))
		}
	}
	return dst
}

// Front returns the flushed bytes in front as one run, when they are a single contiguous
// buffer and nothing else is flushed: the case for a plain write. ok is false otherwise.
func (q *Queue) Front() (run []byte, ok bool) {
	s := q.store
	if s == nil || s.flushed-s.head != 1 {
		return nil, false
	}
	b, ok := s.entries[s.head].msg.(*buffer.Buffer)
	if !ok {
		return nil, false
	}
	run = b.Readable()
	return run, len(run) == b.Len()
}

// Region returns the message in front if it is a file region, or nil.
func (q *Queue) Region() *FileRegion {
	if q.Empty() {
		return nil
	}
	r, _ := q.store.entries[q.store.head].msg.(*FileRegion)
	return r
}

// Take removes the flushed message in front and gives it away, for a transport that passes
// messages on whole; nil when there is none. Its write is done at the next Progress, with
// 0 bytes if need be, once the message has found its place: the listeners that Progress
// runs may have the next one sent.
func (q *Queue) Take() any {
	if q.Empty() {
		return nil
	}
	s := q.store
	e := s.entries[s.head]
	size, _ := q.ch.sizeOf(e.msg)
	s.entries[s.head] = queued{}
	s.head++
	q.bytes -= size
	q.ch.sent(size)
	s.taken = e.last
	return e.msg
}

// TakeBytes is Take for the first limit bytes of a buffer, which the caller then owns. It
// returns nil when there is none in front.
func (q *Queue) TakeBytes(limit int64) *buffer.Buffer {
	if q.Empty() {
		return nil
	}
	b, ok := q.store.entries[q.store.head].msg.(*buffer.Buffer)
	switch {
	case !ok:
		return nil
	case int64(b.Len()) <= limit:
		return q.Take().(*buffer.Buffer)
	}
	q.bytes -= limit
	q.ch.sent(limit)
	return b.Split(int(limit))
}

// Progress records that the transport has taken n bytes from the front. Messages that are
// sent whole are closed, and their writes succeed, as do those of messages that were taken.
// Those of a MessageTransport leave by Take only, however short they are.
func (q *Queue) Progress(n int64) {
	q.bytes -= n
	q.ch.sent(n)
	if n > 0 && q.ch.writeBlocked { // a write on another goroutine has got on
		q.ch.tookAt = q.ch.loop.Now()
	}
	s := q.store
	if s == nil {
		return
	}
	last := s.taken
	s.taken = 0
	for s.head < s.flushed && !q.ch.wholeMessage {
		e := &s.entries[s.head]
		left, taken := advance(e.msg, n)
		if left < 0 {
			if last != 0 {
				q.ch.writesDone(last)
			}
			q.ch.fail(newPanicError(nil, buffer.ErrClosed))
			return
		}
		n -= taken
		if left > 0 {
			break
		}
		last = e.last
		Dispose(e.msg)
		*e = queued{}
		s.head++
	}
	if s.head == len(s.entries) {
		q.release()
	}
	if last != 0 {
		q.ch.writesDone(last)
	}
	q.ch.checkLowWatermark()
}

// advance takes up to n bytes off msg; it returns what is left and what it took. A buffer that
// was closed after it was written has less than nothing left.
func advance(msg any, n int64) (left, taken int64) {
	switch m := msg.(type) {
	case *buffer.Buffer:
		if m.IsClosed() {
			return -1, 0
		}
		taken = min(n, int64(m.Len()))
		left = int64(m.Len()) - taken
		if left > 0 {
			m.Skip(int(taken))
		}
	case *FileRegion:
		taken = min(n, m.Count)
		m.Offset += taken
		m.Count -= taken
		left = m.Count
	}
	return left, taken
}

// release gives the storage of an empty queue away.
func (q *Queue) release() {
	s := q.store
	q.store = nil
	if cap(s.entries) > keptEntries {
		return // one burst has grown it
	}
	s.entries = s.entries[:0]
	s.head, s.flushed, s.taken = 0, 0, 0
	queueStores.Put(s)
}

// fail disposes of everything in the queue.
func (q *Queue) fail() {
	q.ch.dropped(q.bytes)
	q.bytes = 0
	s := q.store
	if s == nil {
		return
	}
	for i := s.head; i < len(s.entries); i++ {
		msg := s.entries[i].msg
		s.entries[i] = queued{}
		disposeUnlessClosed(msg) // by mistake
	}
	q.release()
}
