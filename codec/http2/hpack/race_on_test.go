//go:build race

package hpack

// The race detector makes sync.Pool forget at random, so that allocations can't be counted.
const raceEnabled = true
