//go:build (amd64 || arm64) && !purego

package goid

// Current returns the name of the calling goroutine. It is never 0.
//
//go:noescape
func Current() uintptr
