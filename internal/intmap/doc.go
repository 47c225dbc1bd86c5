// Package intmap maps small integers to values: the streams of a connection by their numbers,
// the packets under way by theirs. It is several times as fast as Go's own map for that (topic
// intmap of the microbenchmarks), and has no other use.
package intmap
