package buffer

import "sync"

// Buffer structs are recycled: with their block in the free lists, else here, or on the
// owning goroutine of a Cache in its spare list. From leak level Advanced up none is, so
// that use after Close is always seen.

var structs = sync.Pool{New: func() any { return new(Buffer) }}

// takeStruct returns a struct that holds nothing.
func takeStruct() *Buffer {
	if keepClosed.Load() {
		return new(Buffer)
	}
	return structs.Get().(*Buffer)
}

// newStruct returns a struct that holds nothing, for a Buffer that will share blk.
func newStruct(blk *block) *Buffer {
	if blk != nil {
		if c := blk.home; c != nil && c.onOwner() {
			if b := c.spare; b != nil {
				c.spare = b.next
				b.next = nil
				c.spares--
				return b
			}
		}
	}
	return takeStruct()
}

// recycle takes back the struct of a closed Buffer that holds nothing any more. home is the
// cache of the memory that it held, if any.
func recycle(b *Buffer, home *Cache) {
	if keepClosed.Load() || b.ext != nil {
		return
	}
	if home != nil && home.onOwner() {
		if home.spares < maxSpares {
			b.next = home.spare
			home.spare = b
			home.spares++
		}
		return
	}
	structs.Put(b)
}

// maxSpares bounds the structs that a Cache keeps: 16 KiB.
const maxSpares = 256
