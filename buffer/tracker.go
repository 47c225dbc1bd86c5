package buffer

import (
	"fmt"
	"runtime"
	"sync"

	"millrace.dev/internal/callstack"
)

// tracker is what the leak detector knows of a Buffer that it watches. It must not lead to
// the Buffer in any way: the runtime's cleanup, which holds the tracker, would keep the
// Buffer reachable for ever.
//
// The cleanup is not the Buffer's, which would cost half a microsecond each time, but that of
// a sentinel: only the Buffer points to it, so that both become unreachable together, and
// after Close it goes on to watch another, with the same tracker and the same cleanup.
type tracker struct {
	mu      sync.Mutex // for the cleanup's goroutine, which the runtime chooses
	open    bool       // a Buffer has the sentinel
	level   LeakLevel
	size    int // capacity when allocated
	alloc   *callstack.Stack
	touches [maxTouches]*callstack.Stack // labelled with the hints
	count   int                          // touches ever made; the last maxTouches are kept in a ring
}

type sentinel struct{ *tracker }

const (
	maxTouches  = 8  // records kept of each Buffer
	allocFrames = 16 // frames kept of an allocation, from Advanced up
	fewFrames   = 8  // frames kept of an allocation at Simple
	touchFrames = 6  // frames kept of a touch
)

// sentinels are those that watch nothing. The pool drops some now and then; their cleanups
// find that nothing was lost.
var sentinels = sync.Pool{New: func() any {
	s := &sentinel{new(tracker)}
	runtime.AddCleanup(s, lost, s.tracker)
	return s
}}

// lost runs when a sentinel has become unreachable, on a goroutine of the runtime's.
func lost(t *tracker) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open {
		report(t)
	}
}

// track makes the leak detector watch b. The stack starts skip frames up, where 1 is
// track's caller.
func (b *Buffer) track(skip int) {
	level, depth := CurrentLeakLevel(), fewFrames
	if level >= Advanced {
		depth = allocFrames
	}
	at := callstack.Capture("", skip, depth)
	s := sentinels.Get().(*sentinel)
	s.mu.Lock()
	s.open, s.level, s.size, s.alloc, s.count = true, level, cap(b.data), at, 0
	s.mu.Unlock()
	b.attach(s)
}

// attach makes s the sentinel of b.
func (b *Buffer) attach(s *sentinel) {
	if b.ext == nil {
		b.ext = extras.Get().(*extra)
	}
	b.ext.leak = s
}

// untrack ends that the leak detector watches b, and returns its sentinel, if any.
func (b *Buffer) untrack() *sentinel {
	x := b.ext
	if x == nil || x.leak == nil {
		return nil
	}
	s := x.leak
	x.leak = nil
	b.dropExtra()
	return s
}

// drop retires the sentinel of a Buffer that was closed.
func (s *sentinel) drop() {
	s.mu.Lock()
	s.open = false
	s.mu.Unlock()
	sentinels.Put(s)
}

// copy returns a sentinel for a Buffer of size bytes, whose tracker knows else what that of s
// does.
func (s *sentinel) copy(size int) *sentinel {
	c := sentinels.Get().(*sentinel)
	s.mu.Lock()
	c.mu.Lock()
	c.open, c.level, c.size, c.alloc, c.count = true, s.level, size, s.alloc, s.count
	n := min(s.count, maxTouches)
	copy(c.touches[:n], s.touches[:n])
	c.mu.Unlock()
	s.mu.Unlock()
	return c
}

// mergeTracker moves other's sentinel to b, which takes other over by call op, unless b has
// one.
func (b *Buffer) mergeTracker(other *Buffer, op string) {
	if s := other.untrack(); s != nil {
		if b.ext == nil || b.ext.leak == nil {
			b.attach(s)
		} else {
			s.drop()
		}
	}
	if b.ext != nil && b.ext.leak != nil {
		b.ext.leak.touch(op, 4)
	}
}

// inheritTracker makes the leak detector watch b, which call op made from parent.
func (b *Buffer) inheritTracker(parent *Buffer, op string) {
	p := parent.ext.leak
	p.touch(op, 3)
	b.attach(p.copy(b.Len()))
}

// Touch records that the Buffer passes here, for the report should it be leaked: at leak
// levels Advanced and Paranoid, for a Buffer that is watched; else it costs next to
// nothing. hint tells the place: a string, or a fmt.Stringer that is asked at once, or
// any other value whose type is recorded.
func (b *Buffer) Touch(hint any) {
	if b.ext != nil {
		b.touchSlow(hint)
	}
}

func (b *Buffer) touchSlow(hint any) {
	if b.data == nil {
		panic(b.closedError())
	}
	t := b.ext.leak
	if t == nil || t.level < Advanced {
		return
	}
	// Only text is kept: any other hint could lead back to the Buffer.
	switch h := hint.(type) {
	case nil:
		t.touch("", 3)
	case string:
		t.touch(h, 3)
	case fmt.Stringer:
		t.touch(h.String(), 3)
	default:
		t.touch(fmt.Sprintf("%T", hint), 3)
	}
}

// touch records a touch. The stack starts skip frames up, where 1 is touch's caller.
func (t *tracker) touch(hint string, skip int) {
	if t.level < Advanced {
		return
	}
	at := callstack.Capture(hint, skip, touchFrames)
	t.mu.Lock()
	t.touches[t.count%maxTouches] = at
	t.count++
	t.mu.Unlock()
}
