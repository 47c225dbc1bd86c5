//go:build !windows

package channel

import (
	"errors"
	"syscall"
)

// isReset recognises the error of a connection that the peer has closed without a goodbye.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
