package buffer

import "sync/atomic"

// block is the header of a piece of memory that is counted: it knows the owners that share
// the memory and where it goes when there are none.
type block struct {
	mem   []byte       // all of it, empty: mem[:0:size]
	pool  *Pooled      // where its statistics and, if pooled, its memory belong
	refs  atomic.Int32 // Buffers that share mem; 1 also while the block is free
	class int32
}
