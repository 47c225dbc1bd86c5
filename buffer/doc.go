// Package buffer has the bytes that travel through a pipeline: owned, pooled buffers with
// two indexes, which can be split and composed without copying, and a detector for those
// that nobody closed.
package buffer
