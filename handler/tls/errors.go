package tls

import (
	"errors"
	"fmt"
	"os"
)

var (
	// ErrHandshakeTimeout fails a handshake that took longer than Options.HandshakeTimeout.
	// It is a net.Error with Timeout() true, and matches os.ErrDeadlineExceeded.
	ErrHandshakeTimeout error = timeoutError{}
	// ErrTruncated is in a Closed event: the peer, or somebody on the way, has ended the
	// connection without a close_notify alert (RFC 8446 section 6.1), so that what has come
	// may not be all that was sent.
	ErrTruncated = errors.New("tls: the peer ended the connection without close_notify")
)

type timeoutError struct{}

func (timeoutError) Error() string        { return "tls: handshake: not finished in time" }
func (timeoutError) Timeout() bool        { return true }
func (timeoutError) Temporary() bool      { return false }
func (timeoutError) Is(target error) bool { return target == os.ErrDeadlineExceeded }

// HandshakeError is what is fired, before the channel is closed, when a handshake fails, and
// what writes fail with that waited for its end.
type HandshakeError struct {
	// Err says what is wrong: what crypto/tls has returned, ErrHandshakeTimeout, or
	// channel.ErrClosed.
	Err error
}

// Error describes what is wrong.
func (e *HandshakeError) Error() string { return fmt.Sprintf("tls: handshake: %v", e.Err) }

// Unwrap returns Err.
func (e *HandshakeError) Unwrap() error { return e.Err }

// RecordError is what is fired, before the channel is closed, when what has come can't be
// decrypted, or the peer has sent a fatal alert.
type RecordError struct {
	// Err is what crypto/tls has returned.
	Err error
}

// Error describes what is wrong.
func (e *RecordError) Error() string { return fmt.Sprintf("tls: %v", e.Err) }

// Unwrap returns Err.
func (e *RecordError) Unwrap() error { return e.Err }
