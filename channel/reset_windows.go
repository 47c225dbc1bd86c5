package channel

import (
	"errors"
	"syscall"
)

// The error numbers of sockets that package syscall doesn't name.
const (
	wsaENETUNREACH  syscall.Errno = 10051
	wsaETIMEDOUT    syscall.Errno = 10060
	wsaEHOSTUNREACH syscall.Errno = 10065
)

// isReset recognises the error of a connection that the peer has closed without a goodbye, or
// whose peer can't be reached any more, as keep-alive probes find out. Sockets have error
// numbers of their own here; the first two are package local's.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, syscall.WSAECONNRESET) || errors.Is(err, syscall.WSAECONNABORTED) ||
		errors.Is(err, wsaETIMEDOUT) || errors.Is(err, wsaEHOSTUNREACH) || errors.Is(err, wsaENETUNREACH)
}
