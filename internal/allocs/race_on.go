//go:build race

package allocs

// RaceDetector says that the race detector is built in.
const RaceDetector = true
