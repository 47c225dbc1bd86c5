package unix

import "io/fs"

// Options are the options of Unix stream sockets.
type Options struct {
	// Backlog is how many connections may wait to be accepted; the system may lower it.
	// Default 4,096.
	Backlog int
	// Mode, if not 0, is what the socket's file is set to once it is bound.
	Mode fs.FileMode
	// KeepFile leaves the socket's file in place when the listener closes.
	KeepFile bool
	// RemoveStale removes a socket file that nobody listens on before binding to it.
	RemoveStale bool
	// ReceiveBuffer and SendBuffer set the socket's buffers, in bytes. 0 leaves them to the
	// system.
	ReceiveBuffer, SendBuffer int
}

const defaultBacklog = 4096
