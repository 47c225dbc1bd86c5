package loop

import "sync"

// Recycler keeps structs of one type for use again: a bounded free list for each loop, which
// its goroutine uses without locks and atomic writes, in front of a sync.Pool that all
// goroutines share. What finds its loop's list full, or is put back on no loop, goes to the
// pool, and from there to whoever lacks one: nothing piles up where it is put back, and nothing
// is asked of the loop that it came from.
//
// The list of an idle loop is emptied, and that of one that ends goes with it. The pool is the
// collector's to empty. Like a Local, a Recycler should live as long as the loops.
type Recycler[T any] struct {
	lists  *Local[freeList[T]]
	shared sync.Pool // of *T
}

// freeList is a loop's part of a Recycler.
type freeList[T any] struct {
	spare []*T
	bound int
}

// Trim implements Trimmer.
func (f *freeList[T]) Trim() { f.spare = nil }

// NewRecycler returns a recycler that keeps up to bound structs for each loop, at least one.
// It makes new ones by make; nil means zero values.
func NewRecycler[T any](bound int, make func() *T) *Recycler[T] {
	if make == nil {
		make = func() *T { return new(T) }
	}
	init := func(*Loop) freeList[T] { return freeList[T]{bound: max(bound, 1)} }
	r := &Recycler[T]{lists: NewLocal(init, nil)}
	r.shared.New = func() any { return make() }
	return r
}

// Get returns a struct as it was put back, or a new one. Only l's goroutine may call it.
func (r *Recycler[T]) Get(l *Loop) *T {
	f := r.lists.at(l)
	if f == nil {
		f = r.lists.find(l)
	}
	if n := len(f.spare) - 1; n >= 0 {
		v := f.spare[n]
		f.spare[n] = nil
		f.spare = f.spare[:n]
		return v
	}
	return r.GetAnywhere()
}

// Put takes back a struct that the caller must not touch any more, and in which nothing should
// be left that keeps memory. It may come from another loop, or from none. Only l's goroutine may
// call it.
func (r *Recycler[T]) Put(l *Loop, v *T) {
	f := r.lists.at(l)
	if f == nil {
		f = r.lists.find(l)
	}
	if len(f.spare) < f.bound {
		f.spare = append(f.spare, v)
		return
	}
	r.PutAnywhere(v)
}

// GetAnywhere is Get for any goroutine.
func (r *Recycler[T]) GetAnywhere() *T { return r.shared.Get().(*T) }

// PutAnywhere is Put for any goroutine.
func (r *Recycler[T]) PutAnywhere(v *T) { r.shared.Put(v) }
