// Package loopset knows which goroutines are event loops: a blocking call can so refuse to
// run on one of them, and loop-local storage finds the loop that it is called on.
//
// The set is read for every blocking wait and changes only when a loop starts or ends, so
// readers load an immutable hash table and writers replace it. Finding nothing, which is
// what happens on every other goroutine, costs the same as finding a loop.
package loopset
