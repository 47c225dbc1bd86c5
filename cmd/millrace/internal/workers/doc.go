// Package workers runs work that may block away from the event loops, on a bounded number of
// goroutines with a bounded queue. When both are full it says so at once, so that a slow
// disk costs those who ask for files and nobody else.
package workers
