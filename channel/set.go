package channel

// Set is the open channels of one loop, such as the connections that a server has
// accepted there. A channel leaves it by itself when it closes. A Set is for its loop
// only. The zero Set is empty and ready.
//
// It is for whoever makes the channels: a bootstrap.Server has its connections in Sets
// already. Others put channels into a Group of package channel/group.
type Set struct {
	// OnRemove, if set, is called for each channel that leaves.
	OnRemove func(ch *Channel)

	first *Channel
	count int
}

// Add puts an open channel into the set; a channel is in one set at the most, so it panics
// if ch is in one already.
func (s *Set) Add(ch *Channel) {
	if ch.set != nil {
		panic("channel: ch: is in a set already")
	}
	ch.set = s
	ch.setNext = s.first
	if s.first != nil {
		s.first.setPrev = ch
	}
	s.first = ch
	s.count++
}

// Len returns how many channels are in the set.
func (s *Set) Len() int { return s.count }

// Each calls f for each channel that was in the set at the call's start and still is. f
// may close any of them.
func (s *Set) Each(f func(ch *Channel)) {
	all := make([]*Channel, 0, s.count)
	for ch := s.first; ch != nil; ch = ch.setNext {
		all = append(all, ch)
	}
	for _, ch := range all {
		if ch.set == s {
			f(ch)
		}
	}
}

func (s *Set) remove(ch *Channel) {
	if ch.setPrev != nil {
		ch.setPrev.setNext = ch.setNext
	} else {
		s.first = ch.setNext
	}
	if ch.setNext != nil {
		ch.setNext.setPrev = ch.setPrev
	}
	ch.set, ch.setPrev, ch.setNext = nil, nil, nil
	s.count--
	if s.OnRemove != nil {
		s.OnRemove(ch)
	}
}
