package loop

import (
	"math"
	"math/bits"
	"time"
)

// ticks counts time by the resolution of a loop's timers.
type ticks struct {
	length  uint64 // nanoseconds
	inverse uint64 // 1/length in units of 2^-64, rounded down
}

func ticksOf(length time.Duration) ticks {
	return ticks{uint64(length), math.MaxUint64 / uint64(length)}
}

// begun returns at/length, by multiplying, which is faster: each timer that is set waits for
// it. The product is too small by one at most, as inverse is by less than one unit.
func (k ticks) begun(at uint64) uint64 {
	n, _ := bits.Mul64(at, k.inverse)
	if at-n*k.length >= k.length {
		n++
	}
	return n
}

// tickOf is the last tick that has begun at the time.
func (l *Loop) tickOf(at time.Duration) uint64 { return l.ticks.begun(uint64(at)) }

// tickAfter is the first tick that begins at the time or later.
func (l *Loop) tickAfter(at time.Duration) uint64 {
	return l.ticks.begun(uint64(at) + l.ticks.length - 1)
}

// tickStart is when the tick begins.
func (l *Loop) tickStart(tick uint64) time.Duration {
	if tick > uint64(forever)/l.ticks.length {
		return forever
	}
	return time.Duration(tick * l.ticks.length)
}
