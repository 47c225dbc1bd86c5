// Package callstack records where the program is, cheaply enough to do it for every buffer.
//
// runtime.Callers takes about 45 ns a frame. On amd64 and arm64 a stack is recognised by its
// return addresses instead, which the chain of frame pointers gives at 1 ns a frame; only one
// that wasn't seen lately is unwound in full. Elsewhere each is.
package callstack
