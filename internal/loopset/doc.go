// Package loopset knows which goroutines are event loops, so that a blocking call can
// refuse to run on one of them.
//
// The set is read for every blocking wait and changes only when a loop starts or ends,
// so readers load an immutable slice and writers replace it. There are about as many
// loops as processors: a linear scan is cheaper than a map.
package loopset
