//go:build race

package buffer

// raceEnabled says that sync.Pool drops things at random, so allocation counts mean nothing.
const raceEnabled = true
