package buffer

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// mapMemory returns n bytes outside of the Go heap, or nil. n is a multiple of the page size.
func mapMemory(n int) []byte {
	addr, err := windows.VirtualAlloc(0, uintptr(n), windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return nil
	}
	// The address is none of Go's, which go vet can't know of a plain conversion.
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), n)
}

// unmapMemory ends the mapping of all of what mapMemory returned.
func unmapMemory(mem []byte) {
	if err := windows.VirtualFree(address(mem), 0, windows.MEM_RELEASE); err != nil {
		panic("buffer: VirtualFree: " + err.Error()) // of what isn't mapped: a bug here
	}
}

// discardMemory tells the system that it need not keep what mem holds, and leaves the
// addresses usable. They go on counting against the system's commit limit.
func discardMemory(mem []byte) {
	_, _ = windows.VirtualAlloc(address(mem), uintptr(len(mem)), windows.MEM_RESET, windows.PAGE_READWRITE)
}

func address(mem []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(mem))) }
