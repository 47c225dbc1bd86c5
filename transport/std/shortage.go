//go:build !windows

package std

import (
	"errors"
	"syscall"
)

// isShortage tells an error that passes by itself from the listener's end.
func isShortage(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) ||
		errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM)
}
