package buffer

// Allocator hands out Buffers. Its methods may be called on any goroutine.
type Allocator interface {
	// Allocate returns an empty Buffer with room for at least capacity bytes. The memory
	// isn't zeroed. The caller closes the Buffer. It panics with ErrOutOfRange when
	// capacity is negative.
	Allocate(capacity int) *Buffer
	// Stats returns the allocator's figures.
	Stats() Stats
}

// Stats are an allocator's figures.
type Stats struct{ Allocs, Frees uint64 }

// PooledOptions configure NewPooled.
type PooledOptions struct{}

// Pooled is an allocator that keeps memory for reuse.
type Pooled struct{}

// NewPooled returns a pooled allocator.
func NewPooled(o PooledOptions) *Pooled { return &Pooled{} }

// Unpooled returns an allocator that takes memory from the Go heap and leaves it to the
// garbage collector.
func Unpooled() Allocator { return &Pooled{} }

// Allocate implements Allocator.
func (p *Pooled) Allocate(capacity int) *Buffer { return p.allocate(capacity).sampled() }

// Stats implements Allocator.
func (p *Pooled) Stats() Stats { return Stats{} }

func (p *Pooled) allocate(n int) *Buffer {
	if n < 0 {
		panic(&rangeError{"Allocate", n, 0})
	}
	blk := &block{mem: make([]byte, 0, n), pool: p}
	blk.refs.Store(1)
	return &Buffer{data: blk.mem, blk: blk}
}

func (p *Pooled) free(blk *block) {}

// Cache is a loop's own allocator.
type Cache struct{ pool *Pooled }

// NewCache returns a cache over p.
func (p *Pooled) NewCache() *Cache { return &Cache{pool: p} }

// Bind makes the calling goroutine the cache's owner.
func (c *Cache) Bind() {}

// Unbind ends the ownership and returns everything to the shared pool.
func (c *Cache) Unbind() {}

// Trim returns what hasn't been used lately.
func (c *Cache) Trim() {}

// Allocate implements Allocator.
func (c *Cache) Allocate(capacity int) *Buffer { return c.pool.Allocate(capacity) }

// Stats implements Allocator.
func (c *Cache) Stats() Stats { return c.pool.Stats() }
