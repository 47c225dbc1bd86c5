package channel

import "sync/atomic"

// AttributeKey names a value that a channel carries for its handlers. Keys are compared by
// identity: make one with NewAttributeKey and keep it in a variable.
type AttributeKey[T any] struct {
	id   uint64
	name string
}

var lastKey atomic.Uint64

// NewAttributeKey returns a new key; name is for people.
func NewAttributeKey[T any](name string) *AttributeKey[T] {
	return &AttributeKey[T]{id: lastKey.Add(1), name: name}
}

// String returns the key's name.
func (k *AttributeKey[T]) String() string { return k.name }

// Get returns the channel's value. It takes no lock; any goroutine may call it.
func (k *AttributeKey[T]) Get(ch *Channel) (value T, ok bool) {
	a := ch.attributes.get(k.id)
	if a == nil {
		return value, false
	}
	value, _ = a.value.(T) // it is nil when T is an interface and the value nil
	return value, true
}

// Set sets the channel's value. Any goroutine may call it.
func (k *AttributeKey[T]) Set(ch *Channel, value T) { ch.attributes.set(k.id, value) }

// Delete removes the channel's value. Any goroutine may call it.
func (k *AttributeKey[T]) Delete(ch *Channel) { ch.attributes.delete(k.id) }

// attributes is a sorted array that is copied for each change and published whole, so that
// a look-up needs neither lock nor allocation.
type attributes struct {
	list atomic.Pointer[[]attribute]
}

type attribute struct {
	id    uint64
	value any
}

func (a *attributes) snapshot() []attribute {
	if p := a.list.Load(); p != nil {
		return *p
	}
	return nil
}

// counted is the length up to which a list is not halved any more: looking at all the rest, one
// independent of the other, is faster.
const counted = 8

// find returns where the attribute is, or would be. It has no branch that depends on what it
// looks for, since that would be mispredicted every second time. Identifiers are below 1<<63, so
// that the sign of a difference says which is less.
func find(list []attribute, id uint64) (int, bool) {
	at := 0
	rest := list
	for len(rest) > counted {
		half := len(rest) / 2
		less := int((rest[half-1].id - id) >> 63)
		at += half & -less
		rest = list[at : at+len(rest)-half]
	}
	for ; len(rest) >= 4; rest = rest[4:] {
		at += int((rest[0].id-id)>>63 + (rest[1].id-id)>>63 + (rest[2].id-id)>>63 + (rest[3].id-id)>>63)
	}
	for i := range rest {
		at += int((rest[i].id - id) >> 63)
	}
	return at, at < len(list) && list[at].id == id
}

// get returns the attribute, which does not change, or nil.
func (a *attributes) get(id uint64) *attribute {
	list := a.snapshot()
	if i, ok := find(list, id); ok {
		return &list[i]
	}
	return nil
}

func (a *attributes) set(id uint64, value any) {
	a.change(func(old []attribute) []attribute {
		i, found := find(old, id)
		list := make([]attribute, 0, len(old)+1)
		list = append(list, old[:i]...)
		list = append(list, attribute{id, value})
		if found {
			i++
		}
		return append(list, old[i:]...)
	})
}

func (a *attributes) delete(id uint64) {
	a.change(func(old []attribute) []attribute {
		i, found := find(old, id)
		if !found {
			return old
		}
		list := make([]attribute, 0, len(old))
		list = append(list, old[:i]...)
		return append(list, old[i+1:]...)
	})
}

// change publishes what edit makes of the current list, again if another goroutine was
// faster.
func (a *attributes) change(edit func(old []attribute) []attribute) {
	for {
		p := a.list.Load()
		var old []attribute
		if p != nil {
			old = *p
		}
		list := edit(old)
		if a.list.CompareAndSwap(p, &list) {
			return
		}
	}
}
