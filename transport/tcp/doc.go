// Package tcp is the TCP transport over a loop's own descriptor events. It exists on Linux
// only; package std has the same channel semantics over Go's net package, on every system.
package tcp
