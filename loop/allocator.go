package loop

import "millrace.dev/buffer"

// groupMemory is what the loops of a group allocate buffers from.
type groupMemory struct {
	pool   *buffer.Pooled   // each loop has a cache of it; nil if
	shared buffer.Allocator // this is used as it is
}

func (m *groupMemory) init(o *Options) {
	if m.shared = o.Allocator; m.shared == nil {
		m.shared = buffer.NewPooled(buffer.PooledOptions{})
	}
	m.pool, _ = m.shared.(*buffer.Pooled)
}

// Allocator returns the allocator that the group's loops share. Any goroutine may use it.
func (g *Group) Allocator() buffer.Allocator { return g.memory.shared }

// Allocator returns the loop's own allocator. With pooled memory it is a cache that needs no locks on
// the loop's goroutine; elsewhere it works too, more slowly.
func (l *Loop) Allocator() buffer.Allocator { return l.allocator }

func (l *Loop) initAllocator(m *groupMemory) {
	l.allocator = m.shared
	if m.pool != nil {
		l.cache = m.pool.NewCache()
		l.allocator = l.cache
		l.trims.Store(true)
	}
}

func (l *Loop) allocatorBind() {
	if l.cache != nil {
		l.cache.Bind()
	}
}

func (l *Loop) allocatorUnbind() {
	if l.cache != nil {
		l.cache.Unbind()
	}
}
