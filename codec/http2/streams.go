package http2

// streamTable finds streams by their identifier. Identifiers are given out in order, so the
// identifier itself is the hash; a Go map would cost more memory and leave garbage.
type streamTable struct {
	buckets []*stream // a power of two; nil while there has been no stream
	n       int
}

const firstBuckets = 8

func (t *streamTable) bucket(id uint32) **stream {
	return &t.buckets[id>>1&uint32(len(t.buckets)-1)]
}

func (t *streamTable) get(id uint32) *stream {
	if t.n == 0 {
		return nil
	}
	s := *t.bucket(id)
	for s != nil && s.id != id {
		s = s.chain
	}
	return s
}

func (t *streamTable) add(s *stream) {
	if t.n >= len(t.buckets) {
		t.grow()
	}
	b := t.bucket(s.id)
	s.chain, *b = *b, s
	t.n++
}

func (t *streamTable) grow() {
	old := t.buckets
	t.buckets = make([]*stream, max(firstBuckets, 2*len(old)))
	for _, s := range old {
		for s != nil {
			next := s.chain
			b := t.bucket(s.id)
			s.chain, *b = *b, s
			s = next
		}
	}
}

func (t *streamTable) remove(s *stream) {
	at := t.bucket(s.id)
	for *at != s {
		at = &(*at).chain
	}
	*at = s.chain
	s.chain = nil
	t.n--
}

// each calls fn for every stream; fn may remove the stream that it is given.
func (t *streamTable) each(fn func(s *stream)) {
	for i := range t.buckets {
		for s := t.buckets[i]; s != nil; {
			next := s.chain
			fn(s)
			s = next
		}
	}
}

// ending is how a stream has been closed.
type ending uint8

const (
	unknown     ending = iota // long ago, or never open
	finished                  // both sides have sent END_STREAM
	resetByPeer               // frames after it are an error
	resetByUs                 // frames that were under way meanwhile are not
)

// closedStreams remembers how the last streams have ended: the bounded memory that RFC 9113
// section 5.1 asks for, to tell a late frame from a wrong one.
type closedStreams struct {
	// Identifiers are odd, so two bits are left for the ending.
	ring []uint32
	at   int
}

const (
	keptClosed  = 128 // streams remembered
	firstClosed = 8
)

func (c *closedStreams) add(id uint32, how ending) {
	entry := id>>1<<2 | uint32(how)
	if len(c.ring) < keptClosed {
		if c.ring == nil {
			c.ring = make([]uint32, 0, firstClosed)
		}
		c.ring = append(c.ring, entry)
		return
	}
	c.ring[c.at] = entry
	c.at = (c.at + 1) % keptClosed
}

func (c *closedStreams) find(id uint32) ending {
	for i := len(c.ring) - 1; i >= 0; i-- {
		if entry := c.ring[i]; entry>>2 == id>>1 {
			return ending(entry & 3)
		}
	}
	return unknown
}
