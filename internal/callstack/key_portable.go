//go:build !(amd64 || arm64) || purego

package callstack

func key(raw []uintptr) int { return portableKey(raw) }
