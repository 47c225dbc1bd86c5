//go:build race

package httpserver_test

// raceEnabled says whether the race detector is compiled in.
const raceEnabled = true
