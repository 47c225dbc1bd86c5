package buffer

import (
	"errors"
	"fmt"
)

var (
	// ErrClosed is the panic value (possibly wrapped) of every use of a Buffer after its
	// Close, a second Close included.
	ErrClosed = errors.New("buffer: used after Close")

	// ErrOutOfRange is wrapped by the panic value of a call that asks for more than the
	// Buffer has: more readable bytes, more room, an index outside of it. A caller that
	// doesn't know the length beforehand asks Len first.
	ErrOutOfRange = errors.New("buffer: out of range")

	// ErrVarintOverflow is returned by ReadUvarint for a varint of more than 64 bits.
	ErrVarintOverflow = errors.New("buffer: varint overflows 64 bits")

	errLeakLevel       = errors.New("want disabled, simple, advanced or paranoid")
	errNothingToUnread = errors.New("buffer: nothing to unread")
)

// rangeError says which call asked for what. It wraps ErrOutOfRange.
type rangeError struct {
	op         string
	want, have int
}

func (e *rangeError) Error() string {
	return fmt.Sprintf("buffer: %s(%d) with %d at hand: out of range", e.op, e.want, e.have)
}

func (e *rangeError) Unwrap() error { return ErrOutOfRange }

// refuse panics because a caller broke a rule: the buffer is closed, or else op wanted
// more than there is. Being one place for both keeps the accessors' fast paths at one
// compare: a closed buffer has no bytes and no room, so it always ends up here.
func (b *Buffer) refuse(op string, want, have int) {
	if b.data == nil {
		panic(b.closedError())
	}
	panic(&rangeError{op, want, have})
}
