package httpserver

import (
	"sync/atomic"

	"millrace.dev/loop"
)

// shard is what the connections of one loop share. But for the counters, which others
// read, it is for the loop only.
type shard struct {
	server *Server
	loop   *loop.Loop
	free   *Exchange // recycled ones, linked by next
	heads  heads
	frees  int

	workers workers

	requests, native, timeouts, panics counter
}

// counter has one writer, its loop, so that counting needs no locked instruction.
type counter struct{ atomic.Int64 }

func (c *counter) inc() { c.Store(c.Load() + 1) }

// maxFree bounds the Exchanges that a shard keeps.
const maxFree = 256

// shard returns the part of the server that belongs to the loop.
func (s *Server) shard(l *loop.Loop) *shard {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh := s.shards[l]
	if sh == nil {
		sh = &shard{server: s, loop: l}
		s.shards[l] = sh
	}
	return sh
}

// acquire returns an Exchange that is zero but for its generation.
func (sh *shard) acquire() *Exchange {
	x := sh.free
	if x == nil {
		return &Exchange{}
	}
	sh.free = x.next
	sh.frees--
	x.next = nil
	return x
}

// release recycles an Exchange. The next generation begins: what still refers to this one
// can tell.
func (sh *shard) release(x *Exchange) {
	*x = Exchange{generation: x.generation + 1}
	if sh.frees < maxFree {
		x.next = sh.free
		sh.free = x
		sh.frees++
	}
}

// Stats are a server's figures since it started.
type Stats struct {
	Connections int   `json:"connections"` // open
	Refused     int64 `json:"refused"`     // connections above MaxConns
	Requests    int64 `json:"requests"`    // received
	Native      int64 `json:"native"`      // of those, taken by Native
	Timeouts    int64 `json:"timeouts"`    // connections ended by a timeout
	Panics      int64 `json:"panics"`      // of handlers
}

// Stats returns the figures. Any goroutine may call it.
func (s *Server) Stats() Stats {
	st := Stats{Connections: s.Connections(), Refused: s.Refused()}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sh := range s.shards {
		st.Requests += sh.requests.Load()
		st.Native += sh.native.Load()
		st.Timeouts += sh.timeouts.Load()
		st.Panics += sh.panics.Load()
	}
	return st
}
