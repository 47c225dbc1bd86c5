package buffer

import (
	"fmt"
	"sync/atomic"

	"millrace.dev/internal/callstack"
)

// closing says where a Buffer that was watched was closed, from leak level Advanced up, and by
// which call: that is the label.
type closing struct{ at, alloc *callstack.Stack }

// closings has the latest of them, each in an extra of its own, which all Buffers share that
// lived from the one place to the other. What one pushes out is garbage when they are.
var closings [1024]atomic.Pointer[extra]

// rememberClosed notes in the closed b that call op closed it, for the panic of whoever uses
// it. The stack starts skip frames up, where 1 is rememberClosed's caller.
func (b *Buffer) rememberClosed(alloc *callstack.Stack, op string, skip int) {
	at := callstack.Capture(op, skip, touchFrames)
	place := &closings[(at.Hash()*31+alloc.Hash())%uintptr(len(closings))]
	x := place.Load()
	if x == nil || *x.closed != (closing{at, alloc}) {
		x = &extra{closed: &closing{at, alloc}}
		place.Store(x)
	}
	b.ext = x
}

// closedError returns the panic value for the use of a closed Buffer.
func (b *Buffer) closedError() error {
	if b.ext == nil || b.ext.closed == nil {
		return ErrClosed
	}
	c := b.ext.closed
	return &closedError{placeOf(c.at), placeOf(c.alloc)}
}

// closedError says where a closed Buffer was closed. It wraps ErrClosed.
type closedError struct{ closed, allocated Place }

func (e *closedError) Error() string {
	return fmt.Sprintf("%v\nclosed by%vallocated%v", ErrClosed, e.closed, e.allocated)
}

func (e *closedError) Unwrap() error { return ErrClosed }
