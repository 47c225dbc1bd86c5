package bootstrap

import "millrace.dev/transport/tcp"

// DefaultTransport returns the transport used where none is given: TCP over the loops' own
// descriptor events, with one listener for each loop.
func DefaultTransport() Transport { return tcp.New(tcp.Options{ReusePort: true}) }
