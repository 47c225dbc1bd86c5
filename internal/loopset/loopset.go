package loopset

import (
	"slices"
	"sync"
	"sync/atomic"
)

var (
	members atomic.Pointer[[]uintptr]
	writing sync.Mutex
)

// Add marks the goroutine with the given name (see goid.Current) as one that must never
// block. The goroutine has to call Remove before it ends, because the runtime reuses names.
// Any goroutine may call it; adding a name twice has no further effect.
func Add(id uintptr) {
	writing.Lock()
	defer writing.Unlock()
	old := load()
	if slices.Contains(old, id) {
		return
	}
	grown := append(slices.Clip(slices.Clone(old)), id)
	members.Store(&grown)
}

// Remove takes the goroutine out of the set again. Any goroutine may call it.
func Remove(id uintptr) {
	writing.Lock()
	defer writing.Unlock()
	rest := slices.DeleteFunc(slices.Clone(load()), func(m uintptr) bool { return m == id })
	members.Store(&rest)
}

// Has reports whether the goroutine with the given name is a loop. Any goroutine may call it.
func Has(id uintptr) bool { return slices.Contains(load(), id) }

func load() []uintptr {
	if p := members.Load(); p != nil {
		return *p
	}
	return nil
}
