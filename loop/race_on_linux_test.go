//go:build race

package loop

// raceEnabled: sync.Pool forgets things at random under the race detector, so allocations of what
// other goroutines hand over cannot be counted then.
const raceEnabled = true
