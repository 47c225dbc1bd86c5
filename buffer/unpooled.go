package buffer

// unpooled is an allocator that keeps nothing. Pooled has what it takes, because it does the
// same with Buffers that are larger than every size class.
type unpooled struct{ from Pooled }

var (
	heapOnly    = &unpooled{Pooled{unpooled: true}}
	offHeapOnly = &unpooled{Pooled{unpooled: true, arena: arena{offHeap: true}}}
)

// Unpooled returns the allocator that takes all memory from the Go heap and leaves it to
// the garbage collector. It differs from New in that its Buffers are counted.
func Unpooled() Allocator { return heapOnly }

// Allocate implements Allocator.
func (u *unpooled) Allocate(capacity int) *Buffer { return sampled(u.from.allocate(capacity), 3) }

// Stats implements Allocator.
func (u *unpooled) Stats() Stats { return u.from.Stats() }
