package goid

import "runtime"

// portable parses the number out of the header "goroutine 42 [running]:". The runtime
// offers no other portable way; it costs about a microsecond.
func portable() uintptr {
	var header [32]byte
	n := runtime.Stack(header[:], false)
	var id uintptr
	for _, c := range header[len("goroutine "):n] {
		if c < '0' || c > '9' {
			break
		}
		id = id*10 + uintptr(c-'0')
	}
	return id
}
