// Package race says whether the race detector is built in. It makes sync.Pool drop things at
// random and allocates itself, so that tests which count allocations skip what they then can't.
package race
