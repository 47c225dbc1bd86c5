package buffer

import (
	"fmt"
	"runtime"
	"sync"
)

// tracker is what the leak detector knows of a Buffer that it watches. It must not lead to
// the Buffer in any way: the runtime's cleanup, which holds the tracker, would keep the
// Buffer reachable for ever.
type tracker struct {
	level   LeakLevel
	size    int // capacity when allocated
	frames  int // of alloc that are in use
	alloc   [allocFrames]uintptr
	cleanup runtime.Cleanup
	history *history // from Advanced up
}

// history is what the levels from Advanced up keep besides.
type history struct {
	mu      sync.Mutex // for the cleanup's goroutine, which the runtime chooses
	touches [maxTouches]touch
	count   int // touches ever made; the last maxTouches are kept in a ring
	closed  touch
}

// touch is a place that a Buffer passed.
type touch struct {
	hint  string
	stack []uintptr
}

const (
	maxTouches  = 8  // records kept of each Buffer
	allocFrames = 16 // frames kept of an allocation, from Advanced up
	fewFrames   = 8  // frames kept of an allocation at Simple: each costs about 40 ns
	touchFrames = 6  // frames kept of a touch
)

// trackers recycles those without history: at level Simple, a Buffer that is watched is to
// cost no garbage.
var trackers = sync.Pool{New: func() any { return new(tracker) }}

func (t *tracker) stack() []uintptr { return t.alloc[:t.frames] }

// callers returns the stack from skip frames up, where 1 is its caller.
func callers(skip int) []uintptr {
	pcs := make([]uintptr, touchFrames)
	return pcs[:runtime.Callers(skip+1, pcs)]
}

// track makes the leak detector watch b. The stack starts skip frames up, where 1 is
// track's caller.
func (b *Buffer) track(skip int) {
	t := trackers.Get().(*tracker)
	t.level = CurrentLeakLevel()
	t.size = cap(b.data)
	stack := t.alloc[:]
	if t.level >= Advanced {
		t.history = new(history)
	} else {
		stack = stack[:fewFrames]
	}
	t.frames = runtime.Callers(skip+1, stack)
	b.attach(t)
}

// attach makes t the tracker of b.
func (b *Buffer) attach(t *tracker) {
	if b.ext == nil {
		b.ext = extras.Get().(*extra)
	}
	b.ext.leak = t
	t.cleanup = runtime.AddCleanup(b, report, t)
}

// untrack ends that the leak detector watches b, and returns its tracker, if any.
func (b *Buffer) untrack() *tracker {
	x := b.ext
	if x == nil || x.leak == nil {
		return nil
	}
	t := x.leak
	t.cleanup.Stop()
	runtime.KeepAlive(b) // as long as b is reachable, Stop comes in time
	x.leak = nil
	b.dropExtra()
	return t
}

// drop recycles the tracker of a Buffer that was closed.
func (t *tracker) drop() {
	if t.history == nil {
		t.cleanup = runtime.Cleanup{}
		trackers.Put(t)
	}
}

// rememberClosed keeps t with the closed b, to say in a panic that call op closed it. The
// stack starts skip frames up, where 1 is rememberClosed's caller.
func (b *Buffer) rememberClosed(t *tracker, op string, skip int) {
	if t.history == nil {
		return // picked before the level was raised
	}
	t.history.closed = touch{op, callers(skip + 1)}
	b.ext = &extra{leak: t}
}

// copy returns a tracker with what t knows.
func (t *tracker) copy() *tracker {
	c := &tracker{level: t.level, size: t.size, frames: t.frames, alloc: t.alloc}
	if h := t.history; h != nil {
		c.history = &history{touches: h.touches, count: h.count}
	}
	return c
}

// mergeTracker moves other's tracker to b, which takes other over by call op, unless b has
// one.
func (b *Buffer) mergeTracker(other *Buffer, op string) {
	if t := other.untrack(); t != nil {
		if b.ext == nil || b.ext.leak == nil {
			b.attach(t)
		} else {
			t.drop()
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
	t := p.copy()
	t.size = b.Len()
	b.attach(t)
}

// Touch records that the Buffer passes here, for the report should it be leaked: at leak
// levels Advanced and Paranoid, for a Buffer that is watched; else it costs next to
// nothing. hint tells the place: a string, or a fmt.Stringer that is asked at once, or
// any other value whose type is recorded.
func (b *Buffer) Touch(hint any) {
	if b.ext != nil && b.ext.leak != nil {
		b.touchSlow(hint)
	}
}

func (b *Buffer) touchSlow(hint any) {
	if b.data == nil {
		panic(b.closedError())
	}
	t := b.ext.leak
	if t.history == nil {
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
	h := t.history
	if h == nil {
		return
	}
	stack := callers(skip + 1)
	h.mu.Lock()
	h.touches[h.count%maxTouches] = touch{hint, stack}
	h.count++
	h.mu.Unlock()
}

// closedError returns the panic value for the use of a closed Buffer.
func (b *Buffer) closedError() error {
	if b.ext == nil || b.ext.leak == nil {
		return ErrClosed
	}
	t := b.ext.leak
	closed := t.history.closed
	return &closedError{Place{closed.hint, frames(closed.stack)}, Place{"", frames(t.stack())}}
}

// closedError says where a closed Buffer was closed. It wraps ErrClosed.
type closedError struct{ closed, allocated Place }

func (e *closedError) Error() string {
	return fmt.Sprintf("%v\nclosed by%vallocated%v", ErrClosed, e.closed, e.allocated)
}

func (e *closedError) Unwrap() error { return ErrClosed }
