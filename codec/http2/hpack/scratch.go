package hpack

import (
	"slices"
	"sync"
)

// scratch is the memory that decoding a block needs when the Decoder's own few bytes are not
// enough. Decoders share them through a pool, because connections are idle for most of their
// time; one holds a scratch until the end of the block.
type scratch struct {
	pending []byte // the beginning of a field whose rest has not arrived
	text    []byte // decoded strings of the current field
}

// maxKept is the most memory that a scratch takes back to the pool.
const maxKept = 32 << 10

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func (d *Decoder) borrow() *scratch {
	if d.scratch == nil {
		d.scratch = scratches.Get().(*scratch)
	}
	return d.scratch
}

func (s *scratch) release() {
	if s != nil && cap(s.pending)+cap(s.text) <= maxKept {
		s.pending, s.text = s.pending[:0], s.text[:0]
		scratches.Put(s)
	}
}

// resetText forgets the strings of the field before.
func (d *Decoder) resetText() {
	if d.scratch != nil {
		d.text = d.scratch.text[:0]
	} else {
		d.text = d.small[:0]
	}
}

// reserveText makes room for n more bytes. What the field has in the text already may stay
// behind where it is: views keep that memory alive.
func (d *Decoder) reserveText(n int) {
	if cap(d.text)-len(d.text) >= n {
		return
	}
	if d.scratch == nil {
		d.text = d.borrow().text[:0]
	}
	d.text = slices.Grow(d.text, n)
	d.scratch.text = d.text
}
