package callstack

import "runtime"

// portableKey is key where frame pointers can't be had.
func portableKey(raw []uintptr) int { return runtime.Callers(3, raw) }
