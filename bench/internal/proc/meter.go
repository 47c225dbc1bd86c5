package proc

import (
	"runtime"
	"time"
)

// Meter tells how much of the machine others used while something was measured. A program
// that has to wait for its turn finds cold caches, and a server finds more requests at once:
// a busy machine bends also what is measured in processor time.
type Meter struct {
	began time.Time
	busy  time.Duration
}

// StartMeter begins a span of time.
func StartMeter() (Meter, error) {
	busy, err := Busy()
	return Meter{time.Now(), busy}, err
}

// Others returns what part of the machine, in percent, was used since StartMeter by others
// than those whose processor time own is.
func (m Meter) Others(own time.Duration) (percent float64, err error) {
	busy, err := Busy()
	return others(time.Since(m.began), busy-m.busy, own), err
}

func others(wall, busy, own time.Duration) float64 {
	whole := wall.Seconds() * float64(runtime.NumCPU())
	return max(0, 100*(busy-own).Seconds()/whole) // the kernel's ticks can be a little behind
}
