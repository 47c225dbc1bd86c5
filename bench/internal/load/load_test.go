package load

import (
	"math"
	"runtime"
	"testing"
	"time"
)

func TestOthers(t *testing.T) {
	t.Parallel()
	start := time.Now()
	before := usage{at: start, server: time.Second, busy: time.Minute}
	whole := time.Duration(runtime.NumCPU()) * time.Second
	after := usage{at: start.Add(time.Second), server: time.Second + whole/10, busy: time.Minute + whole/2}
	if got := others(before, after, whole/5); math.Abs(got-20) > 1e-6 {
		t.Errorf("half of the machine busy, less a tenth and a fifth: %v %%", got)
	}
	if got := others(before, after, whole); got != 0 {
		t.Errorf("more accounted for than was busy: %v %%", got)
	}
}
