//go:build !linux

package command

import (
	"millrace.dev/bootstrap"
	"millrace.dev/transport/std"
)

// transports are the choices of --transport: elsewhere than on Linux there is one.
var transports = []string{"std"}

// bootstrapTransport returns what carries the connections.
func (c *config) bootstrapTransport() bootstrap.Transport { return std.New(std.Options{}) }
