//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package buffer

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// mapMemory returns n bytes outside of the Go heap, or nil. n is a multiple of the page size.
func mapMemory(n int) []byte {
	mem, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return mem
}

// unmapMemory ends the mapping of all of what mapMemory returned.
func unmapMemory(mem []byte) {
	if err := unix.Munmap(mem); err != nil {
		panic("buffer: munmap: " + err.Error()) // of what isn't mapped: a bug here
	}
}

// discardMemory gives the pages of mem back to the system and leaves the addresses mapped.
// Linux does so at once and shows zeros from then on, the others when they run short. Where
// it fails, as it does for locked pages, the memory just stays.
func discardMemory(mem []byte) {
	advice := unix.MADV_FREE
	if runtime.GOOS == "linux" {
		advice = unix.MADV_DONTNEED
	}
	_ = unix.Madvise(mem, advice)
}
