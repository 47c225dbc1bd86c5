// Package goid names the running goroutine, so that a loop can tell in about two
// nanoseconds whether a call comes from its own goroutine.
//
// On amd64 and arm64 the name is the address of the runtime's g, read by two
// instructions; elsewhere it is the goroutine's number, parsed from a stack header.
// A name is unique among live goroutines only: the runtime reuses a g after its
// goroutine has ended, so an owner must clear what it stored before it returns.
package goid
