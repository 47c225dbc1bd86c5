package loop

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Multiplying gives what dividing does: beside multiples of the tick, at both ends of the range,
// and anywhere.
func TestTicks(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	lengths := []time.Duration{minTick, minTick + 1, 1 << 17, time.Millisecond, DefaultTick, time.Second, 1 << 40, time.Hour, forever/2 + 1, forever}
	for range 100 {
		lengths = append(lengths, minTick+time.Duration(r.Int64N(int64(time.Hour))))
	}
	for _, length := range lengths {
		l := &Loop{ticks: ticksOf(length)}
		times := []time.Duration{0, 1, forever - 1, forever}
		for range 100 {
			at := time.Duration(r.Uint64() >> (1 + r.IntN(63)))
			multiple := at / length * length
			times = append(times, at, multiple, multiple+1, max(multiple-1, 0))
		}
		for _, at := range times {
			if at < 0 {
				continue // multiple+1 of forever
			}
			tick, rest := uint64(at/length), at%length
			if got := l.tickOf(at); got != tick {
				t.Fatalf("tick %d: %d has begun at %d, want %d", length, got, at, tick)
			}
			if rest == 0 && l.tickStart(tick) != at {
				t.Fatalf("tick %d: the %dth starts at %d, want %d", length, tick, l.tickStart(tick), at)
			}
			if rest > 0 {
				tick++
			}
			if got := l.tickAfter(at); got != tick {
				t.Fatalf("tick %d: %d begins after %d, want %d", length, got, at, tick)
			}
		}
	}
}
