package buffer

import "math/bits"

// Size classes, as jemalloc has them: four steps to each doubling, so that rounding up
// wastes at most a fifth. 64, 80, 96, 112, 128, 160, … 65,536 bytes.
const (
	minClassBits = 6  // the smallest class has 1<<6 bytes
	maxClassBits = 16 // the largest has 1<<16
	minClassSize = 1 << minClassBits
	maxClassSize = 1 << maxClassBits
	numClasses   = (maxClassBits-minClassBits)*4 + 1
)

// classSizes holds the size of each class in bytes.
var classSizes = func() (sizes [numClasses]int) {
	for k := range sizes {
		if k == 0 {
			sizes[k] = minClassSize
			continue
		}
		// Class k is step (k-1)%4+1 of 4 within doubling (k-1)/4.
		doubling, step := (k-1)/4, (k-1)%4+1
		base := minClassSize << doubling
		sizes[k] = base + step*base/4
	}
	return sizes
}()

// classOf returns the smallest class that has n bytes. 0 ≤ n ≤ maxClassSize.
func classOf(n int) int {
	if n <= minClassSize {
		return 0
	}
	top := bits.Len(uint(n-1)) - 1 // the doubling starts at 1<<top
	return (top-minClassBits)<<2 + (n-1)>>(top-2)&3 + 1
}
