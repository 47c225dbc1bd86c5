// Package allocs says where tests can count allocations. Under the race detector sync.Pool drops
// things at random, and some of what is measured allocates.
package allocs
