// Package buffertest makes a package's tests fail when they leak a buffer.
//
// Every Buffer that the tests allocate is watched (leak level Paranoid), uses of one after
// its Close panic, and pooled memory is overwritten when it is given back. That costs time and
// allocates, so that a test or a benchmark that counts either sets another [Level].
package buffertest
