package buffer

import "testing"

// TestSamplingIsEven checks the sample that a Cache's owner draws: of the right size, and
// with no place left out when the allocations of a program repeat in a pattern.
func TestSamplingIsEven(t *testing.T) {
	c := boundCache(t, PooledOptions{})
	SetLeakLevel(Simple)
	defer SetLeakSampling(defaultSampling)
	for _, interval := range []int{1, 4, 32, 128} {
		SetLeakSampling(interval)
		total := 512 * interval
		for _, period := range []int{1, 2, 3, 5, 8, 16, 29} {
			if period > 2*interval {
				break
			}
			c.dice = 1 // the same draw in every run
			hits := make([]int, period)
			sum := 0
			for i := range total {
				b := c.Allocate(100)
				if b.ext != nil {
					hits[i%period]++
					sum++
				}
				b.Close()
			}
			want := total / interval
			if sum < want*3/4 || sum > want*5/4 {
				t.Fatalf("interval %d: %d of %d picked, want about %d", interval, sum, total, want)
			}
			if want/period < 16 {
				continue
			}
			for i, n := range hits {
				if n < want/period/4 || n > want/period*3 {
					t.Fatalf("interval %d: place %d of %d picked %d times, want about %d", interval, i, period, n, want/period)
				}
			}
		}
	}
}

func TestSamplingElsewhere(t *testing.T) {
	withLevel(t, Simple)
	defer SetLeakSampling(defaultSampling)
	SetLeakSampling(4)
	p := NewPooled(PooledOptions{})
	sum := 0
	const total = 40_000
	for range total {
		b := p.Allocate(100)
		if b.ext != nil {
			sum++
		}
		b.Close()
	}
	// The standard deviation is 87: this fails by chance once in 10^29 runs.
	if sum < total/4-1000 || sum > total/4+1000 {
		t.Errorf("%d of %d picked", sum, total)
	}
}
