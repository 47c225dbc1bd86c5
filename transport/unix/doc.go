// Package unix is the transport of Unix stream sockets over a loop's own descriptor
// events. It exists on Linux only; package std has the same channel semantics elsewhere.
package unix
