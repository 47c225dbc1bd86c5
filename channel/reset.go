//go:build !windows

package channel

import (
	"errors"
	"syscall"
)

// isReset recognises the error of a connection that the peer has closed without a goodbye, or
// whose peer can't be reached any more, as keep-alive probes find out.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ETIMEDOUT) ||
		errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETUNREACH)
}
