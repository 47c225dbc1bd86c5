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
	size    int       // capacity when allocated
	stack   []uintptr // of the allocation
	cleanup runtime.Cleanup

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
	allocFrames = 24 // frames kept of an allocation
	touchFrames = 6  // frames kept of a touch
)

func callers(skip, n int) []uintptr {
	pcs := make([]uintptr, n)
	return pcs[:runtime.Callers(skip+1, pcs)]
}

// track makes the leak detector watch b. The stack starts skip frames up, where 1 is
// track's caller.
func (b *Buffer) track(skip int) {
	b.attach(&tracker{
		level: CurrentLeakLevel(),
		size:  cap(b.data),
		stack: callers(skip+1, allocFrames),
	})
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
	x.leak = nil
	b.dropExtra()
	return t
}

// rememberClosed keeps t with the closed b, to say in a panic where b was closed.
func (b *Buffer) rememberClosed(t *tracker) {
	if t.closed.stack == nil {
		t.closed = touch{"Close", callers(4, touchFrames)}
	}
	b.ext = &extra{leak: t}
}

// handedTo returns a tracker for the struct that b left behind: closed by call op.
func (t *tracker) handedTo(op string) *tracker {
	return &tracker{
		level: t.level, size: t.size, stack: t.stack,
		closed: touch{op, callers(4, touchFrames)},
	}
}

// mergeTracker moves other's tracker to b, which takes other over, unless b has one.
func (b *Buffer) mergeTracker(other *Buffer, op string) {
	if t := other.untrack(); t != nil && (b.ext == nil || b.ext.leak == nil) {
		b.attach(t)
	}
	if b.ext != nil && b.ext.leak != nil {
		b.ext.leak.touch(op, 4)
	}
}

// inheritTracker makes the leak detector watch b, which was split off from parent.
func (b *Buffer) inheritTracker(parent *Buffer) {
	p := parent.ext.leak
	p.touch("Split", 4)
	t := &tracker{level: p.level, size: b.Len(), stack: p.stack, count: p.count}
	t.touches = p.touches
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
	if t.level < Advanced {
		return
	}
	// Only text is kept: any other hint could lead back to the Buffer.
	switch h := hint.(type) {
	case nil:
		t.touch("", 4)
	case string:
		t.touch(h, 4)
	case fmt.Stringer:
		t.touch(h.String(), 4)
	default:
		t.touch(fmt.Sprintf("%T", hint), 4)
	}
}

// touch records a touch. The stack starts skip frames up, where 1 is touch's caller.
func (t *tracker) touch(hint string, skip int) {
	if t.level < Advanced {
		return
	}
	stack := callers(skip, touchFrames)
	t.mu.Lock()
	t.touches[t.count%maxTouches] = touch{hint, stack}
	t.count++
	t.mu.Unlock()
}

// closedError returns the panic value for the use of a closed Buffer.
func (b *Buffer) closedError() error {
	if b.ext == nil || b.ext.leak == nil {
		return ErrClosed
	}
	t := b.ext.leak
	return &closedError{Place{t.closed.hint, frames(t.closed.stack)}, Place{"", frames(t.stack)}}
}

// closedError says where a closed Buffer was closed. It wraps ErrClosed.
type closedError struct{ closed, allocated Place }

func (e *closedError) Error() string {
	return fmt.Sprintf("%v\nclosed by %vallocated%v", ErrClosed, e.closed, e.allocated)
}

func (e *closedError) Unwrap() error { return ErrClosed }
