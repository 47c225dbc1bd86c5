//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package buffer

// Where memory can't be mapped it comes from the Go heap after all.

func mapMemory(n int) []byte { return make([]byte, n) }
func unmapMemory([]byte)     {}
func discardMemory([]byte)   {}
