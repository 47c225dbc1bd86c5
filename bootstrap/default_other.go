//go:build !linux

package bootstrap

import "millrace.dev/transport/std"

// DefaultTransport returns the transport used where none is given: TCP over Go's net
// package.
func DefaultTransport() Transport { return std.New(std.Options{}) }
