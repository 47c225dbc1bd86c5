package command

import (
	"millrace.dev/bootstrap"
	"millrace.dev/transport/std"
	"millrace.dev/transport/tcp"
	"millrace.dev/transport/unix"
)

// transports are the choices of --transport, the default first.
var transports = []string{"tcp", "std", "unix"}

// bootstrapTransport returns what carries the connections.
func (c *config) bootstrapTransport() bootstrap.Transport {
	switch c.transport.word {
	case "std":
		return std.New(std.Options{})
	case "unix":
		return unix.New(unix.Options{Backlog: int(c.backlog), RemoveStale: true})
	}
	return tcp.New(tcp.Options{Backlog: int(c.backlog), ReusePort: !bool(c.oneAcceptor)})
}
