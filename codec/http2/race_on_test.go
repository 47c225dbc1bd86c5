//go:build race

package http2

// The race detector makes sync.Pool forget at random, so that allocations can't be counted.
const raceEnabled = true
