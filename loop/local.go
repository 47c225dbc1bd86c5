package loop

import (
	"sync"

	"millrace.dev/internal/goid"
	"millrace.dev/internal/loopset"
)

// Local is a variable of which every loop has its own value, made when the loop first asks for
// it: a cache, a scratch buffer, a free list, used without locks because only that loop's
// goroutine touches it. It is what a thread-local variable is elsewhere.
//
// A Local is meant to be a variable of a package, or of something else that lives as long as
// the loops: its values stay with their loops, and the Local with them, until the loop ends or
// Remove is called. Nothing else remembers a Local. The zero Local is not usable.
type Local[T any] struct {
	id   uint64
	init func(*Loop) T
	end  func(*Loop, *T)
	away sync.Pool // of *T, for callers on no loop
}

// Trimmer is what the type *T of a Local[T] may be besides: a value that holds memory which is
// only worth having on a busy loop.
type Trimmer interface {
	// Trim gives spare memory back. It is called on the value's loop when that has had
	// nothing to do for a second or so.
	Trim()
}

// NewLocal returns a variable whose values init makes and end disposes of. A nil init makes
// zero values; a nil end leaves everything to the collector. Both run on the loop that they
// are given. Values of callers on no loop are made by init with a nil *Loop, and end never
// sees them.
//
// When a loop ends, its values do, after everything else that ran on it, and the one that was
// made last ends first: an init that uses other Locals can count on them in its end.
func NewLocal[T any](init func(*Loop) T, end func(*Loop, *T)) *Local[T] {
	return &Local[T]{id: lastLocal.Add(1), init: init, end: end}
}

// Get returns l's value, which is valid until Remove or the loop's end. Only l's goroutine may
// call it; that is checked when the value is made, and not, as it would cost more than the rest,
// each time. After the loop's end it returns a value that nothing keeps.
func (v *Local[T]) Get(l *Loop) *T {
	if s := v.slot(l); s.id == v.id {
		return s.value.(*T)
	}
	return v.find(l)
}

// slot is where the value is, if it is at its first place.
func (v *Local[T]) slot(l *Loop) *localSlot {
	return &l.locals.slots[v.id&uint64(len(l.locals.slots)-1)]
}

// at is Get for a value at its first place, and nil otherwise. Unlike Get it is small enough
// for the compiler to make it a part of its caller.
func (v *Local[T]) at(l *Loop) *T {
	if s := v.slot(l); s.id == v.id {
		return s.value.(*T)
	}
	return nil
}

// Current returns the value of the loop that the caller runs on, or nil if that is none. Any
// goroutine may call it.
func (v *Local[T]) Current() *T {
	if l := Current(); l != nil {
		return v.Get(l)
	}
	return nil
}

// Use calls f with the value of the loop that the caller runs on. On any other goroutine f
// gets a value that nobody else has until f returns, and that is then kept for other callers, as
// in a sync.Pool: nothing is tied to the goroutine, so nothing is left when it ends. f must not
// keep the value. Any goroutine may call it.
func (v *Local[T]) Use(f func(value *T)) {
	if l := Current(); l != nil {
		f(v.Get(l))
		return
	}
	value, ok := v.away.Get().(*T)
	if !ok {
		value = v.make(nil)
	}
	f(value)
	v.away.Put(value) // not if f panics: who knows what state it is in
}

// Remove ends l's value, if it has one; a later Get makes another. Only l's goroutine may call
// it.
func (v *Local[T]) Remove(l *Loop) {
	l.mustBeOn("Local.Remove")
	if i := l.locals.index(v.id); i >= 0 {
		l.locals.remove(i).end()
	}
}

// find is Get when the value is not at its first place.
func (v *Local[T]) find(l *Loop) *T {
	if i := l.locals.index(v.id); i >= 0 {
		return l.locals.slots[i].value.(*T)
	}
	l.mustBeOn("Local.Get")
	value := v.make(l)
	if l.over.Load() {
		return value
	}
	if i := l.locals.index(v.id); i >= 0 { // init has asked for it
		return l.locals.slots[i].value.(*T)
	}
	s := localSlot{id: v.id, value: value, end: func() {}}
	if v.end != nil {
		s.end = func() { v.end(l, value) }
	}
	l.locals.add(s)
	if _, ok := s.value.(Trimmer); ok {
		l.trims.Store(true)
	}
	return value
}

func (v *Local[T]) make(l *Loop) *T {
	value := new(T)
	if v.init != nil {
		*value = v.init(l)
	}
	return value
}

// Current returns the loop whose goroutine the caller runs on, or nil. It costs a few
// nanoseconds, on a loop or not. A loop that is driven by hand, as Manual does, is not found:
// the goroutine is not the loop's own. Any goroutine may call it.
func Current() *Loop {
	l, _ := loopset.Loop(goid.Current()).(*Loop)
	return l
}
