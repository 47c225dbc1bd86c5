package buffer

import (
	"fmt"

	"millrace.dev/internal/callstack"
)

// closing says where a Buffer that was watched was closed, from leak level Advanced up.
type closing struct {
	op        string // the call that closed it, or took it over
	at, alloc *callstack.Stack
}

// rememberClosed notes in the closed b that call op closed it, for the panic of whoever uses
// it. The stack starts skip frames up, where 1 is rememberClosed's caller.
func (b *Buffer) rememberClosed(alloc *callstack.Stack, op string, skip int) {
	both := &struct {
		extra
		closing
	}{closing: closing{op, callstack.Capture(skip, touchFrames), alloc}}
	both.extra.closed = &both.closing
	b.ext = &both.extra
}

// closedError returns the panic value for the use of a closed Buffer.
func (b *Buffer) closedError() error {
	if b.ext == nil || b.ext.closed == nil {
		return ErrClosed
	}
	c := b.ext.closed
	return &closedError{Place{c.op, c.at.Frames()}, Place{"", c.alloc.Frames()}}
}

// closedError says where a closed Buffer was closed. It wraps ErrClosed.
type closedError struct{ closed, allocated Place }

func (e *closedError) Error() string {
	return fmt.Sprintf("%v\nclosed by%vallocated%v", ErrClosed, e.closed, e.allocated)
}

func (e *closedError) Unwrap() error { return ErrClosed }
