package codec

import (
	"errors"
	"fmt"
)

// DecodeError is what a decoder handler fires: the bytes that came are not what the
// protocol allows.
type DecodeError struct {
	// Err says what is wrong: what the Decoder has returned.
	Err error
	// Resumed reports that the decoder has skipped what it could not take and goes on
	// behind it. Otherwise nothing that follows on the connection is decoded.
	Resumed bool
}

// Error describes what is wrong.
func (e *DecodeError) Error() string { return "decode: " + e.Err.Error() }

// Unwrap returns Err.
func (e *DecodeError) Unwrap() error { return e.Err }

// EncodeError fails the future of a message that an encoder could not take. Nothing else tells
// of it; channel.FireErrorOnFailure as a listener makes it an error of the pipeline.
type EncodeError struct {
	Err error // what the Encoder has returned
}

// Error describes what is wrong.
func (e *EncodeError) Error() string { return "encode: " + e.Err.Error() }

// Unwrap returns Err.
func (e *EncodeError) Unwrap() error { return e.Err }

// TooLongError says that a frame or message is longer than its limit. The decoder skips it,
// without keeping its bytes, and goes on behind it.
type TooLongError struct {
	Limit int // bytes
	// Length is the length in bytes: the whole where it is known, else what has come so far.
	Length uint64
}

// Error gives both numbers.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("codec: frame: %d bytes or more are over the limit of %d", e.Length, e.Limit)
}

// Resumable marks it as an error after which the decoder goes on: see Resumable.
func (e *TooLongError) Resumable() bool { return true }

// Resumable is an error after which the bytes that follow still make sense, since the
// decoder has skipped what was wrong.
type Resumable interface {
	error
	Resumable() bool
}

func isResumable(err error) bool {
	var r Resumable
	return errors.As(err, &r) && r.Resumable()
}

// ErrCorruptFrame is wrapped by the error for a frame whose length contradicts itself. What
// follows can't be decoded.
var ErrCorruptFrame = errors.New("codec: frame: corrupt length")

// ErrPartOrder is wrapped by the error for parts of a message that come in the wrong order.
var ErrPartOrder = errors.New("codec: message: part out of order")
