// Package rawsys makes the system calls of the hot path on non-blocking descriptors
// without telling Go's scheduler: they can't block, and entering and leaving the scheduler
// costs a loop about a quarter of its speed.
//
// Only calls that return at once belong here. Calls that may wait for a disk, such as
// sendfile(2), go through the ordinary packages.
package rawsys
