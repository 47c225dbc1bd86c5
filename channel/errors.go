package channel

import "errors"

// Errors of channel operations.
var (
	// ErrClosed fails operations on a closed channel, and writes that were pending when
	// it closed.
	ErrClosed = errors.New("channel: closed")
	// ErrOutputShutdown fails writes after Shutdown(Outbound).
	ErrOutputShutdown = errors.New("channel: output was shut down")
	// ErrUnsupportedMessage fails the write of a message that the transport can't send, which
	// is logged too: a handler that should have encoded it is missing.
	ErrUnsupportedMessage = errors.New("channel: message: type can't be sent by the transport")
	// ErrUnsupportedEvent fails an outbound event that no handler took.
	ErrUnsupportedEvent = errors.New("channel: event: no handler takes it")
	// ErrRegistered fails a second Register.
	ErrRegistered = errors.New("channel: already registered")
	// ErrNotRegistered fails Bind and Connect before Register.
	ErrNotRegistered = errors.New("channel: not registered")
	// ErrConnectTimeout fails a connect that took longer than Config.ConnectTimeout.
	ErrConnectTimeout = errors.New("channel: connect timed out")
	// ErrConnectPending fails a Connect while another one is under way.
	ErrConnectPending = errors.New("channel: connect already under way")
	// ErrConnected fails a Connect or Bind of a channel that is connected or bound.
	ErrConnected = errors.New("channel: already connected or bound")
	// ErrNotConnected fails a Shutdown before there is a connection.
	ErrNotConnected = errors.New("channel: not connected")
	// ErrFileTruncated fails a FileRegion whose file ends before the region does. What was
	// promised can't be sent any more, so the channel closes.
	ErrFileTruncated = errors.New("channel: file region: the file ends before the region does")
)
