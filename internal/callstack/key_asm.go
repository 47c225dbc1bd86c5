//go:build (amd64 || arm64) && !purego

package callstack

// key fills raw with return addresses, the caller's first, and returns how many there are. It
// follows the frame pointers as long as they lead up the goroutine's own stack.
//
//go:noescape
func key(raw []uintptr) int
