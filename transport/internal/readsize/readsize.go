package readsize

import "millrace.dev/channel"

// Sizer remembers what the last reads of a connection were like: the next buffer is larger
// at once when a read has filled its buffer, and smaller after two that would have fitted
// into a quarter.
type Sizer struct {
	shift uint8 // the size is 1 << shift
	small uint8 // reads in a row that were small
}

const minShift = 9

// Init starts with the configured size, rounded up to a power of two.
func (s *Sizer) Init(config *channel.Config) {
	s.shift = minShift
	for s.shift < 30 && 1<<s.shift < config.ReadBuffer {
		s.shift++
	}
}

// Next returns the size of the next buffer, in bytes.
func (s *Sizer) Next() int { return 1 << s.shift }

// Record notes that n bytes came where there was room for so many.
func (s *Sizer) Record(n, room int, config *channel.Config) {
	switch {
	case n == room:
		s.small = 0
		if 1<<(s.shift+1) <= config.ReadBufferMax {
			s.shift++
		}
	case n <= room/4 && 1<<s.shift > config.ReadBuffer:
		if s.small++; s.small >= 2 {
			s.small = 0
			s.shift--
		}
	default:
		s.small = 0
	}
}
