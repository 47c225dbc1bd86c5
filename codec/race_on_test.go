//go:build race

package codec_test

// raceEnabled: sync.Pool drops things on purpose then, so that counts of allocations vary.
const raceEnabled = true
