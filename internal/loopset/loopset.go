package loopset

import (
	"sync"
	"sync/atomic"
)

// table is an open hash table that never changes once it is published. At least half of its
// slots are empty, so that a look-up ends soon, also one that finds nothing.
type table struct {
	shift uint // of a hash, to get the index of a slot
	slots []member
}

type member struct {
	id   uintptr // 0: the slot is empty
	loop any
}

var (
	members atomic.Pointer[table]
	writing sync.Mutex
)

func init() { members.Store(build(nil)) }

// Add marks the goroutine with the given name (see goid.Current) as that of loop, which must
// never block. The goroutine has to call Remove before it ends, because the runtime reuses
// names. Any goroutine may call it; adding a name again replaces its loop.
func Add(id uintptr, loop any) {
	change(func(rest []member) []member { return append(rest, member{id, loop}) }, id)
}

// Remove takes the goroutine out of the set again. Any goroutine may call it.
func Remove(id uintptr) {
	change(func(rest []member) []member { return rest }, id)
}

// change publishes what edit makes of the members other than id.
func change(edit func(rest []member) []member, id uintptr) {
	writing.Lock()
	defer writing.Unlock()
	var rest []member
	for _, m := range members.Load().slots {
		if m.id != 0 && m.id != id {
			rest = append(rest, m)
		}
	}
	members.Store(build(edit(rest)))
}

func build(list []member) *table {
	t := &table{shift: 63, slots: make([]member, 2)}
	for len(t.slots) < 2*len(list) {
		t.shift--
		t.slots = make([]member, 2*len(t.slots))
	}
	for _, m := range list {
		i := t.home(m.id)
		for t.slots[i].id != 0 {
			i = t.after(i)
		}
		t.slots[i] = m
	}
	return t
}

// home is where the search for id begins: Fibonacci hashing, since names are addresses that
// differ in their middle bits only.
func (t *table) home(id uintptr) int { return int(uint64(id) * 0x9e3779b97f4a7c15 >> t.shift) }

func (t *table) after(i int) int { return (i + 1) & (len(t.slots) - 1) }

// Loop returns the loop whose goroutine has the given name, or nil. Any goroutine may call it.
func Loop(id uintptr) any {
	t := members.Load()
	for i := t.home(id); ; i = t.after(i) {
		switch m := &t.slots[i]; m.id {
		case id:
			return m.loop
		case 0:
			return nil
		}
	}
}

// Has reports whether the goroutine with the given name is a loop. Any goroutine may call it.
func Has(id uintptr) bool {
	t := members.Load()
	for i := t.home(id); t.slots[i].id != 0; i = t.after(i) {
		if t.slots[i].id == id {
			return true
		}
	}
	return false
}
