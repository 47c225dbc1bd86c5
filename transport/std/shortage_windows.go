package std

import (
	"errors"
	"syscall"
)

// Winsock's numbers for running out of sockets and of buffers.
const (
	wsaEMFILE  = syscall.Errno(10024)
	wsaENOBUFS = syscall.Errno(10055)
)

// isShortage tells an error that passes by itself from the listener's end.
func isShortage(err error) bool {
	return errors.Is(err, wsaEMFILE) || errors.Is(err, wsaENOBUFS)
}

// isLost tells the error of a connection, which has gone by then, from one of the listener.
func isLost(err error) bool {
	return errors.Is(err, syscall.WSAECONNRESET) || errors.Is(err, syscall.WSAECONNABORTED)
}
