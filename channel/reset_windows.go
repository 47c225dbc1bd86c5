package channel

import (
	"errors"
	"syscall"
)

// isReset recognises the error of a connection that the peer has closed without a goodbye.
// Sockets have error numbers of their own here; the first two are package local's.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, syscall.WSAECONNRESET) || errors.Is(err, syscall.WSAECONNABORTED)
}
