package buffer

import (
	"os"
	"sync"
)

// What is outside of the Go heap: mapMemory, unmapMemory and discardMemory are the system's.

var systemPage = os.Getpagesize()

// mapPages returns memory for at least n bytes in whole pages, or nil when the system
// refuses.
func mapPages(n int) []byte {
	return mapMemory((max(n, 1) + systemPage - 1) &^ (systemPage - 1))
}

// regions keeps the addresses of the chunks of all pools that have been given back, for
// reuse. Their memory is the system's again, but they stay mapped: a view that is used after
// Close, the mistake that is easily made, reads zeros or what a later owner wrote there,
// as on the heap, and doesn't crash the program.
var regions struct {
	sync.Mutex
	free [][]byte
}

// takeRegion returns chunkSize bytes, or nil when the system refuses.
func takeRegion() []byte {
	regions.Lock()
	defer regions.Unlock()
	if n := len(regions.free); n > 0 {
		mem := regions.free[n-1]
		regions.free = regions.free[:n-1]
		return mem
	}
	return mapMemory(chunkSize)
}

// giveRegion takes it back.
func giveRegion(mem []byte) {
	discardMemory(mem)
	regions.Lock()
	defer regions.Unlock()
	regions.free = append(regions.free, mem)
}
