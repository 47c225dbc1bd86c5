package httpserver

import (
	"sync"
	"sync/atomic"

	"millrace.dev/buffer"
)

// firstBuffer is the room that a small answer's content has to begin with.
const firstBuffer = 2 << 10

// maxSpares is how many buffers a loop sets aside at the most: 128 KiB of them. moreSpares is
// how many it adds to those needed, so that it need not look after them for each request.
const (
	maxSpares  = 64
	moreSpares = 8
)

// spareBuffers are set aside by the loop, where buffers cost least, for the handlers that are
// about to write: on a worker's goroutine each would take the lock that all loops share. No
// request has one before it has something to say, which may be long after it was handed over.
type spareBuffers struct {
	mu   sync.Mutex
	n    atomic.Int32 // changes under mu only
	free [maxSpares]*buffer.Buffer
}

// stock sees to it that there is one for each of n handlers, up to the bound. It is for the
// loop.
func (s *spareBuffers) stock(a buffer.Allocator, n int) {
	if int(s.n.Load()) >= min(n, maxSpares) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := int(s.n.Load()); i < min(n+moreSpares, maxSpares); i++ {
		s.free[i] = a.Allocate(firstBuffer)
		s.n.Store(int32(i + 1))
	}
}

// take returns one, or nil. The caller closes it.
func (s *spareBuffers) take() *buffer.Buffer {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.n.Load() - 1
	if i < 0 {
		return nil
	}
	b := s.free[i]
	s.free[i] = nil
	s.n.Store(i)
	return b
}

// drop gives all of them back.
func (s *spareBuffers) drop() {
	for b := s.take(); b != nil; b = s.take() {
		b.Close()
	}
}

// answerBuffer returns a buffer with room for n bytes of content, and for some more. Any
// goroutine may call it.
func (sh *shard) answerBuffer(n int) *buffer.Buffer {
	if n <= firstBuffer {
		if b := sh.workers.spares.take(); b != nil {
			return b
		}
	}
	return sh.loop.Allocator().Allocate(max(n, firstBuffer))
}
