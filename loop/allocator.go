package loop

import (
	"time"

	"millrace.dev/buffer"
)

// groupMemory is what the loops of a group allocate buffers from.
type groupMemory struct {
	pool   *buffer.Pooled   // each loop has a cache of it; nil if
	shared buffer.Allocator // this is used as it is
}

func (m *groupMemory) init(o *Options) {
	if m.shared = o.Allocator; m.shared == nil {
		m.shared = buffer.NewPooled(buffer.PooledOptions{})
	}
	if m.shared != buffer.Unpooled() { // which has the same type, but nothing to cache
		m.pool, _ = m.shared.(*buffer.Pooled)
	}
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

// idleAfter is how long a loop has to be without work before it returns spare memory.
const idleAfter = time.Second

// idleState notices when a loop falls idle.
type idleState struct {
	last    time.Duration // when work was last seen
	seen    uint64        // amount of work then
	trimmed bool
}

// idleDeadline is called before each sleep and returns when the loop should look again whether it is
// idle. It trims the cache when it is.
func (l *Loop) idleDeadline() time.Duration {
	if l.cache == nil {
		return never
	}
	s, now := &l.idle, l.turnTime()
	if work := l.counters.events + l.counters.tasks; work != s.seen {
		*s = idleState{last: now, seen: work}
	} else if !s.trimmed && now-s.last >= idleAfter {
		l.cache.Trim()
		s.trimmed = true
	}
	if s.trimmed {
		return never
	}
	return s.last + idleAfter
}
