package loop

import "sync/atomic"

// lastLocal numbers the Locals, from 1. A number is not used again, so a loop's table never
// takes one Local's value for another's.
var lastLocal atomic.Uint64

// localTable has one loop's values of all Locals that it has used: an open hash table whose
// size is a power of two and at least twice the number of values. Numbers in sequence have
// different places, so a value is nearly always where the search for it begins.
type localTable struct {
	slots []localSlot
	used  int
	made  uint64 // values made so far
}

type localSlot struct {
	id    uint64 // of the Local; 0: the slot is empty
	order uint64 // the value was the loop's order-th
	value any    // a *T
	end   func()
}

// init makes room for nothing: the search for a value then needs no case of its own.
func (t *localTable) init() { t.slots = make([]localSlot, 1) }

func (t *localTable) home(id uint64) int { return int(id) & (len(t.slots) - 1) }
func (t *localTable) after(i int) int    { return (i + 1) & (len(t.slots) - 1) }

// index returns where the value of a Local is, or -1.
func (t *localTable) index(id uint64) int {
	for i := t.home(id); t.slots[i].id != 0; i = t.after(i) {
		if t.slots[i].id == id {
			return i
		}
	}
	return -1
}

// add puts in a value that is not there yet.
func (t *localTable) add(s localSlot) {
	t.made++
	s.order = t.made
	if t.used++; 2*t.used > len(t.slots) {
		old := t.slots
		t.slots = make([]localSlot, 2*len(old))
		for _, s := range old {
			if s.id != 0 {
				t.put(s)
			}
		}
	}
	t.put(s)
}

func (t *localTable) put(s localSlot) {
	i := t.home(s.id)
	for t.slots[i].id != 0 {
		i = t.after(i)
	}
	t.slots[i] = s
}

// remove takes out what is at i. Those behind it that an empty slot would hide move up.
func (t *localTable) remove(i int) localSlot {
	out := t.slots[i]
	mask := len(t.slots) - 1
	for next := t.after(i); t.slots[next].id != 0; next = t.after(next) {
		if (next-t.home(t.slots[next].id))&mask >= (next-i)&mask {
			t.slots[i] = t.slots[next]
			i = next
		}
	}
	t.slots[i] = localSlot{}
	t.used--
	return out
}

// last returns where the value is that was made last, or -1.
func (t *localTable) last() int {
	last := -1
	for i, s := range t.slots {
		if s.id != 0 && (last < 0 || s.order > t.slots[last].order) {
			last = i
		}
	}
	return last
}

// endLocals ends all values. An end may use a Local whose value has gone, and so make another:
// those are ended too, up to a bound.
func (l *Loop) endLocals() {
	for bound := l.locals.used + maxNesting; bound > 0 && l.locals.used > 0; bound-- {
		l.endLocal(l.locals.remove(l.locals.last()))
	}
	l.locals.init()
}

func (l *Loop) endLocal(s localSlot) {
	defer l.contain("end of a loop-local value")
	s.end()
}

// trimLocals has the values give their spare memory back.
func (l *Loop) trimLocals() {
	for _, s := range l.locals.slots { // a Trim that uses another Local may replace the slice
		if t, ok := s.value.(Trimmer); ok {
			t.Trim()
		}
	}
}
