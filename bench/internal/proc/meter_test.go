package proc

import (
	"math"
	"runtime"
	"testing"
	"time"
)

func TestOthers(t *testing.T) {
	t.Parallel()
	whole := time.Duration(runtime.NumCPU()) * time.Second
	if got := others(time.Second, whole/2, whole*3/10); math.Abs(got-20) > 1e-6 {
		t.Errorf("half of the machine busy, less three tenths: %v %%", got)
	}
	if got := others(time.Second, whole/2, whole); got != 0 {
		t.Errorf("more accounted for than was busy: %v %%", got)
	}
}

func TestMeter(t *testing.T) {
	t.Parallel()
	m, err := StartMeter()
	if err != nil {
		t.Fatal(err)
	}
	if percent, err := m.Others(time.Hour); percent != 0 || err != nil {
		t.Errorf("own time covers everything: %v %%, %v", percent, err)
	}
	if _, err := m.Others(-time.Hour); err != nil {
		t.Error(err)
	}
}
