package hpack

import "sync"

// scratch is the memory that decoding a block may need. Decoders share them through a pool,
// because connections are idle for most of their time; one holds a scratch from the first
// string that needs it until the end of the block.
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

// reset forgets the strings of the field before.
func (s *scratch) reset() {
	if s != nil {
		s.text = s.text[:0]
	}
}

// keep copies p. When the text has to move for it, what was handed out stays where it is.
func (s *scratch) keep(p []byte) []byte {
	start := len(s.text)
	s.text = append(s.text, p...)
	return s.text[start:]
}

// decode is keep for a Huffman-encoded string.
func (s *scratch) decode(p []byte) ([]byte, error) {
	start := len(s.text)
	text, err := appendDecoded(s.text, p)
	if err != nil {
		return nil, err
	}
	s.text = text
	return text[start:], nil
}
