//go:build !windows

package std

import (
	"errors"
	"slices"
	"syscall"
)

// lost are what accept(2) fails with because of one connection, which has gone by then.
var lost = []error{syscall.ECONNABORTED, syscall.ECONNRESET, syscall.EPROTO, syscall.ENETDOWN,
	syscall.EHOSTDOWN, syscall.EHOSTUNREACH, syscall.ENETUNREACH}

// isLost tells the error of a connection from one of the listener.
func isLost(err error) bool {
	return slices.ContainsFunc(lost, func(one error) bool { return errors.Is(err, one) })
}

// isShortage tells an error that passes by itself from the listener's end.
func isShortage(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) ||
		errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM)
}
